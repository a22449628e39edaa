"""The figure: growth of FCFS policies, all policies at one G, and IO_0 per worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from imbalance_growth.setting import EXACT, FCFS, LABELS, Setting
from olprouting.theory import constants

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(summary: pd.DataFrame, setting: Setting) -> Figure:
    """Draw growth of FCFS policies, all policies at one G, and IO_0 per worker for each p."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    growth, policies, *flat = figure.subplots(2, 2).flat
    p, many = max(setting.workers, key=lambda pair: len(pair[1]))
    _draw_growth(summary[summary.p == p], setting, growth)
    _draw_policies(summary[(summary.p == p) & (summary.workers == many[len(many) // 2])], policies)
    for ax, at_p in zip(flat, sorted({p for p, _ in setting.workers}), strict=False):
        _draw_flatness(summary[(summary.p == at_p) & (summary.policy == EXACT)], setting, ax)
    for ax in (growth, policies, *flat):
        ax.set(xlabel="slots per worker B", ylabel="imbalance per worker I / G (tokens)")
        ax.set(xscale="log", yscale="log", xticks=setting.slots, xticklabels=setting.slots)
        ax.tick_params(axis="x", which="minor", bottom=False)
        ax.grid(alpha=0.3)
        if ax.has_data():
            ax.legend(fontsize="x-small", ncols=2)
        else:
            ax.set_axis_off()
    return figure


def _draw_growth(rows: pd.DataFrame, setting: Setting, ax: Axes) -> None:
    from olprouting.plots.axes import colour

    jsq = rows[rows.policy == "jsq"]
    for index, (workers, group) in enumerate(jsq.groupby("workers")):
        _points(ax, group, "o", colour(index), f"jsq, G={workers}")
        exact = group.exact_fcfs_tokens / workers
        ax.plot(group.slots, exact, color=colour(index), linewidth=1)
        scales = [
            constants(setting.largest_prompt_tokens, p, workers, slots).scale_tokens / workers
            for p, slots in zip(group.p, group.slots, strict=True)
        ]
        label = "sigma sqrt(B log G)" if index == 0 else None
        ax.plot(group.slots, scales, ":", color=colour(index), linewidth=1, label=label)
    ax.set_title(f"FCFS: simulated (points), exact (lines), p={rows.p.iloc[0]:g}")


def _draw_policies(rows: pd.DataFrame, ax: Axes) -> None:
    from olprouting.plots.axes import colour

    for index, (policy, group) in enumerate(rows.groupby("policy", sort=False)):
        marker = "osD^vPX*"[index]
        _points(
            ax, group, marker, colour(index + len(LABELS)), LABELS.get(str(policy), str(policy))
        )
    first = rows[rows.policy == FCFS[0]]
    exact = first.exact_fcfs_tokens / first.workers
    ax.plot(first.slots, exact, color="0.4", linewidth=1, label="FCFS, exact")
    ax.set_title(f"All policies, p={rows.p.iloc[0]:g}, G={rows.workers.iloc[0]}")


def _draw_flatness(rows: pd.DataFrame, setting: Setting, ax: Axes) -> None:
    from olprouting.plots.axes import colour

    p = rows.p.iloc[0]
    for index, (workers, group) in enumerate(rows.groupby("workers")):
        _points(ax, group, "o", colour(index), f"IO_0, G={workers}", line="-")
        unproven = group[group.proven < group.decisions]
        ax.plot(
            unproven.slots,
            unproven.mean_tokens / workers,
            "o",
            color="white",
            markersize=3,
            zorder=3,
        )
        exact = group.exact_fcfs_tokens / workers
        label = "FCFS, exact" if index == 0 else None
        ax.plot(group.slots, exact, ":", color=colour(index), linewidth=1, label=label)
    limit = setting.largest_prompt_tokens / p
    ax.axhline(limit, color="0.4", linestyle="--", linewidth=1, label="s / p")
    ax.set_title(f"IO_0, p={p:g} (white: some decisions unproven)")


def _points(
    ax: Axes, rows: pd.DataFrame, marker: str, colour: str, label: str, line: str = ""
) -> None:
    mean, workers = rows.mean_tokens / rows.workers, rows.workers
    spread = [mean - rows.low_tokens / workers, rows.high_tokens / workers - mean]
    ax.errorbar(
        rows.slots,
        mean,
        yerr=np.clip(spread, 0, [0.999 * mean, np.full(len(mean), np.inf)]),
        fmt=marker + line,
        color=colour,
        markersize=5,
        linewidth=0.8,
        capsize=2,
        label=label,
    )
