"""A metric against one parameter, or over two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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


def plot_heat_map(
    table: pd.DataFrame, x: str, y: str, value: str, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the mean of a metric for every pair of values of two parameters, and print it there.

    Parameters
    ----------
    table
        Columns `x`, `y` and `value`, one row per pair; pairs without one stay white.
    x, y, value
        Names of the columns; a unit stands in the name.
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
    grid = table.pivot_table(value, y, x)
    numbers = grid.to_numpy(dtype=np.float64)
    image = ax.imshow(numbers, cmap="cividis", aspect="auto", origin="lower")
    ax.set_xticks(range(grid.shape[1]), [f"{tick:g}" for tick in grid.columns])
    ax.set_yticks(range(grid.shape[0]), [f"{tick:g}" for tick in grid.index])
    middle = np.nanmean([np.nanmin(numbers), np.nanmax(numbers)]) if numbers.size else 0.0
    for (row, column), number in np.ndenumerate(numbers):
        if np.isfinite(number):
            shade = "white" if number <= middle else "black"
            ax.text(
                column,
                row,
                f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}",
                ha="center",
                va="center",
                color=shade,
                fontsize=7,
            )
    ax.set(title=literal(title), xlabel=x, ylabel=y)
    ax.figure.colorbar(image, ax=ax, label=labelled(value))
    return ax
