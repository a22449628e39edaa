"""Figures as files and in pages: vector graphics, the same bytes for the same figure."""

from __future__ import annotations

import io
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Draw = Callable[[], Axes | Figure]

STYLE: Final[Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.alpha": 0.25,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,  # letters stay letters, as journals ask
    "svg.hashsalt": "olprouting",  # else names inside the file are random
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""How figures of reports look: Matplotlib's settings by their names."""

LEAST_SIZE: Final = 0.75
"""To what part of their size figures are shrunk on a page, at most: letters of 8 pt are then 6."""

_REFERENCES: Final = re.compile(r'(\bid="|href="#|url\(#)')
_HEAD: Final = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)


def figure_of(draw: Draw) -> Figure:
    """Draw, and return the figure."""
    figure = draw().get_figure(root=True)
    assert figure is not None
    return figure


class Picture:
    """A figure that is drawn when it is first needed, and once.

    Parameters
    ----------
    draw
        Draws it.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    @cached_property
    def figure(self) -> Figure:
        """The figure, in the style of reports."""
        from matplotlib import rc_context

        with rc_context(STYLE):
            figure = figure_of(self._draw)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # laid out: each file would do it again
            return figure

    @cached_property
    def svg(self) -> str:
        """The figure as an SVG file."""
        return self._saved("svg", {"Date": None, "Creator": None}).decode()

    def inline(self, name: str) -> str:
        """Return the SVG element for a page; `name` keeps its inner names apart from others'.

        On a narrow screen it is to be scrolled rather than shrunk until its letters are too small.
        """
        element = _REFERENCES.sub(rf"\g<1>{name}-", _HEAD.sub("", self.svg))
        least = LEAST_SIZE * 72 * self.figure.get_figwidth()
        return element.replace("<svg ", f'<svg style="min-width: {least:.0f}pt" ', 1)

    def write_svg(self, path: Path) -> None:
        """Write an SVG file."""
        path.write_text(self.svg, encoding="utf-8")

    def write_pdf(self, path: Path) -> None:
        """Write a PDF file."""
        path.write_bytes(self._saved("pdf", {"CreationDate": None, "Creator": None}))

    def _saved(self, form: str, metadata: dict[str, None]) -> bytes:
        from matplotlib import rc_context

        file = io.BytesIO()
        with rc_context(STYLE):
            self.figure.savefig(file, format=form, metadata=metadata)
        return file.getvalue()
