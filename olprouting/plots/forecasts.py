"""Calibration of forecast probabilities and coverage by age, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_forecasts(calibration: pd.DataFrame, coverage: pd.DataFrame) -> Figure:
    """Draw a figure with both panels.

    Parameters
    ----------
    calibration
        One row per forecast and bin: ``forecast``, ``predicted_mean``, ``observed_share``.
    coverage
        One row per forecast and bin of ages: ``forecast``, ``from_age_tokens``,
        ``to_age_tokens``, ``covered_share``.

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_calibration(calibration, left)
    plot_coverage(coverage, right)
    return figure


def plot_calibration(calibration: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the share that finished against the probability forecast, per forecaster."""
    ax.axline((0, 0), slope=1, color=colour(6), lw=0.8, ls=":", label="perfect")
    for index, (forecast, group) in enumerate(calibration.groupby("forecast", sort=False)):
        ax.plot(
            group["predicted_mean"],
            group["observed_share"],
            marker="o",
            ms=4,
            lw=_width(index),
            color=colour(index),
            label=literal(forecast),
        )
    ax.set(
        title="Calibration of finishing within the window",
        xlabel="forecast probability (mean of bin)",
        ylabel="share that finished",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
    )
    ax.legend(fontsize="small")
    return ax


def plot_coverage(coverage: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the share of answers from history of their own against age, per forecaster."""
    for index, (forecast, group) in enumerate(coverage.groupby("forecast", sort=False)):
        shares = group["covered_share"].to_list()
        ax.plot(
            [*group["from_age_tokens"], group["to_age_tokens"].iloc[-1]],
            [*shares, shares[-1]],
            drawstyle="steps-post",
            marker=".",
            lw=_width(index),
            color=colour(index),
            label=literal(forecast),
        )
    ax.set_xscale("symlog", base=2, linthresh=16)
    ax.set(
        title="Answers from history of their own",
        xlabel="age (tokens)",
        ylabel="share of queries",
        ylim=(-0.02, 1.02),
    )
    ax.legend(fontsize="small")
    return ax


def _width(index: int) -> float:
    """Return the width of a line: it shows beneath a later one that covers it."""
    return max(4.0 - 0.6 * index, 1.0)
