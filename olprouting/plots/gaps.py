"""What policies avoid of JSQ's excess by each program, their gaps, and imbalance over time."""

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

LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
"""By policy, as the colours: figures must be readable in grey."""

MARKERS = ("o", "s")
"""By program."""


def plot_gaps(gaps: pd.DataFrame, series: dict[str, pd.DataFrame]) -> Figure:
    """Draw a figure with both panels.

    Parameters
    ----------
    gaps
        One row per policy and program: ``policy``, ``horizon``, ``share_captured_found``,
        ``share_captured_low``, ``share_captured_high``.
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
    plot_shares(gaps, left)
    plot_imbalance(series, right)
    return figure


def plot_shares(gaps: pd.DataFrame, ax: Axes) -> Axes:
    """Draw what each policy avoids of JSQ's excess, one yardstick for all programs.

    0 is JSQ, 1 the best assignment found; the bar is the interval, from the proven bound.
    """
    policies = list(dict.fromkeys(gaps["policy"]))
    programs = list(dict.fromkeys(gaps["horizon"]))
    for index, horizon in enumerate(programs):
        rows = gaps[gaps["horizon"] == horizon].dropna(subset=["share_captured_found"])
        share, low, high = (
            100 * rows[f"share_captured_{end}"].astype(float).to_numpy()
            for end in ("found", "low", "high")
        )
        shift = 0.3 * (index - (len(programs) - 1) / 2)
        place = np.array([policies.index(name) for name in rows["policy"]], float) + shift
        reach = np.nan_to_num(np.maximum([share - low, high - share], 0))
        ax.errorbar(
            share,
            place,
            xerr=reach,
            fmt=MARKERS[index % len(MARKERS)],
            color=colour(index),
            capsize=3,
            label=f"H = {horizon}",
        )
    ax.axvline(0, color="black", lw=0.8)
    ax.axvline(100, color="black", lw=0.8, ls=":")
    ax.set_yticks(range(len(policies)), [literal(name) for name in policies])
    ax.invert_yaxis()
    ax.set(
        title="Avoided of JSQ's excess over the optimum",
        xlabel="share avoided (%): 0 JSQ, 100 best found; bars 95%",
    )
    if programs:
        ax.legend(title="program", fontsize="small")
    return ax


def plot_gap_distribution(records: pd.DataFrame, ax: Axes) -> Axes:
    """Draw, per policy and window, the share of decisions that lose at most so many tokens.

    Parameters
    ----------
    records
        One row per solved decision and policy: ``policy``, ``horizon``, ``gap_tokens``. Gaps of
        different windows are sums over different numbers of iterations; draw one window at a time
        to compare policies.
    ax
        Where to.
    """
    for index, ((policy, horizon), group) in enumerate(
        records.groupby(["policy", "horizon"], sort=False)
    ):
        ax.ecdf(
            group["gap_tokens"],
            color=colour(index),
            ls=LINE_STYLES[index % len(LINE_STYLES)],
            label=literal(f"{policy} (H={horizon})"),
        )
    ax.set_xscale("symlog", linthresh=1)
    ax.set(
        title="Gap to the proven optimum or bound",
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
            centres,
            total[seen] / number[seen],
            color=colour(index),
            ls=LINE_STYLES[index % len(LINE_STYLES)],
            lw=1,
            label=literal(policy),
        )
    ax.set(title="Imbalance over time", xlabel="time (s)", ylabel="imbalance (tokens)")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax
