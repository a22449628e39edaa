"""Reports: what a question fills in is written and shown in one way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pandas as pd
import pytest

from olprouting.cli.tables import show_report
from olprouting.report import Report, Table, frame_of, text_of


@dataclass(frozen=True)
class Row:
    name: str
    value: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Example(Report):
    stem = "example"
    schema = "olprouting/example/1"
    title = "An example"
    with_parquet = frozenset({"rows"})

    rows: tuple[Row, ...] = ()

    def heading(self) -> str:
        return "2 < 3 & so on"

    def frames(self) -> dict[str, pd.DataFrame]:
        return {"rows": frame_of(Row, self.rows), "others": pd.DataFrame({"x": [1]})}

    def results(self):
        return {"rows": [row.name for row in self.rows]}

    def tables(self):
        values = [text_of(row.value, ".1f") for row in self.rows]
        return (Table("Rows", {"name": [r.name for r in self.rows]}, {"value": values}, "all"),)

    def figures(self):
        from matplotlib.figure import Figure

        return {"picture": lambda: Figure().subplots()}

    def findings(self):
        return ("one is larger",)

    def notes(self):
        return ("a note",)

    def warnings(self):
        return ("look here",)


@pytest.fixture
def report():
    rows = (Row("<b>bold</b>", 1.0), Row("none", None))
    return Example(rows=rows, settings={"asked": "<i>"}, failures=("a part failed",))


def test_files_are_those_of_tables_document_and_figures(report, tmp_path):
    """Catches a table that is not written, and a main table that is another one."""
    written = report.write(tmp_path)
    assert [path.name for path in written] == [
        *("rows.csv", "rows.parquet", "others.csv"),
        *("example.json", "picture.png"),
    ]
    assert all(path.stat().st_size for path in written)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "rows.csv"), report.to_frame())
    assert json.loads((tmp_path / "example.json").read_text()) == {
        "schema": "olprouting/example/1",
        "settings": {"asked": "<i>"},
        "interrupted": False,
        "failures": ["a part failed"],
        "rows": ["<b>bold</b>", "none"],
    }


def test_the_page_holds_everything_escaped_and_refers_to_nothing(report):
    """Catches text that becomes markup, a part that is left out, and a picture by reference."""
    page = report.to_html()
    for text in ("An example", "2 &lt; 3 &amp; so on", "&lt;b&gt;bold", "one is larger", "a note"):
        assert text in page
    for text in ("look here", "a part failed", "&lt;i&gt;", "data:image/png;base64,"):
        assert text in page
    assert "<b>" not in page
    assert not re.search(r"(src|href)=.(?!data:)", page)


def test_sections_that_hold_nothing_are_left_out():
    """Catches headings without a word below them."""
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", Example().to_html())
    assert headings == ["Warnings", "Findings", "Rows", "Figures", "Notes", "Settings"]

    class Bare(Example):
        def warnings(self):
            return ()

        def notes(self):
            return ()

    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", Bare().to_html())
    assert headings == ["Findings", "Rows", "Figures", "Settings"]


def test_a_notebook_gets_no_page_of_its_own(report):
    """Catches styles that would apply to the whole notebook."""
    fragment = report._repr_html_()
    assert "&lt;b&gt;bold" in fragment
    assert not re.search("<(html|body|style|title)", fragment)


def test_rows_without_entries_have_their_columns():
    """Catches an empty table that nobody can read, after Ctrl-C."""
    assert list(frame_of(Row, []).columns) == ["name", "value"]


def test_the_command_line_shows_findings_and_keeps_notes_from_stdout(report, capsys):
    """Catches a note in the middle of the product, and JSON with anything else beside it."""
    show_report(report, as_json=False)
    shown = capsys.readouterr()
    assert shown.out.startswith("2 < 3 & so on\n")
    assert "<b>bold</b>" in shown.out
    assert "one is larger" in shown.out
    assert shown.err == "note: a note\nWARNING: look here\n"
    show_report(report, as_json=True)
    shown = capsys.readouterr()
    assert json.loads(shown.out) == report.to_document()
    assert shown.err == "WARNING: look here\n"
