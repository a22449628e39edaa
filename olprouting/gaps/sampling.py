"""Decisions that a run meets, or a uniform sample of those at which there is a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.engine import DecisionEvent, SimulationResult, simulate
from olprouting.engine.policy_call import timed_route
from olprouting.engine.policy_failure import policy_failure
from olprouting.engine.reservoir import Reservoir
from olprouting.forecasts import Oracle
from olprouting.policies.policy import CompiledPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from olprouting.forecasts import Forecast
    from olprouting.instances import Assignment, Cluster, Trace
    from olprouting.policies import Policy, View


@dataclass(frozen=True)
class SampledDecision:
    """A decision as it was met in a run, and an answer to it.

    Attributes
    ----------
    view, assignment
        What there was to see, and the pairs that the policy of the run chose (or, where another
        policy was asked, that one).
    true_load_tokens
        The projected loads if all lengths were known, shape (G, H+1); None where the view has
        them already, for its forecast is the oracle.
    """

    view: View
    assignment: Assignment
    true_load_tokens: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class SampledRun:
    """A policy's run with a uniform sample of its decisions.

    Attributes
    ----------
    result
        The whole run.
    sample
        Sampled decisions in the order they came, from those at which there is a choice.
    decisions, choices
        How many decisions the run had, iterations with nothing to admit not counted, and how many
        of them left a choice (`has_choice`).
    dispatch_s
        Seconds that each decision took, shape (decisions,).
    """

    result: SimulationResult
    sample: tuple[SampledDecision, ...]
    decisions: int
    choices: int
    dispatch_s: npt.NDArray[np.float64]


def sample_run(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    sample_size: int | None,
    seed: int = 0,
    forecast: Forecast | None = None,
    with_residents: bool = False,
    **options: Any,
) -> SampledRun:
    """Run `policy` and keep a uniform sample of its decisions (reservoir sampling).

    Parameters
    ----------
    trace, cluster, policy
        As for `simulate`.
    sample_size
        How many decisions to keep, >= 1; None keeps all at which there is a choice.
    seed
        Seed of the run, and (independently) of the sample.
    forecast
        As for `simulate`; None is the oracle.
    with_residents
        Whether sampled views have ``workers``, so that any policy can answer them.
    options
        Further arguments of `simulate`.

    Returns
    -------
    SampledRun
        The run and the sample.
    """
    kept: Reservoir[SampledDecision] = Reservoir(sample_size, np.random.default_rng([seed, 1]))
    dispatch_s: list[float] = []
    by_oracle = forecast is None or isinstance(forecast, Oracle)

    def on_decision(event: DecisionEvent) -> None:
        dispatch_s.append(event.dispatch_s)
        if has_choice(event.view):
            kept.offer(lambda: _sampled(event, by_oracle, with_residents))

    result = simulate(
        trace, cluster, policy, seed=seed, forecast=forecast, on_decision=on_decision, **options
    )
    return SampledRun(
        result, kept.items, len(dispatch_s), kept.offered, np.array(dispatch_s, np.float64)
    )


def has_choice(view: View) -> bool:
    """Whether assignments of a decision can differ in what they leave.

    There is none if one worker alone has free slots and takes all that wait, nor for requests of
    one size that fill all slots, nor for a single one where all workers with free slots are alike.
    """
    if not view.admissions:
        return False
    sizes_differ = bool(np.ptp(view.waiting_prompt_tokens) > 0)
    if sizes_differ and len(view.waiting_prompt_tokens) > view.admissions:
        return True
    open_workers = view.free_slots > 0
    if open_workers.sum() < 2:
        return False
    if sizes_differ:
        return True
    if view.admissions == view.free_slots.sum():
        return False
    loads = view.projected_load_tokens[open_workers]
    return view.admissions > 1 or bool(np.ptp(loads, axis=0).any())


def _sampled(event: DecisionEvent, by_oracle: bool, with_residents: bool) -> SampledDecision:
    pairs = zip(event.position.tolist(), event.worker.tolist(), strict=True)
    view = event.view.copy()
    if with_residents:
        view = view._replace(workers=event.residents())
    assignment = tuple(sorted(pairs))
    if by_oracle:
        return SampledDecision(view, assignment)
    horizon = view.projected_load_tokens.shape[1] - 1
    return SampledDecision(view, assignment, event.true_load_tokens(horizon))


def ask(policy: Policy, states: Sequence[SampledDecision], seed: int) -> tuple[Assignment, ...]:
    """Let a policy answer sampled decisions, in their order.

    Parameters
    ----------
    policy
        A maximal policy. One that needs residents needs states with residents.
    states
        What to decide.
    seed
        Seed of its tie-breaks.

    Returns
    -------
    tuple of Assignment
        One per state.

    Raises
    ------
    PolicyError
        If the policy raises.
    """
    rng = np.random.default_rng([seed, 2])
    if isinstance(policy, CompiledPolicy):
        policy.memory[:] = 0
    answers = []
    for number, state in enumerate(states, 1):
        view = state.view if policy.needs_residents else state.view._replace(workers=None)
        try:
            position, worker, _ = timed_route(policy, view, rng)
        except Exception as error:  # whatever the user's code does
            raise policy_failure(policy, error, number, view.iteration) from error
        answers.append(tuple(sorted(zip(position.tolist(), worker.tolist(), strict=True))))
    return tuple(answers)
