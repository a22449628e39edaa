"""``olprouting solve --out`` and ``olprouting verify``, as processes see them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from olprouting.certificates.many import listing
from olprouting.cli.solve import solve
from olprouting.cli.verify import verify
from olprouting.errors import InputError
from olprouting.library.catalogue import entries as library_entries
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


def test_what_gaps_saves_holds_line_by_line(tmp_path: Path) -> None:
    """Counts by verdict on stdout, the reasons of failures on stderr, exit code 1 if any."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "olprouting"]
    small = ("--workers", "2", "--slots", "4", "--requests", "40", "--waiting", "4")
    made = subprocess.run(
        [*command, "gaps", *small, "--policies", "jsq,br0", "--decisions", "3", "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    path = out / "certificates.jsonl"
    assert f"wrote {path}, for `olprouting verify`" in made.stderr
    run = CliRunner().invoke(app, ["verify", str(path)])
    assert (run.exit_code, run.stdout) == (0, "     3  optimal, proven again\n")
    refused = CliRunner().invoke(app, ["verify", str(path), "--instance", str(path)])
    assert isinstance(refused.exception, InputError)
    lines = path.read_text().splitlines()
    document = json.loads(lines[2])
    document["result"]["bound"] += 1
    path.write_text("\n".join([*lines[:2], json.dumps(document), *lines[3:]]))
    run = CliRunner().invoke(app, ["verify", str(path)])
    assert run.exit_code == 1
    assert run.stdout == "     2  optimal, proven again\n     1  do not hold\n"
    assert run.stderr.startswith(f"olprouting: {path}, line 3 does not hold: bound ")
    shown = CliRunner().invoke(app, ["verify", str(path), "--json"])
    assert shown.exit_code == 1
    assert json.loads(shown.stdout)["failures"][0]["line"] == 3
    path.write_text("\n".join(lines[1:]))
    run = CliRunner().invoke(app, ["verify", str(path)])
    assert run.exit_code == 1
    assert run.stdout == "     2  optimal, proven again\n     1  missing\n"
    assert run.stderr.startswith(
        f"olprouting: {path} lacks line 1 as written (jsq, br0, iteration "
    )


def unproven() -> dict[str, Any]:
    """A result whose bound nobody can redo in short time, with a choice as good as it."""
    document = library_entries()["gaps-g8-p40-h20"].certificate("imbalance")
    value = document["result"]["objective"]
    choice = {"policy": "x", "iteration": 1, "value_tokens": value, "gap_tokens": 0.0}
    return document | {"choices": [choice | {"assignment": document["result"]["assignment"]}]}


def test_strict_fails_on_what_is_not_checked_and_on_nothing_else(tmp_path: Path) -> None:
    """Times and versions do not count: then it would fail on every file. A bound that rests on the
    solver does, with what follows from it; so do prices that nobody showed to be the only ones."""
    proven = str(saved("e2", tmp_path))
    assert CliRunner().invoke(app, ["verify", proven, "--strict"]).exit_code == 0
    resting = tmp_path / "resting.json"
    resting.write_text(json.dumps(unproven()))
    for path, claims in (
        (resting, "bound, status, choices.gap_tokens"),
        (saved("e3", tmp_path), "priced.unique"),
    ):
        assert CliRunner().invoke(app, ["verify", str(path)]).exit_code == 0
        run = CliRunner().invoke(app, ["verify", str(path), "--strict", "--json"])
        assert run.exit_code == 1
        assert json.loads(run.stdout)["holds"]
        assert run.stderr == f"olprouting: {path}: --strict: not checked: {claims}\n"


def test_strict_counts_the_lines_that_are_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "certificates.jsonl"
    lines = [json.dumps(unproven())]
    path.write_text("\n".join([*lines, json.dumps(listing(lines))]))
    run = CliRunner().invoke(app, ["verify", str(path), "--json"])
    assert (run.exit_code, json.loads(run.stdout)["not_checked"]) == (0, 1)
    run = CliRunner().invoke(app, ["verify", str(path), "--strict"])
    assert run.exit_code == 1
    said = "--strict: claims of 1 certificates are not checked"
    assert run.stderr.endswith(f"olprouting: {path}: {said}\n")


def test_a_schema_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    """Regression: a list in place of the schema ended in a traceback."""
    path = tmp_path / "schema.json"
    for schema in ([1], {"a": 1}, 7, None, "x" * 10_000):
        path.write_text(json.dumps({"schema": schema}))
        run = CliRunner().invoke(app, ["verify", str(path)])
        assert isinstance(run.exception, InputError)
        assert len(str(run.exception)) < 400


def test_a_hindsight_result_for_another_problem_is_refused(tmp_path: Path) -> None:
    """The named instance, as `olprouting instances export` writes it, is what it must be for."""
    known = library_entries()["hindsight-tiny"]
    result, instance = tmp_path / "hindsight.json", tmp_path / "problem.json"
    result.write_text(json.dumps(known.certificate("hindsight")))
    for name, code in (("hindsight-tiny", 0), ("hindsight-tiny-mixed", 1)):
        instance.write_text(library_entries()[name].text())
        run = CliRunner().invoke(app, ["verify", str(result), "--instance", str(instance)])
        assert run.exit_code == code, run.output
