"""Whatever fails costs that part alone: the rest is saved and printed, and one line says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.errors import InputError
from olprouting.locks import only_writer

if TYPE_CHECKING:
    from click.testing import Result

LATE = """
n = 0


def f(view, rng):
    global n
    n += 1
    if n > 5:
        raise RuntimeError("boom")
    free = [g for g, c in enumerate(view.free_slots) for _ in range(c)]
    return list(enumerate(free[: view.admissions]))
"""

SMALL = ["--requests", "40", "--slots", "4"]
GAPS = ["gaps", *SMALL, "--workers", "2", "--waiting", "4", "--decisions", "2"]
PERIODS = ["--workers", "2", "--kv-tokens", "9000", "--periods", "60"]

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full of Linux")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def problems(result: Result) -> list[str]:
    """Return what stderr says of failures; a traceback would be an exception of the runner."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    return [line for line in result.stderr.splitlines() if line.startswith("olprouting: ")]


@pytest.fixture
def late(tmp_path):
    """A policy of the user's that raises at its sixth decision."""
    (tmp_path / "late.py").write_text(LATE)
    return f"{tmp_path / 'late.py'}:f"


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (GAPS, "gaps.csv"),
        (["prices", *SMALL, *PERIODS, "--sample", "1"], "runs.csv"),
    ],
)
def test_a_policy_that_raises_costs_its_own_rows_only(command, table, late, tmp_path):
    """Catches the loss of the policies that were finished: nothing printed, nothing saved."""
    out = tmp_path / "out"
    result = run(*command, "--policies", f"jsq,{late},round-robin", "--out", str(out))
    (problem,) = problems(result)
    assert f"policy {late!r} raised at decision 6" in problem
    assert "RuntimeError: boom (late.py, line 9)" in problem
    policies = pd.read_csv(out / table)["policy"].tolist()
    assert [name for name in policies if name not in ("bid-price", "prices-0")] == [
        "jsq",
        "round-robin",
    ]
    assert "round-robin" in result.stdout
    assert late not in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["hindsight", *SMALL, *PERIODS, "--time-limit", "0"],
        ["hindsight", "--objective", "imbalance", "--requests", "12", "--time-limit", "0"],
    ],
)
def test_hindsight_rates_the_policies_that_do_not_raise(command, late, tmp_path):
    """Catches the loss of the bound, and of the policies that were finished."""
    result = run(*command, "--policies", f"jsq,{late},round-robin", "--out", str(tmp_path / "out"))
    (problem,) = problems(result)
    assert f"policy {late!r} raised at decision 6" in problem
    assert "round-robin" in result.stdout
    assert list((tmp_path / "out").glob("hindsight*.json"))


def test_a_policy_that_raises_alone_is_one_line_and_exit_code_2(late):
    """Catches tracebacks where nothing is left to be reported."""
    for command in (["simulate", *SMALL, "--policy", late], [*GAPS, "--policies", late]):
        result = run(*command)
        assert isinstance(result.exception, InputError), result.exception
        assert "raised at decision 6" in str(result.exception)


def test_a_run_that_is_lost_with_its_tables_says_so(late, tmp_path):
    """Catches the silent lack of a series that was asked for."""
    series = tmp_path / "s.csv"
    result = run("simulate", *SMALL, "--policy", late, "--series", str(series))
    assert str(result.exception).endswith("(late.py, line 9); nothing of this run is saved")
    assert not series.exists()


def test_a_folder_that_is_deleted_in_mid_run_is_made_again(tmp_path):
    """Catches results that are lost because somebody tidied up."""
    out = tmp_path / "out"
    (tmp_path / "tidy.py").write_text(
        LATE.replace('raise RuntimeError("boom")', f"shutil.rmtree({str(out)!r}, True)").replace(
            "n = 0", "import shutil\nn = 0"
        )
    )
    result = run(*GAPS, "--policies", f"jsq,{tmp_path / 'tidy.py'}:f", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert (out / "gaps.csv").is_file()
    assert (out / "certificates.jsonl").is_file()


@full
def test_files_that_find_no_room_are_named_and_all_else_is_there(tmp_path):
    """Catches a full disk at the second of six files: a traceback, no table, no certificates."""
    for name in ("decisions.csv", "gaps.svg"):
        (tmp_path / name).symlink_to("/dev/full")
    result = run(*GAPS, "--policies", "jsq", "--out", str(tmp_path))
    (problem,) = problems(result)
    assert "cannot write decisions.csv, gaps.svg (No space left on device)" in problem
    assert "jsq" in result.stdout
    for name in ("gaps.csv", "gaps.json", "decisions.parquet", "certificates.jsonl"):
        assert (tmp_path / name).is_file()
        assert f"wrote {tmp_path / name}" in result.stderr


@full
@pytest.mark.parametrize(
    "command",
    [
        ["simulate", *SMALL, "--series", "full.csv", "--requests-out", "other.csv"],
        ["solve", "e1.json", "--out", "full.json", "--export", "other.lp"],
        ["forecast", "train", "--requests", "40", "--horizon", "5", "--out", "full.json"],
    ],
)
def test_a_single_file_that_finds_no_room_costs_nothing_else(command, e1, tmp_path, monkeypatch):
    """Catches commands that print nothing because they could not save it."""
    monkeypatch.chdir(tmp_path)
    Path("e1.json").write_text(e1.to_json())
    for suffix in ("csv", "json"):
        Path(f"full.{suffix}").symlink_to("/dev/full")
    result = run(*command)
    (problem,) = problems(result)
    assert "full." in problem
    assert "No space left on device" in problem
    assert result.stdout
    for other in set(command) & {"other.csv", "other.lp"}:
        assert Path(other).is_file()


def test_a_second_command_into_the_same_place_is_refused(e1, tmp_path):
    """Catches two runs that write into one another's folder, or file."""
    example = tmp_path / "e1.json"
    example.write_text(e1.to_json())
    out = str(tmp_path / "out")
    series = str(tmp_path / "series.csv")
    Path(out).mkdir()
    for command, target in (
        ([*GAPS, "--out", out], out),
        (["prices", "--out", out], out),
        (["hindsight", "--out", out], out),
        (["hindsight", "--objective", "imbalance", "--out", out], out),
        (["forecast", "evaluate", "--out", out], out),
        (["forecast", "train", "--out", f"{out}/model.json"], f"{out}/model.json"),
        (["simulate", "--series", series], series),
        (["solve", str(example), "--out", f"{out}/r.json"], f"{out}/r.json"),
        (["instances", "export", "e1", "--out", f"{out}/i.json"], f"{out}/i.json"),
        (["traces", "convert", "azure-2023-conv-like", series], series),
    ):
        with only_writer(Path(target)):
            result = run(*command)
        assert isinstance(result.exception, InputError), (command, result.output)
        assert "another command is writing there" in str(result.exception)


def test_the_report_names_the_policies_that_failed(late):
    """Catches a JSON document that passes for the whole answer."""
    result = run(*GAPS, "--policies", f"jsq,{late}", "--json")
    (failure,) = json.loads(result.stdout)["failures"]
    assert "raised at decision 6" in failure


@pytest.mark.parametrize(
    "command",
    [
        ["solve", "m.json", "--out", "m.json"],
        ["solve", "m.json", "--out", "link.json"],
        ["solve", "m.json", "--export", "m.json"],
        ["solve", "m.json", "--out", "new.lp", "--export", "./new.lp"],
        ["solve", "m.json", "--out", "-"],
        ["simulate", *SMALL, "--trace", "in.csv", "--requests-out", "in.csv"],
        ["simulate", "--replay", "in.csv", "--series", "in.csv"],
        ["simulate", *SMALL, "--series", "new.csv", "--requests-out", "./new.csv"],
        ["traces", "convert", "in.csv", "in.csv"],
        ["forecast", "train", "--trace", "in.csv", "--out", "in.csv"],
    ],
)
def test_a_command_never_writes_over_what_it_reads(command, e1, tmp_path, monkeypatch):
    """Catches the loss of the user's file, and of one of two results in one file."""
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(e1.to_json())
    Path("link.json").hardlink_to("m.json")
    Path("in.csv").write_text("arrival_s,prompt_tokens,decode_tokens\n0,5,5\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = run(*command)
    assert isinstance(result.exception, InputError), result.output
    assert "another file" in str(result.exception) or "go to a file" in str(result.exception)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_policy_that_changes_the_folder_does_not_move_the_results(tmp_path, monkeypatch):
    """Catches results in a folder that the user did not name."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moves.py").write_text(
        LATE.replace("n = 0", "import os\nn = 0", 1).replace(
            'raise RuntimeError("boom")', f"os.chdir({str(tmp_path / 'elsewhere')!r})"
        )
    )
    for command, file in (
        ([*GAPS, "--policies", "moves.py:f", "--out", "out"], "out/gaps.csv"),
        (["simulate", *SMALL, "--policy", "moves.py:f", "--series", "s.csv"], "s.csv"),
    ):
        monkeypatch.chdir(tmp_path)
        result = run(*command)
        assert result.exit_code == 0, result.output
        assert (tmp_path / file).is_file()
    assert not list((tmp_path / "elsewhere").iterdir())
