"""Gap distributions and imbalance over time, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.plots.axes import colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMOOTHING_POINTS = 200
"""The imbalance is drawn as means over this many equal stretches of time."""


def plot_gaps(records: pd.DataFrame, series: dict[str, pd.DataFrame]) -> Figure:
    """Draw a figure with both panels.

    Parameters
    ----------
    records
        One row per solved decision: ``policy``, ``horizon``, ``gap_tokens``.
    series
        Per policy: ``start_s`` and ``imbalance_tokens`` of every iteration.

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_gap_distribution(records, left)
    plot_imbalance(series, right)
    return figure


def plot_gap_distribution(records: pd.DataFrame, ax: Axes) -> Axes:
    """Draw, per policy and window, the share of decisions that lose at most so many tokens."""
    for index, ((policy, horizon), group) in enumerate(
        records.groupby(["policy", "horizon"], sort=False)
    ):
        ax.ecdf(group["gap_tokens"], color=colour(index), label=literal(f"{policy} (H={horizon})"))
    ax.set_xscale("symlog", linthresh=1)
    ax.set(
        title="Gap to the proven optimum",
        xlabel="gap (tokens)",
        ylabel="share of decisions",
        ylim=(0, 1.02),
    )
    ax.legend(fontsize="small")
    return ax


def plot_imbalance(series: dict[str, pd.DataFrame], ax: Axes) -> Axes:
    """Draw every policy's imbalance over time, smoothed."""
    for index, (policy, frame) in enumerate(series.items()):
        start_s = frame["start_s"].to_numpy()
        if not len(start_s):
            continue
        edges = np.linspace(start_s[0], start_s[-1], SMOOTHING_POINTS + 1)
        stretch = np.clip(np.digitize(start_s, edges) - 1, 0, SMOOTHING_POINTS - 1)
        number = np.bincount(stretch, minlength=SMOOTHING_POINTS)
        total = np.bincount(stretch, frame["imbalance_tokens"], SMOOTHING_POINTS)
        seen = number > 0
        centres = (edges[:-1] + edges[1:])[seen] / 2
        ax.plot(
            centres, total[seen] / number[seen], color=colour(index), lw=1, label=literal(policy)
        )
    ax.set(title="Imbalance over time", xlabel="time (s)", ylabel="imbalance (tokens)")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax
