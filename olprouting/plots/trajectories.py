"""Worker loads over time, a panel per policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.loads import plot_loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure


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
