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
from olprouting.instances import Decision, SolveResult

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
    assert SolveResult.from_json(run.output).objective == 1
    assert "admit_s5_w2" in model.read_text()


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
