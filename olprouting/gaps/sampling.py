"""The decisions a policy meets on its own path through a trace, or a uniform sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.engine import DecisionEvent, SimulationResult, simulate
from olprouting.engine.reservoir import Reservoir
from olprouting.forecasts import Oracle

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.forecasts import Forecast
    from olprouting.instances import Assignment, Cluster, Trace
    from olprouting.policies import Policy, View


@dataclass(frozen=True)
class SampledDecision:
    """A decision as the policy met it, and what it chose.

    Attributes
    ----------
    view, assignment
        What it saw, and the pairs it chose.
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
        Sampled decisions in the order they came.
    decisions
        How many decisions the run had, iterations with nothing to admit not counted.
    dispatch_s
        Seconds that each of them took, shape (decisions,).
    """

    result: SimulationResult
    sample: tuple[SampledDecision, ...]
    decisions: int
    dispatch_s: npt.NDArray[np.float64]


def sample_run(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    sample_size: int | None,
    seed: int = 0,
    forecast: Forecast | None = None,
    **options: Any,
) -> SampledRun:
    """Run `policy` and keep a uniform sample of its decisions (reservoir sampling).

    Parameters
    ----------
    trace, cluster, policy
        As for `simulate`.
    sample_size
        How many decisions to keep, >= 1; None keeps all.
    seed
        Seed of the run, and (independently) of the sample.
    forecast
        As for `simulate`; None is the oracle.
    options
        Further arguments of `simulate`.

    Returns
    -------
    SampledRun
        The run and the sample.
    """
    decisions: Reservoir[SampledDecision] = Reservoir(sample_size, np.random.default_rng([seed, 1]))
    dispatch_s: list[float] = []
    by_oracle = forecast is None or isinstance(forecast, Oracle)

    def on_decision(event: DecisionEvent) -> None:
        dispatch_s.append(event.dispatch_s)
        decisions.offer(lambda: _sampled(event, by_oracle))

    result = simulate(
        trace, cluster, policy, seed=seed, forecast=forecast, on_decision=on_decision, **options
    )
    return SampledRun(result, decisions.items, decisions.offered, np.array(dispatch_s))


def _sampled(event: DecisionEvent, by_oracle: bool) -> SampledDecision:
    pairs = zip(event.position.tolist(), event.worker.tolist(), strict=True)
    view = event.view.copy()
    assignment = tuple(sorted(pairs))
    if by_oracle:
        return SampledDecision(view, assignment)
    horizon = view.projected_load_tokens.shape[1] - 1
    return SampledDecision(view, assignment, event.true_load_tokens(horizon))
