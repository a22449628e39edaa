"""Which trade-offs between two metrics the bid-price policy reaches as its weights vary."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.engine import Clock
from olprouting.errors import InputError, unknown_name
from olprouting.forecasts import Oracle
from olprouting.instances import WEIGHT_SETS, SloWeights
from olprouting.options import ClockOptions
from olprouting.policies import PolicyOptions, make_policy
from olprouting.price_report.runner import Runner, check_conditions
from olprouting.price_report.study import JUDGED
from olprouting.price_report.tables import front_table
from olprouting.report import Report
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes

    from olprouting.engine import KvOptions
    from olprouting.forecasts import LengthForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.instances.request_curves import Batching
    from olprouting.price_report.run_outcome import RunOutcome
    from olprouting.progress import OnProgress
    from olprouting.report import Table
    from olprouting.report.figures import Draw

_LATENCIES = tuple(
    f"{name}_{what}{unit}"
    for name in ("ttft", "end_to_end")
    for what in ("mean", "p95", "p99")
    for unit in ("", "_s")
)
_LARGER_IS_BETTER = (
    "finished",
    "satisfaction",
    "requests_per_period",
    "tokens_per_period",
    "throughput_tokens_per_s",
    "requests_per_s",
)
METRICS = MappingProxyType(
    dict.fromkeys(_LATENCIES, "min")
    | dict.fromkeys(("unfinished", "preemptions"), "min")
    | dict.fromkeys(_LARGER_IS_BETTER, "max")
)
"""Metrics of a run (`RunOutcome`) and their direction. The reward is none of them: it is counted
in the weights that vary."""

_BY_PERIOD = frozenset(
    [name for name in _LATENCIES if not name.endswith("_s")]
    + ["satisfaction", "requests_per_period", "tokens_per_period"]
)
"""Metrics in periods, which only the barrier clock has."""

DEFAULT_METRICS = ("ttft_mean", "throughput_tokens_per_s")


@dataclass(frozen=True)
class ParetoPoint:
    """One run of the bid-price policy.

    Attributes
    ----------
    weights
        What the policy maximised.
    outcome
        What the run achieved.
    non_dominated
        Whether no other run is as good in both metrics and better in one. A run in which a metric
        has no value (nothing finished) is dominated.
    """

    weights: SloWeights
    outcome: RunOutcome
    non_dominated: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class ParetoFront(Report):
    """Runs of the bid-price policy under several weights, by two metrics.

    Attributes
    ----------
    metrics
        Names of the two metrics.
    points
        One per weight vector, in the order given.
    notices
        What the runs warned of.
    settings, interrupted, failures
        See `Report`; Ctrl-C leaves out the remaining weight vectors.
    """

    stem = "pareto"
    schema = "olprouting/pareto/1"
    title = "Trade-offs of the bid-price policy"

    metrics: tuple[str, str]
    points: tuple[ParetoPoint, ...]
    notices: tuple[str, ...] = ()

    @property
    def front(self) -> tuple[ParetoPoint, ...]:
        """The non-dominated runs, in the order given."""
        return tuple(point for point in self.points if point.non_dominated)

    @property
    def names(self) -> tuple[str, ...]:
        """What the weights of each run are called: published, or those that differ between runs."""
        published = {weights: name for name, weights in WEIGHT_SETS.items()}
        documents = [point.weights.to_document() for point in self.points]
        varied = [
            name
            for name in SloWeights.__dataclass_fields__
            if len({document[name] for document in documents}) > 1
        ]
        return tuple(
            published.get(point.weights)
            or ", ".join(f"{name} {document[name]:.4g}" for name in varied)
            or "the only weights"
            for point, document in zip(self.points, documents, strict=True)
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row per run: the six weights, both metrics, ``censored``, ``non_dominated``.

        Latencies of a censored run miss its unfinished requests, usually the slowest.
        """
        import pandas as pd

        columns = [*SloWeights.__dataclass_fields__, *self.metrics, "censored", "non_dominated"]
        rows = [
            point.weights.to_document()
            | {name: getattr(point.outcome, name) for name in (*self.metrics, "censored")}
            | {"non_dominated": point.non_dominated}
            for point in self.points
        ]
        frame = pd.DataFrame(rows, columns=columns)
        kinds = dict.fromkeys(self.metrics, float) | {"censored": bool, "non_dominated": bool}
        return {"pareto": frame.astype(kinds)}

    def results(self) -> dict[str, Any]:
        """Return the runs as plain JSON types."""
        return {
            "metrics": list(self.metrics),
            "points": [
                {
                    "weights": point.weights.to_document(),
                    "outcome": asdict(point.outcome),
                    "non_dominated": point.non_dominated,
                }
                for point in self.points
            ],
            "notices": list(self.notices),
        }

    def to_document(self) -> dict[str, Any]:
        """Return the runs as plain JSON types; each has its own settings, the weights."""
        return {"schema": self.schema, **self.results(), "interrupted": self.interrupted}

    def heading(self) -> str:
        """Return in a line what was asked."""
        asked = self.settings
        if not asked:
            return ""
        return (
            f"{asked['trace']}: {asked['requests']} requests on {len(asked['slots'])} workers x "
            f"{max(asked['slots'])} slots x {max(asked['kv_tokens']):,} KV tokens, "
            f"{asked['forecast']}, the bid-price policy once under each set of weights"
        )

    def findings(self) -> tuple[str, ...]:
        """Return which weights are on the front, and what that does not show."""
        names = [
            name for name, one in zip(self.names, self.points, strict=True) if one.non_dominated
        ]
        if not names:
            return ()
        first, second = (f"{'more' if METRICS[m] == 'max' else 'less'} {m}" for m in self.metrics)
        sure = (
            f"No other weights bring both {first} and {second} than {', '.join(names)} "
            f"({len(names)} of {len(self.points)} sets)."
        )
        return (
            sure,
            "One run each; several seeds tell whether points differ by more than chance.",
        )

    def captions(self) -> dict[str, str]:
        """Return what the figure shows."""
        return {"pareto": "Each point is one run, under the name of its weights."}

    def tables(self) -> tuple[Table, ...]:
        """Return the runs, each under the name of its weights."""
        return (front_table(self),)

    def warnings(self) -> tuple[str, ...]:
        """Return what the runs warned of."""
        return self.notices

    def figures(self) -> dict[str, Draw]:
        """Return the function that draws the front."""
        return {"pareto": self.plot}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the runs under the names of their weights, and join the non-dominated ones."""
        from olprouting.plots.pareto import plot_pareto

        return plot_pareto(self.to_frame().set_axis(list(self.names)), *self.metrics, ax=ax)


def weight_sweep(base: SloWeights, name: str, values: Iterable[float]) -> tuple[SloWeights, ...]:
    """Return `base` with one of its weights set to each of some values.

    Parameters
    ----------
    base
        The other five weights.
    name
        Which weight, such as ``"beta"``.
    values
        Its values, >= 0.

    Raises
    ------
    InputError
        If there is no such weight, or a value is out of range.
    """
    known = SloWeights.__dataclass_fields__
    if name not in known:
        raise unknown_name("weight", name, known)
    return tuple(base.replace(**{name: value}) for value in values)


def non_dominated(values: npt.ArrayLike, directions: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which points no other point dominates, shape (N,).

    A point dominates another if it is at least as good in every metric and better in one, so that
    equal points do not dominate one another. Points with a missing value (NaN) dominate nothing
    and are not on the front.

    Parameters
    ----------
    values
        Shape (N, D), one column per metric.
    directions
        ``"min"`` or ``"max"`` for each of the D metrics.
    """
    sign = np.array([{"min": 1.0, "max": -1.0}[direction] for direction in directions])
    cost = np.asarray(values, np.float64).reshape(-1, len(sign)) * sign
    known = ~np.isnan(cost).any(axis=1)
    beaten = [
        bool(((cost <= point).all(axis=1) & (cost < point).any(axis=1)).any()) for point in cost
    ]
    front: npt.NDArray[np.bool_] = known & ~np.array(beaten, np.bool_)
    return front


def pareto(
    trace: Trace,
    cluster: Cluster,
    weights: Iterable[SloWeights],
    metrics: tuple[str, str] = DEFAULT_METRICS,
    *,
    options: PolicyOptions | None = None,
    forecast: LengthForecast | None = None,
    clock: Clock | str = ClockOptions.clock,
    batching: Batching | str = ClockOptions.batching,
    kv: KvOptions | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> ParetoFront:
    """Run the bid-price policy once per weight vector; mark the runs that no other one dominates.

    All else is equal between the runs: trace, workers, seed and options.

    Parameters
    ----------
    trace
        The requests, with releases: by iteration (barrier clock), or by arrival times.
    cluster
        The workers, with their slots and KV limits.
    weights
        The weight vectors, at least one; `weight_sweep` varies one weight.
    metrics
        Two of `METRICS`.
    options
        Options of the policy; its weights are replaced.
    forecast, clock, batching, kv, seed, on_progress
        As for `measure_prices`.

    Returns
    -------
    ParetoFront
        After Ctrl-C: all runs finished until then.

    Raises
    ------
    InputError
        If an argument is out of range, a metric is unknown, or it has no value with this clock.
    """
    options = options or PolicyOptions()
    vectors = tuple(weights)
    check_conditions(cluster, options, clock, sample=None)
    _check_choice(metrics, vectors, clock)
    found: list[tuple[SloWeights, RunOutcome]] = []
    notices: list[str] = []
    interrupted = False
    try:
        for vector in vectors:
            chosen = replace(options, period=replace(options.period, weights=vector))
            runner = Runner(
                trace, cluster, chosen, forecast, clock, batching, kv, seed, on_progress
            )
            run = runner.run(make_policy(JUDGED, cluster.workers, chosen), None)
            outcome, _ = runner.outcome(run)
            found.append((vector, outcome))
            notices += runner.notices
    except KeyboardInterrupt:
        interrupted = True
    return ParetoFront(
        settings={
            "trace": trace.name,
            "requests": len(trace),
            "slots": cluster.slots.tolist(),
            "kv_tokens": None if cluster.kv_tokens is None else cluster.kv_tokens.tolist(),
            "forecast": (forecast or Oracle()).name,
            "clock": str(clock),
            "batching": str(batching),
            "seed": seed,
            "period": asdict(options.period),
            "bid_price": asdict(options.bid_price),
            "versions": versions(),
        },
        metrics=metrics,
        points=_points(found, metrics),
        notices=tuple(dict.fromkeys(notices)),
        interrupted=interrupted,
    )


def _points(
    found: list[tuple[SloWeights, RunOutcome]], metrics: tuple[str, str]
) -> tuple[ParetoPoint, ...]:
    values = [[getattr(outcome, name) for name in metrics] for _, outcome in found]
    marks = non_dominated(np.array(values, np.float64), [METRICS[name] for name in metrics])
    return tuple(
        ParetoPoint(vector, outcome, bool(mark))
        for (vector, outcome), mark in zip(found, marks, strict=True)
    )


def _check_choice(
    metrics: tuple[str, str], vectors: tuple[SloWeights, ...], clock: Clock | str
) -> None:
    if isinstance(metrics, str) or len(metrics) != 2 or metrics[0] == metrics[1]:
        raise InputError(f"metrics = {metrics!r} must be the names of two different metrics")
    for name in metrics:
        if name not in METRICS:
            raise unknown_name("metric", name, METRICS)
        if str(clock) == Clock.INDEPENDENT and name in _BY_PERIOD:
            raise InputError(
                f"metric {name!r} counts common periods, which clock 'independent' has not"
            )
    if not vectors:
        raise InputError("weights: at least one weight vector is needed")
    for vector in vectors:
        if not isinstance(vector, SloWeights):
            raise InputError(f"weights: {vector!r} must be SloWeights")
