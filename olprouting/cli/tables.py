"""Tables the commands print, and those they read."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import typer

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from olprouting.report import Report


WIDTH = 80
"""Columns that text takes: those of an ordinary terminal."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `olprouting.files.write_table` wrote.

    Raises
    ------
    InputError
        If the file is missing or not such a table.
    """
    import pandas as pd

    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, engine="pyarrow")  # exact floats in every pandas
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the table: {error}") from None


def show_report(report: Report, *, as_json: bool, details: bool = False) -> None:
    """Print what a question found: findings and tables on stdout, notes on stderr.

    Parameters
    ----------
    report
        The report.
    as_json
        Whether its document is printed instead.
    details
        Whether tables of details are printed too.
    """
    if as_json:
        typer.echo(json.dumps(report.to_document()))
    else:
        _print_report(report, details=details)
    show_warnings(report)


def show_warnings(report: Report) -> None:
    """Print on stderr what must not be overlooked."""
    for warning in report.warnings():
        typer.secho(f"WARNING: {warning}", err=True, bold=True)


def _print_report(report: Report, *, details: bool) -> None:
    for paragraph in filter(None, (report.heading(), *report.findings())):
        typer.echo(_wrapped(paragraph))
    typer.echo()
    for table in report.tables():
        if details or not table.detail:
            print_table(table.title, table.labels, table.columns, table.caption)
    for note in report.notes():
        typer.echo(f"note: {note}", err=True)
    if report.interrupted:
        typer.echo("interrupted: the tables hold what was finished", err=True)


def _wrapped(text: str) -> str:
    """Return text whose lines fit a terminal; what follows the first is indented."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def print_table(
    title: str,
    labels: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    caption: str,
) -> None:
    """Print a compact table on stdout.

    Parameters
    ----------
    title, caption
        Above and below it.
    labels, columns
        Cells by heading: the first label to the left, all others to the right.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    for place, heading in enumerate(labels):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for heading in columns:
        table.add_column(f" {heading}", justify="right", no_wrap=True)
    for cells in zip(*labels.values(), *columns.values(), strict=True):
        table.add_row(*cells)
    Console(markup=False).print(table)  # names are no markup
    if caption:
        lines = (textwrap.fill(line, WIDTH, break_on_hyphens=False) for line in caption.split("\n"))
        typer.echo("\n".join(lines) + "\n")
