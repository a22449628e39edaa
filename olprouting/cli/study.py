"""`olprouting study`: run, follow and report parameter studies."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from olprouting.cli.saving import Saving

study_app = typer.Typer(
    name="study", help="Run a grid of cells from a TOML file; report it.", no_args_is_help=True
)

FileArgument = Annotated[Path, typer.Argument(help="The study, a TOML file.", show_default=False)]
FolderArgument = Annotated[Path, typer.Argument(help="Folder of a study.", show_default=False)]
JobsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Processes; one per core by default.", show_default=False),
]
DaskOption = Annotated[
    str | None,
    typer.Option(help="Address of a Dask scheduler, or local.", show_default=False),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Folder for results; results/NAME by default.", show_default=False),
]
ReducedOption = Annotated[
    bool, typer.Option("--reduced", help="Run the small form: the table reduced.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Go on although the trace has changed since.")
]


@study_app.command()
def run(
    file: FileArgument,
    jobs: JobsOption = None,
    dask: DaskOption = None,
    out: OutOption = None,
    reduced: ReducedOption = False,
    force: ForceOption = False,
) -> None:
    """Run all cells of a study that are not finished yet; Ctrl-C leaves it resumable."""
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.studies import read_study, run_study

    study = read_study(file, reduced=reduced)
    warn_if_interpreted()
    with progress_bar() as advance:
        status = run_study(
            study,
            (out or Path("results") / study.name).absolute(),  # a policy may change the folder
            jobs=jobs,
            dask=dask,
            force=force,
            study_file=file,
            command=shlex.join(["olprouting", *sys.argv[1:]]),
            on_progress=advance,
        )
    typer.echo(status.summary())
    typer.echo(f"wrote {status.folder}", err=True)
    problems = list(status.problems)
    if status.failures:
        problems.append(f"{len(status.failures)} cells failed; the same command runs them again")
    Saving().end(problems, interrupted=status.interrupted)


@study_app.command()
def status(folder: FolderArgument) -> None:
    """Say how many cells are finished, and which failed."""
    from olprouting.studies import study_status

    typer.echo(study_status(folder).summary())


@study_app.command()
def report(folder: FolderArgument) -> None:
    """Write tables (Markdown, CSV, LaTeX), figures and one HTML page to FOLDER/report."""
    from olprouting.studies import study_report

    for path in study_report(folder).files:
        typer.echo(path)
