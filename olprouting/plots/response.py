"""A metric against one parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour, labelled, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_response(
    table: pd.DataFrame, x: str, metric: str, ax: Axes | None = None, *, interval: str = "interval"
) -> Axes:
    """Draw the mean of a metric against a parameter, one line per series, with its interval.

    Parameters
    ----------
    table
        Columns ``series``, `x`, ``mean``, ``low`` and ``high``; NaN where there is no interval.
    x, metric
        Names of the parameter and of the metric; a unit stands in the name.
    ax
        Where to draw; a new figure by default.
    interval
        What the intervals are, for the legend.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = axes_or_new(ax)
    for index, (name, group) in enumerate(table.groupby("series", sort=False)):
        rows = group.sort_values(x)
        ax.plot(rows[x], rows["mean"], "o-", color=colour(index), ms=4, label=literal(name))
        ax.fill_between(rows[x], rows["low"], rows["high"], color=colour(index), alpha=0.2, lw=0)
    ax.set(xlabel=x, ylabel=labelled(metric), title=f"mean and {interval}")
    ax.legend(fontsize="small")
    return ax
