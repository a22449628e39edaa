"""The commands `solve` and `doctor`, through Typer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from olprouting.cli.doctor import doctor
from olprouting.cli.solve import solve
from olprouting.errors import InputError
from olprouting.exact.backend import Outcome
from olprouting.exact.highs import Highs
from olprouting.instances import Decision, DecisionResult, StopReason

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command()(solve)
app.command()(doctor)


@pytest.fixture
def e2_file(e2: Decision, tmp_path: Path) -> Path:
    path = tmp_path / "e2.json"
    path.write_text(e2.to_json(), encoding="utf-8")
    return path


def test_solve_prints_the_result(e2_file: Path) -> None:
    run = CliRunner().invoke(app, ["solve", str(e2_file), "--time-limit", "30"])
    assert run.exit_code == 0, run.output
    rows = dict(line.split(maxsplit=1) for line in run.output.splitlines())
    assert (rows["status"], rows["objective_tokens"], rows["bound_tokens"]) == ("optimal", "1", "1")
    assert json.loads(rows["assignment"]) == [[0, 2], [1, 1], [2, 2]]
    assert {"wall_s", "build_s", "relative_gap"} <= set(rows)


def test_solve_prints_json_and_exports(e2_file: Path, tmp_path: Path) -> None:
    model = tmp_path / "e2.lp"
    arguments = ["solve", str(e2_file), "--solver", "cpsat", "--json", "--export", str(model)]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code == 0, run.output
    assert DecisionResult.from_json(run.output).value == 1
    assert "admit_s5_w2" in model.read_text()


def test_solve_says_who_solved_it(tmp_path: Path) -> None:
    """An optimum by another solver than asked for, without a word, misleads a comparison."""
    large = tmp_path / "large.json"
    large.write_text(Decision([[2**33 + 1], [0]], [1, 1], [2**32, 7, 9]).to_json())
    run = CliRunner().invoke(app, ["solve", str(large), "--solver", "highs"])
    assert run.exit_code == 0
    assert "note: highs proves nothing with numbers of up to 8.59e+09, native solved it" in (
        run.stderr
    )


def test_solve_fails_when_the_solver_does(e2_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver whose answer does not stand must not end with exit code 0."""
    wrong = Outcome(StopReason.OPTIMAL, ((0, 2), (1, 0), (2, 1)), 99, 0.0, 0.0, "so I say")
    monkeypatch.setattr(Highs, "run", lambda *_: wrong)
    run = CliRunner().invoke(app, ["solve", str(e2_file), "--solver", "highs"])
    assert run.exit_code == 2
    assert "highs: so I say; highs claims a bound of 99, but a rechecked" in run.stderr


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    # the command leaves InputError to the program's one handler, which exits with 2
    run = CliRunner().invoke(app, ["solve", str(tmp_path / "none.json")])
    assert isinstance(run.exception, InputError)
    assert "none.json: cannot be read" in str(run.exception)


def test_doctor_finds_every_installed_solver_working() -> None:
    run = CliRunner().invoke(app, ["doctor", "--json"])
    findings = json.loads(run.output)
    assert run.exit_code == 0, findings
    assert findings["healthy"]
    assert findings["versions"]["highspy"]
    tried = {(c["solver"], c["program"]) for c in findings["solvers"] if c["installed"]}
    assert {
        ("highs", "size-class"),
        ("highs", "assignment"),
        ("cpsat", "size-class"),
        ("highs", "period lp"),
    } <= tried


def test_doctor_fails_when_an_installed_solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    # a broken installation cannot be had here, so one solver's answer is replaced
    monkeypatch.setattr("olprouting.cli.doctor._e1", lambda *_: "RuntimeError: broken")
    run = CliRunner().invoke(app, ["doctor"])
    assert run.exit_code == 1
    assert "broken" in run.output
