"""A page in HTML that refers to nothing outside itself."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import Figure

DPI = 110
"""Of the figures."""


@dataclass(frozen=True)
class Section:
    """A part of a page under its own heading; what is empty is left out.

    Parameters
    ----------
    heading
        Its heading.
    intro
        A sentence above the table.
    table, note
        A table in HTML (`table_html`), and a sentence below it.
    lines
        A list.
    figures
        Captions and PNG files.
    code
        Text that keeps its lines and blanks.
    alarming
        Whether the heading is red.
    """

    heading: str
    intro: str = ""
    table: str = ""
    note: str = ""
    lines: tuple[str, ...] = ()
    figures: tuple[tuple[str, bytes], ...] = ()
    code: str = ""
    alarming: bool = False


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return a page; all text in it is escaped.

    Parameters
    ----------
    title, lead
        Its title, and a sentence below that.
    sections
        What follows; those that hold nothing are left out.
    """
    return _rendered("page.html.j2", title=title, lead=lead, sections=_filled(sections))


def fragment(sections: Sequence[Section]) -> str:
    """Return sections without a page around them, for a page that somebody else makes."""
    return _rendered("sections.html.j2", sections=_filled(sections))


def _filled(sections: Sequence[Section]) -> list[Section]:
    """Return the sections that hold anything."""
    return [one for one in sections if one.table or one.lines or one.figures or one.code]


def _rendered(template: str, **values: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("olprouting.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode("ascii")
    return environment.get_template(template).render(**values)


def table_html(frame: pd.DataFrame) -> str:
    """Return a table in HTML, its text escaped."""
    return str(frame.to_html(index=False, border=0, classes="numbers"))


def png(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    file = io.BytesIO()
    figure.savefig(file, dpi=DPI, metadata={"Software": None})
    return file.getvalue()
