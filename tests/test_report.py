"""Reports: what a question fills in is written and shown in one way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pandas as pd
import pytest
from browser import asked, needs_browser

from olprouting.cli.tables import show_report
from olprouting.report import Picture, Report, Table, frame_of, text_of


@dataclass(frozen=True)
class Row:
    name: str
    value: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Example(Report):
    stem = "example"
    schema = "olprouting/example/1"
    title = "An example"

    rows: tuple[Row, ...] = ()

    def heading(self) -> str:
        return "2 < 3 & so on"

    def frames(self) -> dict[str, pd.DataFrame]:
        return {"rows": frame_of(Row, self.rows), "others": pd.DataFrame({"x": [1]})}

    def results(self):
        return {"rows": [row.name for row in self.rows]}

    def tables(self):
        values = [text_of(row.value, ".1f") for row in self.rows]
        names = [row.name for row in self.rows]
        return (
            Table("Rows", {"name": names}, {"value": values}, "all"),
            Table("More of them", {"name": names}, {"value": values}, detail=True),
        )

    def figures(self):
        from matplotlib.figure import Figure

        return {"picture": lambda: Figure().subplots()}

    def charts(self):
        from plotly.graph_objects import Bar
        from plotly.graph_objects import Figure as Chart

        bar = Bar(x=["</script><b>bold</b>", "b"], y=[1, 2])
        return {"bars": lambda: Chart(bar, layout={"title": {"text": "Bars"}})}

    def captions(self):
        return {"picture": "one caption"}

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
        *("rows.csv", "rows.parquet", "others.csv", "others.parquet"),
        *("example.json", "picture.svg", "picture.pdf", "example.html"),
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
    for text in ("look here", "a part failed", "&lt;i&gt;", "one caption", "<svg"):
        assert text in page
    assert "<b>" not in page
    assert not re.search(r"(src|href)=.(?!#)|url\((?!#)", page)
    assert "</script><b>" not in page  # a chart's text ends no element


def test_sections_that_hold_nothing_are_left_out():
    """Catches headings without a word below them."""
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", Example().to_html())
    assert headings == ["Findings", "Warnings", "Rows", "Interactive", "Figures", "Notes"]

    class Bare(Example):
        def warnings(self):
            return ()

        def notes(self):
            return ()

    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", Bare().to_html())
    assert headings == ["Findings", "Rows", "Interactive", "Figures"]


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


def test_the_same_figure_is_written_in_the_same_bytes(tmp_path):
    """Catches dates and random names in vector graphics, which no version control can compare."""
    for folder in ("a", "b"):
        Example().write(tmp_path / folder)
    for suffix in ("svg", "pdf"):
        first, second = (tmp_path / folder / f"picture.{suffix}" for folder in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 1000


def test_figures_of_a_page_share_no_names():
    """Catches a figure that is clipped by another's frame."""
    picture = Picture(Example().figures()["picture"])
    names = [set(re.findall(r'\bid="([^"]+)"', picture.inline(name))) for name in ("a", "b")]
    assert names[0]
    assert not names[0] & names[1]
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', picture.inline("a"))
    assert used
    assert {one or other for one, other in used} <= names[0]


def test_a_page_without_charts_holds_no_library(report):
    """Catches two megabytes of script that nothing uses."""

    class Still(Example):
        def charts(self):
            return {}

    assert len(report.to_html()) > 1_000_000 > 200_000 > len(Still().to_html())


DRAWN = "document.querySelectorAll('.plot .main-svg').length > 0"


@needs_browser
def test_a_browser_draws_the_page_and_fetches_nothing(report, tmp_path):
    """Catches a chart that is never drawn, and one whose script asks a server for more."""
    asks = (
        "[document.querySelectorAll('.plot .bars .point').length,"
        " performance.getEntriesByType('resource').map(one => one.name),"
        " document.querySelector('.scroll svg').getBoundingClientRect().height > 100]"
    )
    bars, fetched, drawn = asked(report.to_html(), asks, tmp_path, ready=DRAWN)
    assert bars == 2
    assert fetched == []
    assert drawn


@needs_browser
def test_details_are_folded_until_somebody_asks(report, tmp_path):
    """Catches a page whose main table is buried by others."""
    ask = (
        "[...document.querySelectorAll('details')].map(one => [one.open,"
        " one.querySelector('summary').textContent, (one.querySelector('table, pre')"
        ".checkVisibility({contentVisibilityAuto: true}))])"
    )
    expected = [[False, "More of them", False], [False, "Settings", False]]
    assert asked(report.to_html(), ask, tmp_path) == expected


@needs_browser
def test_a_page_can_be_read_on_a_telephone(report, tmp_path):
    """Catches a wide table or figure that makes readers scroll the whole page sideways."""
    ask = "[innerWidth, document.documentElement.scrollWidth]"
    wide = Example(
        rows=(Row("a name as long as a line of a page " * 3, 1.0),),
        settings={"key": "x" * 300},
        failures=("y" * 200,),
    )
    for page in (report.to_html(), wide.to_html()):
        window, content = asked(page, ask, tmp_path, width=400, ready=DRAWN)
        assert window == 400 >= content
