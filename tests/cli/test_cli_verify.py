"""``olprouting solve --out`` and ``olprouting verify``, as processes see them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from olprouting.cli.solve import solve
from olprouting.cli.verify import verify
from olprouting.errors import InputError
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command()(solve)
app.command()(verify)


def saved(name: str, folder: Path, *options: str) -> Path:
    """Solve an example and save the result."""
    out = folder / f"{name} result.json"
    example = data_folder() / "examples" / f"{name}.json"
    run = CliRunner().invoke(app, ["solve", str(example), "--out", str(out), *options])
    assert run.exit_code == 0, run.output
    return out


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("e1", (), "0"),
        ("e2", ("--solver", "cpsat"), "1"),
        ("e3", (), "44"),
        ("e3", ("--form", "integer", "--prices", "lp-relaxation"), "44"),
    ],
)
def test_what_solve_saves_holds(name, options, value, tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["verify", str(saved(name, tmp_path, *options)), "--json"])
    assert run.exit_code == 0, run.output
    finding = json.loads(run.output)
    assert (finding["holds"], finding["verdict"], finding["value"]) == (True, "optimal", value)


def test_a_tampered_file_fails_with_one_line(tmp_path: Path) -> None:
    """Exit code 1, and what does not hold: on stderr for people, on stdout as JSON."""
    path = saved("e2", tmp_path)
    path.write_text(path.read_text().replace('"objective": 1', '"objective": 2'))
    command = [sys.executable, "-m", "olprouting", "verify", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    reason = "objective: the assignment is worth 1.0 tokens, not 2.0"
    assert run.stderr == f"olprouting: {path} does not hold: {reason}\n"
    shown = CliRunner().invoke(app, ["verify", str(path), "--json"])
    assert shown.exit_code == 1
    assert json.loads(shown.output) == {"holds": False, "reason": reason}


def test_another_instance_is_refused(tmp_path: Path) -> None:
    path, examples = str(saved("e2", tmp_path)), data_folder() / "examples"
    for name, code in (("e2", 0), ("e1", 1)):
        run = CliRunner().invoke(
            app, ["verify", path, "--instance", str(examples / f"{name}.json")]
        )
        assert run.exit_code == code, run.output


def test_what_is_no_certificate_is_bad_input(tmp_path: Path) -> None:
    """The program's one handler of InputError exits with 2."""
    text = tmp_path / "text.json"
    text.write_text("no json")
    for path, reason in (
        (text, "line 1, column 1: not JSON"),
        (tmp_path / "none.json", "cannot be read"),
        (data_folder() / "examples" / "e1.json", "`olprouting solve --out` writes the first"),
    ):
        run = CliRunner().invoke(app, ["verify", str(path)])
        assert isinstance(run.exception, InputError)
        assert reason in str(run.exception)


def test_solve_names_a_file_that_it_cannot_write(tmp_path: Path) -> None:
    example = data_folder() / "examples" / "e1.json"
    out = tmp_path / "no folder" / "out.json"
    run = CliRunner().invoke(app, ["solve", str(example), "--out", str(out)])
    assert isinstance(run.exception, InputError)
    assert "cannot be written" in str(run.exception)
