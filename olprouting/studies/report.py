"""Write a study down: tables with intervals, figures, and one page with both."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from olprouting.errors import InputError
from olprouting.files import write_parts
from olprouting.report import Picture, Section, page, table_html
from olprouting.studies import tables
from olprouting.studies.figures import drawings, trade_offs
from olprouting.studies.outcome import CELLS, FAILURES, TIMING
from olprouting.studies.results import Results
from olprouting.studies.summary import group_columns, metrics_of, summarise
from olprouting.traces.workload import drawn_by_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from olprouting.files import Part
    from olprouting.studies.figures import Drawing

FOLDER: Final = "report"
PAGE: Final = "report.html"


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
    ``timing`` of wall-clock times, each as Markdown, CSV and LaTeX. Figures (SVG, PDF) are those
    that apply. ``report.html`` holds everything and refers to nothing outside itself.

    Raises
    ------
    InputError
        If the folder holds no study, or no cell is finished yet.
    NotWrittenError
        If a file cannot be written; all others are.
    """
    results = Results.read(Path(folder))
    if not results.finished:
        raise InputError(f"{folder}: no cell of {results.study.name!r} is finished yet")
    study, by, metrics = results.study, group_columns(results), metrics_of(results)
    summary = summarise(results.frame(CELLS), by, metrics, study.outputs.confidence)
    timing = _timing(results, by)
    note = _note(results)
    parts: dict[str, Part] = {
        **_table_parts("summary", study.name, summary, by, note),
        **_table_parts("timing", f"{study.name}, times", timing, by, note),
    }
    if study.outputs.pareto:
        parts["pareto.csv"] = trade_offs(results).to_csv(index=False, lineterminator="\n")
    pictures = [
        (drawing, Picture(partial(_figure, drawing))) for drawing in drawings(results, metrics)
    ]
    for drawing, picture in pictures:
        parts[f"{drawing.name}.svg"] = picture.write_svg
        parts[f"{drawing.name}.pdf"] = picture.write_pdf
    parts[PAGE] = _page(results, tables.wide(summary, by), tables.wide(timing, by), pictures)
    return StudyReport(summary, write_parts(results.folder / FOLDER, parts))


def _note(results: Results) -> str:
    """Return what the intervals are, and what the seeds draw in any cell."""
    study = results.study
    drawn = dict.fromkeys(drawn_by_seed(cell.workload) for cell in study.cells)
    return tables.caption(study.outputs.confidence, " or ".join(filter(None, drawn)))


def _timing(results: Results, by: list[str]) -> pd.DataFrame:
    """Return means of the wall-clock times by the groups of the summary."""
    cells = results.frame(CELLS)
    keys = [name for name in ("cell", "window") if name in cells]
    times = results.frame(TIMING)
    names = [name for name in times.columns if name.endswith("_s")]
    table = cells[list(dict.fromkeys([*keys, *by]))].merge(times[[*keys, *names]], on=keys)
    return summarise(table, by, names, results.study.outputs.confidence)


def _table_parts(
    name: str, title: str, summary: pd.DataFrame, by: list[str], note: str
) -> dict[str, str]:
    table = tables.wide(summary, by)
    return {
        f"{name}.csv": summary.to_csv(index=False, lineterminator="\n"),
        f"{name}.md": tables.to_markdown(table, title, note),
        f"{name}.tex": tables.to_latex(table, title, note),
    }


def _figure(drawing: Drawing) -> Figure:
    return drawing.figure


def _page(
    results: Results,
    summary: pd.DataFrame,
    timing: pd.DataFrame,
    pictures: list[tuple[Drawing, Picture]],
) -> str:
    study, manifest = results.study, results.manifest
    note = _note(results)
    seeds = f"{len(study.seeds)} seed{'' if len(study.seeds) == 1 else 's'}"
    failed = tuple(
        f"{row['policy']}, seed {row['seed']}, {row['parameters']}: {row['error']}"
        for row in results.rows(FAILURES)
    )
    notices = {row["notices"] for row in results.rows(CELLS)} - {"", None}
    commands = [
        f"{run['command']}, {run['began']}, {run['workers']}; "
        + ", ".join(f"{package} {version}" for package, version in run["versions"].items())
        for run in manifest.runs
    ]
    files = [f"{path}: SHA-256 {sha}" for path, sha in manifest.files.items()]
    sections = [
        Section("Failed cells", lines=failed, alarming=True),
        Section("Results", table=table_html(summary), note=note, lines=tuple(sorted(notices))),
        Section(
            "Figures",
            figures=tuple((one.caption, picture.inline(one.name)) for one, picture in pictures),
        ),
        Section(
            "Times",
            intro="Wall-clock times; no two runs share them.",
            table=table_html(timing),
            note=note,
        ),
        Section(
            "Provenance",
            lines=(*commands, *files),
            code=json.dumps(study.document, indent=2, ensure_ascii=False),
        ),
    ]
    lead = f"{results.finished} of {len(study.cells)} cells finished, kind {study.kind}, {seeds}."
    return page(study.name, lead, sections)
