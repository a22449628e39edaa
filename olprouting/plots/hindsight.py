"""Bound and schedule closing in on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_closing(history: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the bound from above and the schedule's reward from below, over time.

    Parameters
    ----------
    history
        Columns ``wall_s``, ``bound`` and ``value``.
    ax
        Where to draw; new axes by default.
    """
    ax = axes_or_new(ax)
    for place, (name, label) in enumerate((("bound", "bound"), ("value", "schedule"))):
        ax.plot(
            history["wall_s"],
            history[name],
            drawstyle="steps-post",
            color=colour(place),
            label=label,
        )
    ax.set(title="Reward in hindsight", xlabel="time (s)", ylabel="reward")
    ax.legend()
    return ax
