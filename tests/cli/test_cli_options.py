"""Commands get their options from classes of options: spread out, changed, fixed, and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from olprouting.cli.command import command, option, take
from olprouting.errors import InputError
from olprouting.options import WorkloadOptions
from olprouting.parameters import Options, options, parameter


@options("options", "Shape")
@dataclass(frozen=True)
class Shape(Options):
    """A shape."""

    corners: int = parameter(4, "How many corners.", at_least=3)
    share: float = parameter(0.5, "Which part.", above=0, at_most=1)
    size: int | None = parameter(7, "How large, or any.", at_least=1, words={"any": None})
    filled: bool = parameter(False, "Whether it is filled.")
    name: str = parameter("square", "What it is called.", flag="--called")


CornersOption = Annotated[int | None, option(Shape, "corners", "--corners", "--edges")]


def run(*arguments: str) -> str:
    app = typer.Typer()

    @app.command()
    @command
    def draw(
        word: Annotated[str, typer.Argument()],
        *,
        shape: Annotated[
            Shape,
            take("share", "size", "filled", "name", fixed={"corners": 3}, share={"default": 0.25}),
        ],
        corners: CornersOption = None,
    ) -> None:
        typer.echo(f"{word} {shape} {corners}")

    done = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    return done.output


def test_options_reach_the_function_as_an_object():
    """Catches a default that a command changes, a fixed value and a flag that get lost."""
    plain = "Shape(corners=3, share=0.25, size=7, filled=False, name='square')"
    assert run("x").strip() == f"x {plain} None"
    given = run(
        "x", "--share", "1", "--size", "any", "--filled", "--called", "disc", "--edges", "5"
    )
    assert given.strip() == "x Shape(corners=3, share=1.0, size=None, filled=True, name='disc') 5"


def test_help_names_defaults_and_panel(monkeypatch):
    """Catches an option that is hidden, and a panel that nobody sees."""
    monkeypatch.setenv("COLUMNS", "200")
    text = run("--help")
    for part in ("Shape", "--called", "[default: 0.25]", "[default: 7]", "--no-filled"):
        assert part in text
    assert "--name" not in text


def test_values_out_of_range_are_refused_before_the_function_runs():
    """Catches a range that the command line does not have, and a word of no parameter."""
    with pytest.raises(InputError, match=r"share = 2\.0 must be in \(0, 1\]"):
        run("x", "--share", "2")
    with pytest.raises(InputError, match="--size 'some': expected a number >= 1, or any"):
        run("x", "--size", "some")
    assert "Invalid value for" in run("x", "--corners", "2")


def test_a_changed_parameter_leaves_the_class_as_it_is():
    """Catches a default of one command that becomes that of all."""
    taken = take("requests", requests={"default": 250}).parameters(WorkloadOptions)
    assert [one.default for one in taken] == [250]
    assert WorkloadOptions.parameters["requests"].default is None
