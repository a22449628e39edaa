"""Bound and schedule closing in on each other, and policies beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import COLOURS, STYLES, axes_or_new, colour, literal

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
            ls=STYLES[place],
            label=label,
        )
    ax.set(title="Reward in hindsight", xlabel="time (s)", ylabel="reward")
    ax.legend()
    return ax


def plot_shares(runs: pd.DataFrame, value: float, bound: float, ax: Axes | None = None) -> Axes:
    """Draw policies as bars between 0 and the bound, the best on top.

    Parameters
    ----------
    runs
        ``policy``, ``reward`` (what counts) and ``reward_of_all_starts``.
    value, bound
        Between these lies the optimum.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = _bars(len(runs)) if ax is None else ax
    rows = runs.sort_values("reward")
    names = [literal(policy) for policy in rows["policy"]]
    counted = rows["reward"].to_numpy()
    rest = (rows["reward_of_all_starts"] - rows["reward"]).clip(lower=0).to_numpy()
    ax.barh(names, counted, color=COLOURS[0], label="counted")
    if rest.any():
        ax.barh(
            names, rest, left=counted, color="white", ec=COLOURS[0], hatch="///", label="preempted"
        )
    for place, reward in enumerate(counted.tolist()):
        if bound > 0:
            ax.annotate(
                f" {reward / bound:.1%}",
                (0, place),
                color="white",
                va="center",
                fontsize="small",
            )
    ax.axvspan(value, bound, color="0.75", label="the optimum is here")
    ax.axvline(bound, color="black", lw=1.2, label="hindsight bound")
    ax.set_xlim(0, 1.03 * max(bound, 1e-9))
    ax.grid(axis="y", visible=False)
    ax.set(title="Policies against hindsight", xlabel="reward")
    ax.legend(fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    return ax


def plot_totals(runs: pd.DataFrame, bound: int, total: int | None, ax: Axes | None = None) -> Axes:
    """Draw the total imbalance of policies as bars, the least on top, beside bound and best run.

    Parameters
    ----------
    runs
        ``policy`` and ``total_tokens``.
    bound, total
        Between these lies the least total, tokens; no run was found if `total` is None.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    ax = _bars(len(runs)) if ax is None else ax
    rows = runs.sort_values("total_tokens", ascending=False)
    names = [literal(policy) for policy in rows["policy"]]
    ax.barh(names, rows["total_tokens"].to_numpy(), color=COLOURS[0], label="policy")
    if total is not None:
        ax.axvspan(bound, total, color="0.75", label="the least is here")
    ax.axvline(bound, color="black", lw=1.2, label="hindsight bound")
    ax.grid(axis="y", visible=False)
    ax.set(title="Policies against hindsight", xlabel="total imbalance (tokens)")
    ax.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    return ax


def _bars(count: int) -> Axes:
    """Return axes for so many bars on top of each other."""
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 1.4 + 0.35 * count), layout="constrained").subplots()
