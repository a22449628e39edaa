"""Performance profiles (Dolan and More, 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.plots.axes import axes_or_new, colour, literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_performance_profile(ratios: pd.DataFrame, metric: str, ax: Axes | None = None) -> Axes:
    """Draw, per policy, the share of instances within a factor of the best policy.

    Parameters
    ----------
    ratios
        One row per instance, one column per policy: its value over the best policy's, >= 1;
        infinite or NaN where it has none.
    metric
        What was compared.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.

    References
    ----------
    E. D. Dolan, J. J. More, Benchmarking optimization software with performance profiles,
    Mathematical Programming 91 (2002).
    """
    ax = axes_or_new(ax)
    finite = ratios.to_numpy(dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    end = max(1.05, 1.05 * float(finite.max(initial=1.0)))
    for index, policy in enumerate(ratios.columns):
        values = np.sort(ratios[policy].to_numpy(dtype=np.float64))
        values = values[np.isfinite(values)]
        share = np.arange(1, len(values) + 1) / max(1, len(ratios))
        at = np.concatenate([[1.0], values, [end]])
        height = np.concatenate([[0.0], share, share[-1:] if len(share) else [0.0]])
        ax.step(at, height, where="post", color=colour(index), label=literal(policy))
    ax.set(
        title="Performance profile",
        xlabel=f"{metric.replace('_', ' ')} over that of the best policy (ratio)",
        ylabel=f"share of {len(ratios)} instances",
        ylim=(0, 1.02),
        xlim=(1, end),
    )
    ax.legend(fontsize="small")
    return ax
