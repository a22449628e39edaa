"""The balance theorem: mean imbalance against the number of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from olprouting.plots.axes import axes_or_new, colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

CURVES: Final = {
    "fcfs_tokens": ("FCFS policies, exact", "-", "o"),
    "io0_upper_bound_tokens": ("IO_0, upper bound", "--", "s"),
    "fcfs_lower_bound_tokens": ("FCFS, theorem's lower bound (B_0 unknown)", ":", "^"),
}
"""Labels, line styles and markers by column."""


def plot_bounds(curve: pd.DataFrame, workers: int, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw what FCFS policies have in the long run, and what balancing has at most.

    Parameters
    ----------
    curve
        ``workers`` and the columns of `CURVES`, tokens; NaN where there is none.
    workers
        G of the setting that was asked for: a vertical line.
    ax
        Where to draw; a new figure by default.
    title
        Of the axes.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = axes_or_new(ax)
    for place, (column, (label, style, marker)) in enumerate(CURVES.items()):
        if (curve[column] > 0).any():
            (line,) = ax.plot(curve["workers"], curve[column], color=colour(place), label=label)
            line.set(linestyle=style, marker=marker, markersize=4)
    ax.axvline(workers, color="0.5", lw=0.8)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(curve["workers"], [str(count) for count in curve["workers"]])
    ax.set(title=literal(title), xlabel="workers G", ylabel="mean imbalance (tokens)")
    ax.legend(fontsize="small")
    return ax
