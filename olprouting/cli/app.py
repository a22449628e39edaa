"""The command `olprouting`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from olprouting.cli.doctor import doctor
from olprouting.cli.examples import examples_app
from olprouting.cli.forecast import forecast_app
from olprouting.cli.gaps import gaps
from olprouting.cli.hindsight import hindsight
from olprouting.cli.instances import instances_app
from olprouting.cli.interrupts import exit_on_interrupt
from olprouting.cli.prices import prices
from olprouting.cli.progress import compilation_shown, never_silent
from olprouting.cli.simulate import simulate
from olprouting.cli.solve import solve
from olprouting.cli.study import study_app
from olprouting.cli.theory import theory
from olprouting.cli.traces import traces_app
from olprouting.cli.verify import verify
from olprouting.errors import InputError
from olprouting.files import reason

BAD_INPUT = 2

app = typer.Typer(
    name="olprouting",
    help="Route LLM requests to decode workers: exact models, fast policies, and the gap between.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(gaps)
app.command()(hindsight)
app.command()(prices)
app.command()(simulate)
app.command()(solve)
app.command()(theory)
app.add_typer(examples_app)
app.add_typer(forecast_app)
app.add_typer(instances_app)
app.add_typer(traces_app)
app.add_typer(study_app)
app.command()(verify)
app.command()(doctor)


def _print_version(asked: bool) -> None:
    if asked:
        from olprouting.versions import __version__

        typer.echo(f"olprouting {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    del version  # the eager callback has answered


def main() -> None:
    """Run the command line.

    Bad input, and what the system refuses, is one line on stderr and exit code 2; Ctrl-C ends with
    code 130.
    """
    with exit_on_interrupt(), never_silent(), compilation_shown():
        try:
            app()
        except InputError as error:
            typer.echo(f"olprouting: {error}", err=True)
            sys.exit(BAD_INPUT)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            typer.echo(f"olprouting: {place}{reason(error)}", err=True)
            sys.exit(BAD_INPUT)
