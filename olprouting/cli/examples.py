"""``olprouting examples``: the lessons and the tiny examples, copied to where one works."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import Annotated

import typer

examples_app = typer.Typer(
    name="examples", help="Lessons as notebooks, and tiny examples.", no_args_is_help=True
)


@examples_app.command()
def copy(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if missing.")],
) -> None:
    """Copy the notebooks to DIR/notebooks and the examples to DIR/examples."""
    from olprouting.library import copy_lessons

    written = copy_lessons(folder)
    typer.echo(f"{len(written)} files in {folder}; start with {folder / 'notebooks' / 'README.md'}")


@examples_app.command("list")
def list_examples() -> None:
    """List the names that `olprouting.example` takes."""
    from olprouting.library import example_names

    typer.echo("\n".join(example_names()))
