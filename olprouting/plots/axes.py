"""What all figures share: axes to draw on, and colours that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), the order adapted to white paper
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")

STYLES = ("-", "--", "-.", ":")
"""Line styles beside the colours, for print without any."""

_UNITS = {
    "_tokens_per_s": "tokens/s",
    "_per_s": "1/s",
    "_tokens": "tokens",
    "_s": "s",
    "_j": "J",
}
"""Units by the end of a column's name, the longest first."""
_IN_PERIODS = ("ttft_", "end_to_end_", "periods_ttft_", "periods_end_to_end_")
"""Latencies without a unit in their names are in periods."""


def axes_or_new(ax: Axes | None) -> Axes:
    """Return `ax`, or axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def labelled(name: str) -> str:
    """Return the label of a column: its words, with the unit that its name ends in in brackets."""
    for suffix, unit in _UNITS.items():
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ')} ({unit})"
    words = name.replace("_", " ")
    return f"{words} (periods)" if name.startswith(_IN_PERIODS) else words


def literal(name: object) -> str:
    """Return a name as a label that is drawn as it stands: ``$`` begins no formula."""
    return str(name).replace("$", r"\$")


def colour(index: int) -> str:
    """Return the colour of the series number `index`."""
    return COLOURS[index % len(COLOURS)]
