"""How many times the least imbalance in hindsight a policy's run has at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.imbalance.run import run_fault, total_imbalance
from olprouting.hindsight.schedule import Schedule

if TYPE_CHECKING:
    from olprouting.engine import SimulationResult
    from olprouting.hindsight.imbalance.result import ImbalanceResult
    from olprouting.instances import Cluster, Trace


@dataclass(frozen=True)
class ImbalanceRatio:
    """A run beside the bound.

    Attributes
    ----------
    policy
        Name of the policy.
    total_tokens
        Total imbalance of its run, added up again in integers.
    ratio
        total / bound, >= 1; None if the bound is 0. By the bound's proof the run has at most so
        many times the least total.
    """

    policy: str
    total_tokens: int
    ratio: float | None


def imbalance_ratio(run: SimulationResult, hindsight: ImbalanceResult) -> ImbalanceRatio:
    """Return a run's total imbalance beside the bound; the run is checked like one of the search.

    Parameters
    ----------
    run
        A run of a maximal policy by the barrier clock, without KV limits.
    hindsight
        The result for the same trace and workers.

    Raises
    ------
    InputError
        If the run is of other requests, or is none that a maximal policy can make.
    """
    ours, theirs = run.trace, hindsight.trace
    for name in ("prompt_tokens", "decode_tokens", "release_iteration"):
        if not np.array_equal(getattr(ours, name), getattr(theirs, name)):
            raise InputError(f"{run.policy}: the run is of other requests than the bound ({name})")
    schedule = maximal_run(run, theirs, hindsight.cluster)
    total = total_imbalance(theirs, hindsight.cluster, schedule)
    bound = hindsight.bound_tokens
    return ImbalanceRatio(run.policy, total, total / bound if bound else None)


def maximal_run(run: SimulationResult, trace: Trace, cluster: Cluster) -> Schedule:
    """Return worker and admission of every request of a run, rechecked.

    Raises
    ------
    InputError
        If no maximal policy makes the run.
    """
    schedule = Schedule(run.worker, run.admission_iteration)
    fault = run_fault(trace, cluster, schedule)
    if fault is not None:
        raise InputError(f"{run.policy}: no maximal policy makes this run: {fault}")
    return schedule
