"""Bid prices as heat maps and under free capacity, and the way of Algorithm 2 to the minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.plots.axes import axes_or_new, colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

RESOURCES = (("slots", "reward per slot"), ("KV tokens", "reward per KV token"))
"""Panels of a strip, and what their prices are in."""

PANELS = (("batch", "slots", "reward per slot"), ("memory", "KV tokens", "reward per KV token"))


def plot_reward_differences(
    differences: pd.DataFrame, control: str, ax: Axes | None = None
) -> Axes:
    """Draw how much more reward each policy collects than the control, with its interval.

    Parameters
    ----------
    differences
        ``policy``, ``estimate``, ``low``, ``high``, in reward; the ends may be NaN.
    control
        Name of the control, which stands at 0.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        size = (7, 1.2 + 0.35 * len(differences))
        ax = NewFigure(figsize=size, layout="constrained").subplots()
    more, low, high = (differences[name].to_numpy(float) for name in ("estimate", "low", "high"))
    place = np.arange(len(differences))
    reach = np.nan_to_num(np.maximum([more - low, high - more], 0))
    ax.errorbar(more, place, xerr=reach, fmt="o", color=colour(0), capsize=3)
    ax.axvline(0, color="black", lw=0.8)
    ax.set_yticks(place, [literal(name) for name in differences["policy"]])
    ax.invert_yaxis()
    ax.set(
        title=f"Reward beside {literal(control)}",
        xlabel=f"more reward than {literal(control)}; bars 95%, paired by request",
    )
    return ax


def plot_price_map(prices: pd.DataFrame) -> Figure:
    """Draw prices of slots and KV tokens, worker by future period.

    Parameters
    ----------
    prices
        ``kind``, ``worker``, ``period``, ``batch``, ``memory``: a row of panels per kind.

    Returns
    -------
    Figure
        A figure that belongs to no window. Panels of one resource share their colours, by the
        square root of the price: optimal prices stand on few periods and are much higher there.
    """
    from matplotlib.colors import PowerNorm
    from matplotlib.figure import Figure as NewFigure

    kinds = list(dict.fromkeys(prices["kind"]))
    figure = NewFigure(figsize=(11, 2.6 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), 2, squeeze=False, sharex=True, sharey=True)
    for column, (resource, name, unit) in enumerate(PANELS):
        scale = PowerNorm(0.5, 0.0, float(prices[resource].max()) or 1.0)
        for row, kind in enumerate(kinds):
            ax = panels[row][column]
            chosen = prices[prices["kind"] == kind]
            image = _draw(chosen.pivot_table(resource, "worker", "period"), ax, scale)
            ax.set(title=f"{kind} prices of {name}")
        figure.colorbar(image, ax=panels[:, column].tolist(), label=f"{unit} (square root)")
    for ax in panels[-1]:
        ax.set_xlabel("period")
    for row in panels:
        row[0].set_ylabel("worker")
    return figure


def _draw(table: pd.DataFrame, ax: Axes, scale: Normalize) -> AxesImage:
    periods = table.columns.to_numpy()
    extent = (periods[0] - 0.5, periods[-1] + 0.5, len(table) - 0.5, -0.5)
    ax.set_yticks(range(len(table)))
    ax.grid(visible=False)
    return ax.imshow(
        table.to_numpy(),
        aspect="auto",
        interpolation="nearest",
        cmap="cividis",
        norm=scale,
        extent=extent,
    )


def plot_price_strip(strip: pd.DataFrame) -> Figure:
    """Draw free capacity over the remaining periods, and below it what a unit costs.

    Parameters
    ----------
    strip
        ``resource`` (``"slots"`` or ``"KV tokens"``), ``first_period``, ``last_period``, ``free``,
        ``learned``, ``low``, ``high``: per stretch of periods what is free, and prices in reward
        per unit and period: the run's, and the least and the most of optimal ones (infinite without
        limit, NaN where unknown).

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(11, 4.5), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, height_ratios=(1, 1))
    for column, (resource, unit) in enumerate(RESOURCES):
        rows = strip[strip["resource"] == resource]
        edges = np.append(rows["first_period"], rows["last_period"].iloc[-1] + 1)
        above, below = panels[:, column]
        above.stairs(rows["free"], edges, fill=True, color=colour(5))
        above.set(title=f"Free {resource}", ylabel=resource)
        limits = rows["high"].to_numpy(float), rows["low"].to_numpy(float)
        columns = (rows["learned"].to_numpy(float), *limits)
        known = np.concatenate([one[np.isfinite(one)] for one in columns])
        top = 1.1 * float(known.max(initial=0.0)) or 1.0
        if np.isfinite(limits[1]).any():
            below.stairs(
                np.minimum(np.nan_to_num(limits[0], nan=0.0, posinf=top), top),
                edges,
                baseline=np.nan_to_num(limits[1]),
                fill=True,
                color=colour(4),
                alpha=0.45,
                label="optimal, least to most",
            )
            for end in limits:
                below.stairs(
                    np.minimum(end, 2 * top), edges, baseline=None, color=colour(4), lw=0.8
                )
        if rows["learned"].notna().any():
            below.stairs(rows["learned"], edges, baseline=None, color=colour(0), label="learned")
        below.set(title=f"Price of {resource}", xlabel="period", ylabel=unit, ylim=(0, top))
        below.legend(fontsize="small")
    for ax in panels[0]:
        ax.set_ylim(bottom=0)
    return figure


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
