"""Runs by two metrics, with those that no other run beats joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour, labelled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_pareto(points: pd.DataFrame, x: str, y: str, ax: Axes | None = None) -> Axes:
    """Draw every run as a point and join the non-dominated ones.

    Parameters
    ----------
    points
        One row per run: `x`, `y` and ``non_dominated``.
    x, y
        Names of the two metrics.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = axes_or_new(ax)
    front = points[points["non_dominated"]].sort_values([x, y])
    rest = points[~points["non_dominated"]]
    ax.plot(rest[x], rest[y], "o", color=colour(6), alpha=0.35, label="dominated")
    ax.plot(front[x], front[y], "o-", color=colour(0), label="non-dominated")
    for number, row in points.iterrows():
        ax.annotate(str(number), (row[x], row[y]), xytext=(4, 4), textcoords="offset points")
    ax.set(xlabel=labelled(x), ylabel=labelled(y))
    ax.legend(fontsize="small")
    return ax
