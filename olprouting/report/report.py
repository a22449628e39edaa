"""What a question found: settings, tables, figures, findings and notes, written and shown one way.

A question fills a `Report`; the command line, files, notebooks and pages show whatever is in it.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from olprouting.files import write_parts
from olprouting.report.charts import specification
from olprouting.report.figures import Picture
from olprouting.report.page import Section, fragment, page, table_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from olprouting.files import Part
    from olprouting.report.charts import Chart
    from olprouting.report.figures import Draw


@dataclass(frozen=True)
class Table:
    """A table for people: its cells are text.

    Parameters
    ----------
    title, caption
        Above and below it.
    labels, columns
        Cells by heading: what a row is about, and what is said of it.
    detail
        Whether it is for those who ask for details.
    """

    title: str
    labels: Mapping[str, Sequence[str]]
    columns: Mapping[str, Sequence[str]]
    caption: str = ""
    detail: bool = False

    def to_html(self) -> str:
        """Return it in HTML, its text escaped."""
        import pandas as pd

        cells = [*self.labels.values(), *self.columns.values()]
        frame = pd.DataFrame(dict(enumerate(cells)))
        headings = (*self.labels, *self.columns)
        frame.columns = [
            heading.replace("-\n ", "").replace("\n", "").strip() for heading in headings
        ]
        return table_html(frame)


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(ABC):
    """What a question found.

    A question's own report is a data class that says what is in it by the methods up to
    `warnings`, as far as there is any, and gets the others.

    Attributes
    ----------
    stem, schema, title
        Name of the file that holds the document, what that calls itself, and title of the page.
    settings
        What was asked, as plain values.
    interrupted
        Whether Ctrl-C ended the question; what is here is complete in itself.
    failures
        One line per part that failed, while the others went on.
    """

    stem: ClassVar[str]
    schema: ClassVar[str]
    title: ClassVar[str]
    settings: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    failures: tuple[str, ...] = ()

    @abstractmethod
    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables for machines by name of their file, the main one first."""

    @abstractmethod
    def results(self) -> dict[str, Any]:
        """Return what the document holds beside settings, as plain JSON types."""

    def heading(self) -> str:
        """Return in a line what was asked."""
        return ""

    def tables(self) -> tuple[Table, ...]:
        """Return the tables for people."""
        return ()

    def figures(self) -> dict[str, Draw]:
        """Return functions that draw the figures, by name of their file."""
        return {}

    def charts(self) -> dict[str, Chart]:
        """Return functions that make the interactive charts of the page, by name."""
        return {}

    def captions(self) -> dict[str, str]:
        """Return what figures and charts show, a sentence each by name; else the name is shown."""
        return {}

    def findings(self) -> tuple[str, ...]:
        """Return what was found: one to three sentences, numbers with their intervals."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """Return what readers must know, a sentence each."""
        return ()

    def warnings(self) -> tuple[str, ...]:
        """Return what must not be overlooked, a line each."""
        return ()

    def to_frame(self) -> pd.DataFrame:
        """Return the main table."""
        return next(iter(self.frames().values()))

    def to_document(self) -> dict[str, Any]:
        """Return settings and results as plain JSON types."""
        return {
            "schema": self.schema,
            "settings": self.settings,
            "interrupted": self.interrupted,
            "failures": list(self.failures),
            **self.results(),
        }

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write everything there is to a folder.

        Tables are written as CSV and Parquet, the document as JSON, figures as SVG and PDF, and all
        of that again as a page, ``STEM.html``, which refers to nothing outside itself. The same
        results give the same figures, byte for byte.

        Returns
        -------
        tuple of Path
            The files written.

        Raises
        ------
        NotWrittenError
            If one cannot be written; all others are.
        """
        parts: dict[str, Part] = {}
        for name, frame in self.frames().items():
            parts |= {f"{name}.csv": frame, f"{name}.parquet": frame}
        parts[f"{self.stem}.json"] = json.dumps(self.to_document(), indent=2)
        pictures = self._pictures()
        for name, picture in pictures.items():
            parts |= {f"{name}.svg": picture.write_svg, f"{name}.pdf": picture.write_pdf}
        parts[f"{self.stem}.html"] = lambda path: path.write_text(
            self._page(pictures), encoding="utf-8"
        )
        return write_parts(folder, parts)

    def to_html(self) -> str:
        """Return everything as one page that refers to nothing outside itself."""
        return self._page(self._pictures())

    def _pictures(self) -> dict[str, Picture]:
        return {name: Picture(draw) for name, draw in self.figures().items()}

    def _page(self, pictures: dict[str, Picture]) -> str:
        captions = self.captions()
        charts = {name: specification(chart) for name, chart in self.charts().items()}
        figures = {name: picture.inline(name) for name, picture in pictures.items()}
        sections = [
            Section("Findings", lines=self.findings()),
            Section("Warnings", lines=(*self.failures, *self.warnings()), alarming=True),
            *self._sections(detail=False),
            Section("Interactive", charts=_captioned(charts, captions)),
            Section("Figures", figures=_captioned(figures, captions)),
            Section("Notes", lines=self.notes()),
            *self._sections(detail=True),
            Section("Settings", code=json.dumps(self.settings, indent=2), folded=True),
        ]
        return page(self.title, self.heading(), sections)

    def _repr_html_(self) -> str:
        """Return findings and tables, for notebooks."""
        findings = Section(self.heading() or self.title, lines=self.findings())
        return fragment([findings, *self._sections(detail=False), *self._sections(detail=True)])

    def _sections(self, *, detail: bool) -> list[Section]:
        return [
            Section(table.title, table=table.to_html(), note=table.caption, folded=detail)
            for table in self.tables()
            if table.detail == detail
        ]


def _captioned(
    parts: Mapping[str, str], captions: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    return tuple((captions.get(name, name.replace("_", " ")), one) for name, one in parts.items())


def frame_of(kind: type[Any], entries: Iterable[Any]) -> pd.DataFrame:
    """Return entries, which are of one data class, as rows; the columns are there without any."""
    import pandas as pd

    columns = [one.name for one in fields(kind)]
    return pd.DataFrame([asdict(entry) for entry in entries], columns=columns)


def text_of(value: float | None, form: str) -> str:
    """Return a number in a form, or a hyphen where there is none."""
    return "-" if value is None else f"{value:{form}}"
