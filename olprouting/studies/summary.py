"""Means over seeds with intervals, and comparisons of policies on equal instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.errors import unknown_name
from olprouting.intervals import t_interval
from olprouting.price_report import METRICS, non_dominated
from olprouting.studies.grid import points_of
from olprouting.studies.outcome import CELLS
from olprouting.studies.parameters import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from olprouting.studies.outputs import Outputs
    from olprouting.studies.results import Results

USUAL: Final = {
    Kind.SIMULATE: (
        "mean_imbalance_tokens",
        "mean_idle_share",
        "throughput_tokens_per_s",
        "tpot_mean_s",
        "ttft_p99_s",
        "energy_j",
    ),
    Kind.GAPS: (
        "found_mean_tokens",
        "unproven_mean_tokens",
        "share_optimal",
        "share_captured",
        "share_proven",
        "waiting_imbalance_tokens",
        "mean_imbalance_tokens",
    ),
    Kind.PRICES: (
        "reward",
        "satisfaction",
        "ttft_mean",
        "ttft_p99",
        "end_to_end_mean",
        "throughput_tokens_per_s",
        "unfinished",
    ),
}
"""Metrics of the tables where a study names none."""

LARGER_IS_BETTER: Final = frozenset(
    {name for name, direction in METRICS.items() if direction == "max"}
    | {"reward", "share_optimal", "share_captured", "share_proven"}
)
"""Metrics of which more is better; of all others less is."""

_SPLIT = "window"
_NOT_METRICS: Final = frozenset({"cell", "policy", "seed", "notices", _SPLIT})


def metrics_of(results: Results) -> list[str]:
    """Return the metrics that tables of these results show.

    Raises
    ------
    InputError
        If the study asks for a metric that its cells do not have.
    """
    frame = results.frame(CELLS)
    known = [
        name
        for name in frame.select_dtypes(["number", "bool"]).columns
        if name not in _NOT_METRICS and name not in results.study.grid
    ]
    refuse_unknown_metrics(results.study.outputs, known)
    asked = list(results.study.outputs.metrics)
    return asked or [name for name in USUAL[results.study.kind] if name in known]


def refuse_unknown_metrics(outputs: Outputs, known: Iterable[str]) -> None:
    """Raise an InputError where a study asks for a metric that its cells do not have."""
    names = list(known)
    for name in (*outputs.metrics, *outputs.pareto):
        if name not in names:
            raise unknown_name("metric in [outputs]", name, names)


def group_columns(results: Results) -> list[str]:
    """Return the columns by which a summary groups: policy, grid, and window of judgement."""
    window = [_SPLIT] if _SPLIT in results.frame(CELLS) else []
    return ["policy", *results.study.grid, *window]


def summarise(
    frame: pd.DataFrame, by: Sequence[str], metrics: Iterable[str], confidence: float
) -> pd.DataFrame:
    """Return means over seeds and Student's t intervals.

    Parameters
    ----------
    frame
        One row per cell.
    by
        Columns that a row of the summary has in common.
    metrics
        Columns to sum up; missing values are left out and not counted.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        In the order of `frame`: `by`, ``metric``, ``seeds``, ``mean``, ``low`` and ``high``; the
        latter NaN where there are fewer than two seeds.
    """
    import pandas as pd

    rows = []
    for key, group in frame.groupby(list(by), sort=False, dropna=False):
        for metric in metrics:
            values = group[metric].to_numpy(dtype=np.float64)
            values = values[np.isfinite(values)]
            mean, low, high = t_interval(values, confidence)
            shared = dict(zip(by, key, strict=True))
            rows.append(
                shared
                | {"metric": metric, "seeds": len(values), "mean": mean, "low": low, "high": high}
            )
    columns = [*by, "metric", "seeds", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def front(frame: pd.DataFrame, by: Sequence[str], metrics: tuple[str, str]) -> pd.DataFrame:
    """Return means of two metrics by group, and which groups no other one beats in both.

    Parameters
    ----------
    frame
        One row per cell.
    by
        Columns that a group has in common.
    metrics
        Two columns.

    Returns
    -------
    DataFrame
        `by`, both metrics and ``non_dominated``.
    """
    means = frame.groupby(list(by), sort=False, dropna=False)[list(metrics)].mean()
    directions = ["max" if name in LARGER_IS_BETTER else "min" for name in metrics]
    marks = non_dominated(means.to_numpy(dtype=np.float64), directions)
    return means.assign(non_dominated=marks).reset_index()


def performance_ratios(results: Results, metric: str) -> pd.DataFrame:
    """Return every policy's value over the best one's, per grid point, means over seeds.

    Seeds are no instances of their own: some draw ties alone. A policy with parameters of its own
    stands for all grid points that differ only in those.

    Parameters
    ----------
    results
        The results.
    metric
        A metric with values > 0; where larger is better, the ratio is best over own.

    Returns
    -------
    DataFrame
        One row per grid point, one column per policy; infinite where a policy has no value. Empty
        if there are fewer than two policies, or a value is not positive.
    """
    import pandas as pd

    study, frame = results.study, results.frame(CELLS)
    names = [policy.name for policy in study.policies]
    if _SPLIT in frame:  # two windows are two instances; the first is each policy's own
        frame = frame.drop_duplicates("cell")
    if len(names) < 2 or metric not in frame or not (frame[metric].dropna() > 0).all():
        return pd.DataFrame()
    value_of = dict(zip(frame["cell"], frame[metric], strict=True))
    instances: dict[tuple[object, ...], dict[str, list[float]]] = {}
    for point in points_of(study.grid):
        for cell in study.cells:
            own = cell.policy.settings
            if all(cell.point[name] == value for name, value in point.items() if name not in own):
                key = tuple(point.values())
                value = float(value_of.get(cell.id, np.nan))
                of_point = instances.setdefault(key, {})
                of_point.setdefault(cell.policy.name, []).append(value)
    means = [
        {name: float(np.mean(values)) for name, values in of_point.items()}
        for of_point in instances.values()
    ]
    values = pd.DataFrame(means, columns=names)
    if metric in LARGER_IS_BETTER:
        values = 1 / values
    return values.div(values.min(axis=1), axis=0).fillna(np.inf)
