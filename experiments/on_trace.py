"""Run a study of this folder on other traces than those it names."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.errors import InputError
from olprouting.studies import read_study, run_study
from olprouting.studies.definition import study_of

if TYPE_CHECKING:
    from olprouting.studies import Study


def on_traces(study: Study, traces: list[str]) -> Study:
    """Return a study with other sources of requests.

    Parameters
    ----------
    study
        The study.
    traces
        Files, or names that `olprouting traces list` knows; relative paths start from the current
        folder.
    """
    document = dict(study.document)
    document["grid"] = {**document.get("grid", {}), "source": traces}
    document["trace"] = {k: v for k, v in document.get("trace", {}).items() if k != "source"}
    document["name"] = f"{study.name}-on-trace"
    return study_of(document, Path.cwd())


def main(
    file: Annotated[Path, typer.Argument(help="The study, a TOML file.")],
    trace: Annotated[list[str], typer.Option(help="A file or a name; may be given repeatedly.")],
    reduced: Annotated[bool, typer.Option("--reduced", help="Run the small form.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for results.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes.")] = None,
) -> None:
    """Run a study on the traces given; a finished part is not computed again."""
    try:
        study = on_traces(read_study(file, reduced=reduced), trace)
        status = run_study(
            study,
            out or Path("results") / study.name,
            jobs=jobs,
            command=shlex.join(sys.argv),
        )
    except InputError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    typer.echo(status.summary())
    typer.echo(f"wrote {status.folder}", err=True)
    if status.interrupted:
        raise typer.Exit(130)
    if status.failures:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
