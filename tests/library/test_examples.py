"""Examples by name, and the copy of the lessons."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import olprouting as olp
from olprouting.cli.examples import examples_app
from olprouting.library import copy_lessons

ROOT = Path(__file__).resolve().parents[2]


def test_examples_are_what_they_are_said_to_be() -> None:
    """Catches a file that `example` does not find or reads as the wrong kind; values by hand."""
    assert olp.example_names() == ("e1", "e2", "e3", "low-value-first")
    kinds = [type(olp.example(name)) for name in olp.example_names()]
    assert kinds == [olp.Decision, olp.Decision, olp.PeriodProblem, olp.Trace]
    values = [olp.solve(olp.example(name)).value for name in ("e1", "e2", "e3")]
    assert values == pytest.approx([0, 1, 44])


def test_an_unknown_example_lists_those_that_exist() -> None:
    with pytest.raises(olp.InputError, match="'e9'; known: e1, e2, e3"):
        olp.example("e9")


def test_copy_brings_all_lessons_and_spares_what_is_there(tmp_path: Path) -> None:
    """Catches a lesson left behind, and above all answers that are overwritten."""
    outcome = CliRunner().invoke(examples_app, ["copy", str(tmp_path / "course")])
    assert outcome.exit_code == 0, outcome.output
    notebooks = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks <= {path.name for path in (tmp_path / "course" / "notebooks").iterdir()}
    mine = tmp_path / "course" / "examples" / "e3.json"
    mine.write_text("mine", encoding="utf-8")
    for path in (tmp_path / "course" / "notebooks").iterdir():
        path.unlink()
    with pytest.raises(olp.InputError, match=r"e3\.json is there already|e1\.json is there"):
        copy_lessons(tmp_path / "course")
    assert mine.read_text(encoding="utf-8") == "mine"
    assert not list((tmp_path / "course" / "notebooks").iterdir())


def test_list_names_them() -> None:
    assert CliRunner().invoke(examples_app, ["list"]).output.split() == list(olp.example_names())
