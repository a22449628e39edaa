"""Worker loads over time: of one run, or a panel per policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour, literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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


def plot_trajectories(series: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the loads of all workers under every policy, on equal scales.

    Parameters
    ----------
    series
        Per policy: ``start_s`` and ``load_tokens_0``, ``load_tokens_1``, ...

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(11, 2.8 * len(series)), layout="constrained")
    panels = figure.subplots(len(series), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
    for ax, (policy, frame) in zip(panels, series.items(), strict=True):
        plot_loads(frame, ax=ax, title=policy)
    return figure
