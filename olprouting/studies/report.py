"""Write a study down: tables with intervals, figures, and one page with both."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from olprouting.errors import InputError
from olprouting.studies import tables
from olprouting.studies.figures import drawings, trade_offs
from olprouting.studies.outcome import CELLS, FAILURES, TIMING
from olprouting.studies.results import Results
from olprouting.studies.store import write_atomically
from olprouting.studies.summary import group_columns, metrics_of, summarise

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.studies.figures import Drawing

FOLDER: Final = "report"
PAGE: Final = "report.html"
DPI: Final = 110


@dataclass(frozen=True)
class StudyReport:
    """A report that was written.

    Attributes
    ----------
    summary
        Means and intervals: policy, grid parameters, ``metric``, ``seeds``, ``mean``, ``low``,
        ``high``.
    files
        What was written; the last is the page.
    """

    summary: pd.DataFrame
    files: tuple[Path, ...]


def study_report(folder: str | Path) -> StudyReport:
    """Write the report of the study in a folder to its subfolder ``report``.

    Tables hold means over seeds with Student's t intervals: ``summary`` of the results and
    ``timing`` of wall-clock times, each as Markdown, CSV and LaTeX. Figures (PNG) are those that
    apply. ``report.html`` holds everything and refers to nothing outside itself.

    Raises
    ------
    InputError
        If the folder holds no study, or no cell is finished yet.
    """
    results = Results.read(Path(folder))
    if not results.finished:
        raise InputError(f"{folder}: no cell of {results.study.name!r} is finished yet")
    out = results.folder / FOLDER
    out.mkdir(exist_ok=True)
    study, by, metrics = results.study, group_columns(results), metrics_of(results)
    summary = summarise(results.frame(CELLS), by, metrics, study.outputs.confidence)
    timing = _timing(results, by)
    files = [
        *_write_table(out, "summary", study.name, summary, by, study.outputs.confidence),
        *_write_table(out, "timing", f"{study.name}, times", timing, by, study.outputs.confidence),
    ]
    if study.outputs.pareto:
        files.append(out / "pareto.csv")
        trade_offs(results).to_csv(files[-1], index=False, lineterminator="\n")
    pictures = []
    for drawing in drawings(results, metrics):
        files.append(out / f"{drawing.name}.png")
        drawing.figure.savefig(files[-1], dpi=DPI, metadata={"Software": None})
        pictures.append((drawing, files[-1].read_bytes()))
    page = _page(results, tables.wide(summary, by), tables.wide(timing, by), pictures)
    write_atomically(out / PAGE, page)
    return StudyReport(summary, (*files, out / PAGE))


def _timing(results: Results, by: list[str]) -> pd.DataFrame:
    """Return means of the wall-clock times by the groups of the summary."""
    cells = results.frame(CELLS)
    keys = [name for name in ("cell", "window") if name in cells]
    times = results.frame(TIMING)
    names = [name for name in times.columns if name.endswith("_s")]
    table = cells[list(dict.fromkeys([*keys, *by]))].merge(times[[*keys, *names]], on=keys)
    return summarise(table, by, names, results.study.outputs.confidence)


def _write_table(
    out: Path, name: str, title: str, summary: pd.DataFrame, by: list[str], confidence: float
) -> list[Path]:
    paths = [out / f"{name}.{suffix}" for suffix in ("csv", "md", "tex")]
    table, note = tables.wide(summary, by), tables.caption(confidence)
    summary.to_csv(paths[0], index=False, lineterminator="\n")
    paths[1].write_text(tables.to_markdown(table, title, note), encoding="utf-8")
    paths[2].write_text(tables.to_latex(table, title, note), encoding="utf-8")
    return paths


def _page(
    results: Results,
    summary: pd.DataFrame,
    timing: pd.DataFrame,
    pictures: list[tuple[Drawing, bytes]],
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    study, manifest = results.study, results.manifest
    note = tables.caption(study.outputs.confidence)
    environment = Environment(
        loader=PackageLoader("olprouting.studies"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        name=study.name,
        kind=str(study.kind),
        cells=len(study.cells),
        finished=results.finished,
        seeds=len(study.seeds),
        summary=Markup(tables.to_html(summary, note)),
        timing=Markup(tables.to_html(timing, note)),
        figures=[
            {"caption": drawing.caption, "png": base64.b64encode(png).decode("ascii")}
            for drawing, png in pictures
        ],
        failures=results.rows(FAILURES),
        notices=sorted({row["notices"] for row in results.rows(CELLS)} - {"", None}),
        definition=json.dumps(study.document, indent=2, ensure_ascii=False),
        files=manifest.files,
        runs=manifest.runs,
    )
