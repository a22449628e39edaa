"""What share of the hindsight bound a policy's run collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.reward.check import exact_value, schedule_fault
from olprouting.hindsight.schedule import Schedule

if TYPE_CHECKING:
    from olprouting.engine import SimulationResult
    from olprouting.hindsight.reward.result import HindsightResult


@dataclass(frozen=True)
class CertifiedRatio:
    """A run beside the bound.

    Attributes
    ----------
    policy
        Name of the policy.
    reward
        Reward of the starts that count: those that were never preempted.
    admitted
        How many they are.
    preempted
        Requests that were preempted and do not count: what they used is not one start's use, so
        that the bound does not apply to them.
    ratio
        reward / bound, in [0, 1]; None if the bound is 0. By the bound's proof no router could
        have collected more than 1 / ratio times as much.
    """

    policy: str
    reward: float
    admitted: int
    preempted: int
    ratio: float | None


def certified_ratio(run: SimulationResult, hindsight: HindsightResult) -> CertifiedRatio:
    """Return a run's reward as a share of the bound; its starts are checked like a schedule.

    Parameters
    ----------
    run
        A run by the barrier clock, whose iterations are the periods.
    hindsight
        The result for the same trace and workers.

    Raises
    ------
    InputError
        If the run is of other requests, or did what no schedule of the problem can.
    """
    problem = hindsight.problem
    same = (
        (run.trace.prompt_tokens, problem.prompt_tokens),
        (run.trace.decode_tokens, problem.decode_tokens),
        (run.trace.release_iteration, problem.arrival_period),
    )
    if not all(np.array_equal(ours, theirs) for ours, theirs in same if ours is not None):
        raise InputError(f"{run.policy}: the run is of other requests than the hindsight bound")
    admitted = (run.admission_iteration > 0) & (run.admission_iteration <= problem.periods)
    counts = admitted & (run.preemptions == 0) & ~run.rejected
    schedule = Schedule(
        np.where(counts, run.worker, -1), np.where(counts, run.admission_iteration, -1)
    )
    fault = schedule_fault(problem, schedule)
    if fault is not None:
        raise InputError(f"{run.policy}: the run is not one of this problem: {fault}")
    reward = exact_value(problem, schedule)
    return CertifiedRatio(
        policy=run.policy,
        reward=float(reward),
        admitted=schedule.admitted,
        preempted=int((admitted & (run.preemptions > 0)).sum()),
        ratio=float(reward) / hindsight.bound if hindsight.bound > 0 else None,
    )
