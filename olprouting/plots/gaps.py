"""Policies compared: imbalance, what they avoid of JSQ's excess, their gaps, and runs over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.plots.axes import colour, literal

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from plotly.graph_objects import Figure as Chart

    Floats = npt.NDArray[np.float64]

SMOOTHING_POINTS = 200
"""The imbalance is drawn as means over this many equal stretches of time."""

LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
"""By policy, as the colours: figures must be readable in grey."""

MARKERS = ("o", "s")
"""By program."""


FAINT = 0.35
"""How much ink a run gets after its last admission, when no request waits."""


def plot_gaps(runs: pd.DataFrame, gaps: pd.DataFrame) -> Figure:
    """Draw what runs come to, and what single decisions avoid, side by side.

    Parameters
    ----------
    runs
        One row per policy: ``policy``, ``runs_waiting_imbalance_tokens``, and its interval as
        ``runs_waiting_imbalance_low_tokens`` and ``runs_waiting_imbalance_high_tokens``.
    gaps
        One row per policy and program: ``policy``, ``horizon``, ``share_captured_found``,
        ``share_captured_low``, ``share_captured_high``.

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_means(runs, left)
    plot_shares(gaps, right)
    return figure


def plot_means(runs: pd.DataFrame, ax: Axes) -> Axes:
    """Draw each policy's mean imbalance while requests wait as a bar, with its interval."""
    mean, low, high = (
        runs[f"runs_waiting_imbalance_{end}tokens"].astype(float).to_numpy()
        for end in ("", "low_", "high_")
    )
    place = np.arange(len(runs))
    ax.barh(place, mean, color=colour(0))
    reach = np.nan_to_num(np.maximum([mean - low, high - mean], 0))
    ax.errorbar(mean, place, xerr=reach, fmt="none", ecolor="black", capsize=3)
    ax.set_yticks(place, [literal(name) for name in runs["policy"]])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(title="Imbalance while requests wait", xlabel="mean imbalance (tokens); bars 95%")
    return ax


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


def plot_imbalance(series: dict[str, pd.DataFrame], ax: Axes | None = None) -> Axes:
    """Draw every policy's imbalance over time, smoothed; faint from its last admission on.

    Parameters
    ----------
    series
        Per policy: ``start_s``, ``imbalance_tokens`` and ``admitted_requests`` of iterations.
    ax
        Where to draw; a new figure by default.
    """
    ax = _wide() if ax is None else ax
    for index, (policy, frame) in enumerate(series.items()):
        if not len(frame):
            continue
        time_s, tokens, waits = smoothed(frame)
        style = {"color": colour(index), "ls": LINE_STYLES[index % len(LINE_STYLES)], "lw": 1}
        ax.plot(time_s[waits], tokens[waits], **style, label=literal(policy))  # type: ignore[arg-type]
        rest = ~waits
        rest[: len(rest) - 1] |= rest[1:]  # joined to what comes before
        ax.plot(time_s[rest], tokens[rest], **style, alpha=FAINT)  # type: ignore[arg-type]
    ax.set(title="Imbalance over time", xlabel="time (s)", ylabel="imbalance (tokens)")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize="small")
    return ax


def _wide() -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=(11, 4), layout="constrained").subplots()


def imbalance_chart(series: dict[str, pd.DataFrame]) -> Chart:
    """Return the same as `plot_imbalance` as an interactive chart: policies come and go by a click.

    Parameters
    ----------
    series
        See `plot_imbalance`.
    """
    from plotly.graph_objects import Figure as NewFigure
    from plotly.graph_objects import Scatter

    figure = NewFigure()
    for index, (policy, frame) in enumerate(series.items()):
        if not len(frame):
            continue
        time_s, tokens, waits = smoothed(frame)
        last_s = f"{time_s[waits][-1]:.1f}" if waits.any() else "-"
        figure.add_trace(
            Scatter(
                x=time_s.round(3).tolist(),
                y=tokens.round().tolist(),
                name=policy,
                mode="lines",
                line={"color": colour(index), "width": 1.5},
                hovertemplate=f"%{{y:,.0f}} tokens (last admission {last_s} s)",
            )
        )
    figure.update_layout(
        hovermode="x unified",
        xaxis={"title": {"text": "time (s)"}},
        yaxis={"title": {"text": "imbalance (tokens)"}, "rangemode": "tozero"},
        legend={"orientation": "h", "y": -0.2},
    )
    return figure


def smoothed(frame: pd.DataFrame) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Return times, the mean imbalance around each, and whether admissions are still to come.

    Parameters
    ----------
    frame
        ``start_s``, ``imbalance_tokens`` and ``admitted_requests`` of iterations, at least one.
    """
    start_s = frame["start_s"].to_numpy()
    edges = np.linspace(start_s[0], start_s[-1], SMOOTHING_POINTS + 1)
    stretch = np.clip(np.digitize(start_s, edges) - 1, 0, SMOOTHING_POINTS - 1)
    number = np.bincount(stretch, minlength=SMOOTHING_POINTS)
    total = np.bincount(stretch, frame["imbalance_tokens"], SMOOTHING_POINTS)
    seen = number > 0
    admits = np.flatnonzero(frame["admitted_requests"])
    last = stretch[admits[-1]] if len(admits) else -1
    waits = np.arange(SMOOTHING_POINTS)[seen] <= last
    return (edges[:-1] + edges[1:])[seen] / 2, total[seen] / number[seen], waits
