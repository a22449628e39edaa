"""Runs by two metrics, with those that no other run beats joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour, labelled, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_pareto(points: pd.DataFrame, x: str, y: str, ax: Axes | None = None) -> Axes:
    """Draw every run as a point with its name, and join the non-dominated ones.

    Parameters
    ----------
    points
        One row per run: `x`, `y` and ``non_dominated``; its index is what stands at the point.
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
    for place, (name, row) in enumerate(points.sort_values([x, y]).iterrows()):
        ax.annotate(
            literal(name),
            (row[x], row[y]),
            xytext=(4, (4, -9)[place % 2]),  # neighbours above and below
            textcoords="offset points",
            fontsize="small",
        )
    ax.set(xlabel=labelled(x), ylabel=labelled(y))
    ax.legend(fontsize="small")
    return ax
