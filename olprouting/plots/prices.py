"""Bid prices as heat maps, and the way of Algorithm 2 to the minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import axes_or_new, colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

PANELS = (("batch", "reward per slot"), ("memory", "reward per KV token"))


def plot_price_map(prices: pd.DataFrame) -> Figure:
    """Draw prices of slots and KV tokens, worker by future period.

    Parameters
    ----------
    prices
        ``kind``, ``worker``, ``period``, ``batch``, ``memory``: a row of panels per kind.

    Returns
    -------
    Figure
        A figure that belongs to no window. Every panel has colours of its own: exact prices stand
        on few periods and are much higher there.
    """
    from matplotlib.figure import Figure as NewFigure

    kinds = list(dict.fromkeys(prices["kind"]))
    figure = NewFigure(figsize=(11, 2.6 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), 2, squeeze=False, sharex=True, sharey=True)
    for row, kind in enumerate(kinds):
        chosen = prices[prices["kind"] == kind]
        for column, (resource, unit) in enumerate(PANELS):
            ax = panels[row][column]
            image = _draw(chosen.pivot_table(resource, "worker", "period"), ax)
            ax.set(title=f"{kind} prices: {resource}")
            figure.colorbar(image, ax=ax, label=unit)
    for ax in panels[-1]:
        ax.set_xlabel("period")
    for row in panels:
        row[0].set_ylabel("worker")
    return figure


def _draw(table: pd.DataFrame, ax: Axes) -> AxesImage:
    periods = table.columns.to_numpy()
    extent = (periods[0] - 0.5, periods[-1] + 0.5, len(table) - 0.5, -0.5)
    ax.set_yticks(range(len(table)))
    return ax.imshow(
        table.to_numpy(),
        aspect="auto",
        interpolation="nearest",
        cmap="cividis",
        vmin=0.0,
        vmax=float(table.to_numpy().max()) or 1.0,
        extent=extent,
    )


def plot_convergence(steps: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw f over the whole history against subgradient steps, and its exact minimum.

    Parameters
    ----------
    steps
        ``step``, ``f``, ``f_exact``.
    ax
        Where to draw; a new figure by default.
    """
    ax = axes_or_new(ax)
    ax.plot(steps["step"], steps["f"], marker="o", color=colour(0), label="subgradient")
    ax.plot(steps["step"], steps["f_exact"], color=colour(1), ls="--", label="exact minimum")
    ax.set_xscale("symlog", linthresh=1)
    ax.set(
        title="Full-sample dual value from p = 0",
        xlabel="steps",
        ylabel="f (reward per history column)",
    )
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax
