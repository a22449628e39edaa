"""A run over time: loads of all workers under the barrier, and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import COLOURS, STYLES, colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SINGLE_WORKERS = 8
"""Up to so many workers have a colour each."""


def plot_run(series: pd.DataFrame, policy: str) -> Figure:
    """Draw loads and barrier above, waiting requests below.

    Parameters
    ----------
    series
        ``start_s``, ``max_load_tokens``, ``waiting_requests`` and ``load_tokens_0``, ...: a run's
        `series_frame`.
    policy
        Its name.

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(7, 4.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    loads = [column for column in series.columns if column.startswith("load_tokens_")]
    time_s = series["start_s"]
    for g, column in enumerate(loads):
        alone = len(loads) <= SINGLE_WORKERS
        above.plot(
            time_s,
            series[column],
            color=colour(g) if alone else "0.7",
            ls=STYLES[g % len(STYLES)] if alone else "-",
            lw=0.8,
            label=f"worker {g}" if alone else ("workers" if g == 0 else None),
        )
    above.plot(time_s, series["max_load_tokens"], color="black", lw=1.4, label="barrier (fullest)")
    above.set(title=f"Loads under {literal(policy)}", ylabel="load (tokens)")
    above.set_ylim(bottom=0)
    above.legend(ncols=3, fontsize="small", loc="lower center")
    below.fill_between(time_s, series["waiting_requests"], step="post", color=COLOURS[4], lw=0)
    below.set(xlabel="time (s)", ylabel="waiting\n(requests)")
    below.set_ylim(bottom=0)
    return figure
