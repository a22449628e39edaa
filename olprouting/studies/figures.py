"""The figures that apply to a study, by its kind, its grid and what it kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from olprouting.studies.outcome import CELLS, CONVERGENCE, PRICES, RECORDS, SERIES
from olprouting.studies.parameters import OPTIONS, Kind, parameters
from olprouting.studies.summary import front, group_columns, performance_ratios, summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from olprouting.studies.results import Results

PANELS: Final = 6
"""At most so many metrics are drawn against a parameter."""
ZETA2: Final = "weights.zeta2"
SATISFACTION: Final = "satisfaction"


@dataclass(frozen=True)
class Drawing:
    """A figure with what it shows.

    Attributes
    ----------
    name
        Of its file.
    caption
        What it shows, and of which cells.
    figure
        The figure.
    """

    name: str
    caption: str
    figure: Figure


def drawings(results: Results, metrics: Sequence[str]) -> Iterator[Drawing]:
    """Draw all figures that apply.

    Parameters
    ----------
    results
        The results, with at least one finished cell.
    metrics
        Metrics of the tables, the first of them that of heat maps and profiles.
    """
    yield from _series(results)
    yield from _responses(results, metrics)
    yield from _heat_maps(results, metrics[0])
    yield from _pareto(results)
    yield from _profile(results, metrics[0])
    yield from _gaps(results)
    yield from _prices(results)


def _series(results: Results) -> Iterator[Drawing]:
    from olprouting.plots.gaps import plot_imbalance
    from olprouting.plots.loads import plot_trajectories

    series = {name: rows.dropna(axis=1) for name, rows in _of_first_point(results, SERIES).items()}
    where = _where(results)
    if series:
        figure, ax = _panel()
        plot_imbalance(series, ax)
        yield Drawing("imbalance", f"Imbalance over time, smoothed; {where}", figure)
    loads = {n: f for n, f in series.items() if "load_tokens_0" in f}
    if loads:
        caption = f"Loads of all workers over time; {where}"
        yield Drawing("loads", caption, plot_trajectories(loads))


def _responses(results: Results, metrics: Sequence[str]) -> Iterator[Drawing]:
    from olprouting.plots.parameters import plot_response

    study, confidence = results.study, results.study.outputs.confidence
    for name in _numeric(results):
        drawn = list(metrics[:PANELS])
        if name == ZETA2 and SATISFACTION in results.frame(CELLS):
            drawn = list(dict.fromkeys([SATISFACTION, *drawn]))[:PANELS]
        cells = _others_at_first(results, [name]).dropna(subset=[name])
        table = summarise(cells, ["policy", name], drawn, confidence)
        table = table.rename(columns={"policy": "series"})
        figure, axes = _panels(len(drawn))
        for ax, metric in zip(axes, drawn, strict=True):
            rows = table[table["metric"] == metric]
            plot_response(rows, name, metric, ax, interval=f"{confidence:.0%} t interval")
        caption = f"Metrics against {name}, over {len(study.seeds)} seeds{_rest(results, [name])}"
        yield Drawing(f"response_{name.replace('.', '_')}", caption, figure)


def _heat_maps(results: Results, metric: str) -> Iterator[Drawing]:
    from olprouting.plots.parameters import plot_heat_map

    if len(_numeric(results)) < 2:
        return
    x, y, *_ = names = _numeric(results)[:2]
    cells = _others_at_first(results, names).dropna(subset=names)
    policies = list(dict.fromkeys(cells["policy"]))
    if not policies:
        return
    figure, axes = _panels(len(policies))
    for ax, policy in zip(axes, policies, strict=True):
        rows = cells[cells["policy"] == policy]
        means = rows.groupby(names, sort=False)[metric].mean().reset_index()
        plot_heat_map(means, x, y, metric, ax=ax, title=policy)
    caption = f"Mean {metric} over seeds{_rest(results, names)}"
    yield Drawing("heat_map", caption, figure)


def _pareto(results: Results) -> Iterator[Drawing]:
    from olprouting.plots.pareto import plot_pareto

    if not results.study.outputs.pareto:
        return
    first, second = results.study.outputs.pareto
    points = trade_offs(results)
    figure, ax = _panel()
    known = points.dropna(subset=[first, second])
    plot_pareto(known.set_axis(_names(results, known)), first, second, ax=ax)
    caption = f"{first} against {second}, means over seeds{_rest(results, _choices(results))}"
    yield Drawing("pareto", caption, figure)


def _names(results: Results, points: pd.DataFrame) -> list[str]:
    """Return what tells the points apart, for each of them."""
    varied = [name for name in group_columns(results) if points[name].nunique(dropna=False) > 1]
    return [
        ", ".join(
            str(value) if name == "policy" else f"{name} {value}"
            for name, value in zip(varied, row, strict=True)
        )
        for row in points[varied].itertuples(index=False)
    ]


def trade_offs(results: Results) -> pd.DataFrame:
    """Return means of the two metrics of a front, and which groups no other one beats in both.

    Only what is a choice varies: trace and cluster have their first values.
    """
    first, second = results.study.outputs.pareto
    cells = _others_at_first(results, _choices(results))
    return front(cells, group_columns(results), (first, second))


def _choices(results: Results) -> list[str]:
    known = parameters(results.study.kind)
    return [name for name in results.study.grid if known[name].section == OPTIONS]


def _profile(results: Results, metric: str) -> Iterator[Drawing]:
    from olprouting.plots.performance_profile import plot_performance_profile

    ratios = performance_ratios(results, metric)
    if len(ratios) < 2:
        return
    figure, ax = _panel()
    plot_performance_profile(ratios, metric, ax)
    caption = f"Performance profile (Dolan and More) of {metric} over grid points, means over seeds"
    yield Drawing("performance_profile", caption, figure)


def _gaps(results: Results) -> Iterator[Drawing]:
    from olprouting.plots.gaps import plot_gap_distribution

    if results.study.kind is not Kind.GAPS:
        return
    chosen = _of_first_point(results, RECORDS, all_seeds=True)
    if chosen:
        figure, ax = _panel()
        plot_gap_distribution(_stacked(chosen), ax)
        where = _where(results, all_seeds=True)
        yield Drawing("gaps", f"Gap of sampled decisions to their optima; {where}", figure)


def _prices(results: Results) -> Iterator[Drawing]:
    from olprouting.plots.prices import plot_convergence, plot_price_map

    where = _where(results)
    for name, prices in _of_first_point(results, PRICES).items():
        yield Drawing(
            "prices", f"Prices of {name} by worker and period; {where}", plot_price_map(prices)
        )
        break
    for name, steps in _of_first_point(results, CONVERGENCE).items():
        figure, ax = _panel()
        plot_convergence(steps, ax)
        yield Drawing("convergence", f"Subgradient steps of {name} to the minimum; {where}", figure)
        break


def _of_first_point(
    results: Results, table: str, *, all_seeds: bool = False
) -> dict[str, pd.DataFrame]:
    """Return the rows of a table by policy, of the first grid point and seed (or all seeds)."""
    frame = results.frame(table)
    if frame.empty:
        return {}
    first: dict[str, Mapping[str, Any]] = {}
    chosen: dict[str, list[str]] = {}
    for cell in results.study.cells:
        point = first.setdefault(cell.policy.name, cell.point)
        if cell.point == point and (all_seeds or cell.keeps_series):
            chosen.setdefault(cell.policy.name, []).append(cell.id)
    found = {name: frame[frame["cell"].isin(ids)] for name, ids in chosen.items()}
    return {name: rows for name, rows in found.items() if len(rows)}


def _others_at_first(results: Results, names: Sequence[str]) -> pd.DataFrame:
    """Return the cells at which every grid parameter but those named has its first value."""
    frame = results.frame(CELLS)
    for name, values in results.study.grid.items():
        if name not in names:
            frame = frame[(frame[name] == values[0]) | frame[name].isna()]
    return frame


def _rest(results: Results, names: Sequence[str]) -> str:
    rest = [f"{n} = {v[0]}" for n, v in results.study.grid.items() if n not in names]
    return f"; {', '.join(rest)}" if rest else ""


def _where(results: Results, *, all_seeds: bool = False) -> str:
    seeds = "all seeds" if all_seeds else f"seed {results.study.seeds[0]}"
    return seeds + _rest(results, [])


def _numeric(results: Results) -> list[str]:
    """Return the parameters of the grid that are numbers and vary."""
    return [
        name
        for name, values in results.study.grid.items()
        if len(values) > 1 and all(type(value) in (int, float) for value in values)
    ]


def _stacked(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames.values(), ignore_index=True)


def _panel() -> tuple[Figure, Axes]:
    figure, axes = _panels(1)
    return figure, axes[0]


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    columns = min(count, 3)
    rows = -(-count // columns)
    size = (7, 4.5) if count == 1 else (4.2 * columns, 3.4 * rows)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for ax in axes[count:]:
        ax.remove()
    return figure, axes[:count]
