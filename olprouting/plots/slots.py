"""The slots of one worker as a Gantt chart, over the KV tokens that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import colour

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST_STAYS = 60
"""More cannot be told apart."""


def plot_slots(stays: pd.DataFrame, series: pd.DataFrame, worker: int) -> Figure:
    """Draw who was in which slot, and the worker's tokens below.

    Parameters
    ----------
    stays
        ``slot``, ``from_iteration``, ``to_iteration`` (inclusive) and ``tokens`` per stay, in the
        order of admission; the first `MOST_STAYS` are drawn.
    series
        ``iteration`` and ``load_tokens_G`` of the run.
    worker
        Number G of the worker.

    Returns
    -------
    Figure
        A figure that belongs to no window.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as NewFigure

    shown = stays.head(MOST_STAYS)
    figure = NewFigure(figsize=(7, 4.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    scale = Normalize(0, max(float(shown["tokens"].max()), 1.0) if len(shown) else 1.0)
    shades = colormaps["cividis"]
    length = shown["to_iteration"] - shown["from_iteration"] + 1
    above.barh(
        shown["slot"],
        length,
        left=shown["from_iteration"],
        height=0.85,
        color=[shades(scale(tokens)) for tokens in shown["tokens"]],
        edgecolor="white",
        lw=0.5,
    )
    figure.colorbar(
        ScalarMappable(scale, shades), ax=above, label="request (tokens, prompt and output)"
    )
    above.set(title=f"Slots of worker {worker}", ylabel="slot")
    above.invert_yaxis()
    above.grid(axis="y", visible=False)
    if len(shown):
        cut = len(stays) > len(shown)  # later admissions are not shown: end where they begin
        end = stays["from_iteration"].iloc[len(shown)] if cut else shown["to_iteration"].max() + 1
        above.set_xlim(shown["from_iteration"].min(), end)
    below.fill_between(
        series["iteration"], series[f"load_tokens_{worker}"], step="post", color=colour(0), lw=0
    )
    below.set(xlabel="iteration", ylabel="KV tokens")
    below.set_ylim(bottom=0)
    return figure
