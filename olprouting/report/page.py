"""A page in HTML that refers to nothing outside itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olprouting.report.charts import packed_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


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
    charts
        Captions, and specifications of interactive charts (`olprouting.report.charts`).
    figures
        Captions and SVG elements (`olprouting.report.figures`).
    code
        Text that keeps its lines and blanks.
    alarming
        Whether the heading is red.
    folded
        Whether readers see the heading alone until they ask for more.
    """

    heading: str
    intro: str = ""
    table: str = ""
    note: str = ""
    lines: tuple[str, ...] = ()
    charts: tuple[tuple[str, str], ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    code: str = ""
    alarming: bool = False
    folded: bool = False

    @property
    def is_filled(self) -> bool:
        """Whether it holds anything."""
        return bool(self.table or self.lines or self.charts or self.figures or self.code)


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return a page; all text in it is escaped.

    Parameters
    ----------
    title, lead
        Its title, and a sentence below that.
    sections
        What follows; those that hold nothing are left out.
    """
    filled = _filled(sections)
    library = packed_library() if any(one.charts for one in filled) else ""
    return _rendered("page.html.j2", title=title, lead=lead, sections=filled, library=library)


def fragment(sections: Sequence[Section]) -> str:
    """Return sections without a page around them, for a page that somebody else makes."""
    return _rendered("sections.html.j2", sections=_filled(sections))


def _filled(sections: Sequence[Section]) -> list[Section]:
    return [one for one in sections if one.is_filled]


def _rendered(template: str, **values: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("olprouting.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def table_html(frame: pd.DataFrame) -> str:
    """Return a table in HTML, its text escaped."""
    return str(frame.to_html(index=False, border=0, classes="numbers"))
