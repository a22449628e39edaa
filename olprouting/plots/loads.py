"""Worker loads over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_loads(series: pd.DataFrame, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the load of every worker against time.

    Parameters
    ----------
    series
        Columns ``start_s`` and ``load_tokens_0``, ``load_tokens_1``, ...: `series_frame` of a run.
    ax
        Where to draw; a new figure by default.
    title
        Usually the policy.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = axes_or_new(ax)
    loads = [column for column in series.columns if column.startswith("load_tokens_")]
    for g, column in enumerate(loads):
        ax.plot(series["start_s"], series[column], color=colour(g), lw=0.8, label=f"worker {g}")
    ax.set(title=literal(title), xlabel="time (s)", ylabel="load (tokens)")
    ax.legend(ncols=4, fontsize="small")
    return ax
