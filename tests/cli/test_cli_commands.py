"""The command line as a user meets it: exit codes, one-line errors."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from child_processes import COMMAND_LINE, finish, needs_sigint, python, start, wait_for_word
from command_line import olprouting

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from olprouting.instances import Decision

SMALL = ["--requests", "60", "--workers", "2", "--slots", "6", "--waiting", "4"]


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return olprouting(*arguments, cwd=cwd)


def test_gaps_prints_tables_and_writes_files(tmp_path):
    out = tmp_path / "out"
    done = run("gaps", *SMALL, "--horizon", "5", "--decisions", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    for name in ("random", "round-robin", "power-of-two", "jsq", "least-load", "br0", "brh"):
        assert name in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "certificates.jsonl",
        "decisions.csv",
        "decisions.parquet",
        "gaps.csv",
        "gaps.html",
        "gaps.json",
        "gaps.parquet",
        "gaps.pdf",
        "gaps.svg",
        "imbalance.pdf",
        "imbalance.svg",
        "replications.csv",
        "replications.parquet",
        "runs.csv",
        "runs.parquet",
    ]


def test_gaps_json_is_all_that_stands_on_stdout():
    done = run("gaps", *SMALL, "--policies", "jsq,br0", "--decisions", "3", "--json")
    document = json.loads(done.stdout)
    assert [row["policy"] for row in document["policies"]] == ["jsq", "br0"]
    assert document["settings"]["slots"] == [6, 6]


def test_a_users_function_is_a_policy_by_file_and_name(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def fill(view, rng):\n"
        "    free = [g for g, c in enumerate(view.free_slots) for _ in range(c)]\n"
        "    return list(enumerate(free[: view.admissions]))\n"
    )
    done = run("simulate", "--policy", "mine.py:fill", *SMALL, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finished"] == 60


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_simulate_export_replay_gives_the_same_run(tmp_path, suffix):
    exported = str(tmp_path / f"requests.{suffix}")
    again = str(tmp_path / f"again.{suffix}")
    arrivals = ["--arrivals", "poisson:3.5"]
    first = run("simulate", "--policy", "br0", *SMALL, *arrivals, "--requests-out", exported)
    second = run(
        "simulate", "--replay", exported, "--workers", "2", "--slots", "6", "--requests-out", again
    )
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    columns = ["worker", "admission_iteration", "first_token_s", "finish_s"]
    pd.testing.assert_frame_equal(read(exported)[columns], read(again)[columns], check_exact=True)


def test_the_series_is_thinned_by_every(tmp_path):
    full, thin = str(tmp_path / "full.parquet"), str(tmp_path / "thin.parquet")
    run("simulate", "--policy", "jsq", *SMALL, "--series", full)
    run("simulate", "--policy", "jsq", *SMALL, "--series", thin, "--every", "10")
    whole = pd.read_parquet(full)
    assert whole["iteration"].tolist() == list(range(1, len(whole) + 1))
    pd.testing.assert_frame_equal(whole.iloc[::10].reset_index(drop=True), pd.read_parquet(thin))


def test_simulate_exact_says_how_many_decisions_were_proven():
    done = run(
        "simulate",
        "--policy",
        "exact",
        "--horizon",
        "0",
        "--requests",
        "30",
        "--workers",
        "2",
        "--slots",
        "4",
        "--waiting",
        "3",
        "--json",
    )
    row = json.loads(done.stdout)
    assert row["decisions"] == row["decisions_proven"] > 0


def test_solve_reads_a_decision_file_and_prints_the_optimum(tmp_path, e2: Decision):
    file = tmp_path / "e2 with a space.json"
    file.write_text(e2.to_json())
    done = run("solve", str(file), "--json")
    result = json.loads(done.stdout)
    assert (result["status"], result["objective"], result["bound"]) == ("optimal", 1, 1)


BAD_INPUT = {
    "unknown policy": (["simulate", "--policy", "jqs"], "Did you mean 'jsq'"),
    "unknown solver": (["gaps", *SMALL, "--solver", "gruobi"], "gruobi"),
    "unknown preset": (["simulate", "--step-time", "h100"], "llama-3-8b-a100-tp1"),
    "unknown forecast": (["simulate", "--forecast", "crystal"], "oracle"),
    "unknown arrivals": (["simulate", "--arrivals", "poison:1"], "poisson:RATE"),
    "missing trace": (["gaps", "--trace", "no such file.csv"], "no such file.csv"),
    "missing decision": (["solve", "no such file.json"], "no such file.json"),
    "bad gamma": (["gaps", *SMALL, "--gamma", "1.5"], "gamma = 1.5 must be in (0, 1]"),
    "bad decisions": (["gaps", *SMALL, "--decisions", "some"], "a number >= 1, or all"),
    "bad suffix": (["simulate", *SMALL, "--series", "series.txt"], "series.txt"),
    "bad function": (["simulate", "--policy", "nowhere.py:f"], "nowhere.py:f"),
    "no replay table": (["simulate", "--replay", "no such run.csv"], "no such run.csv"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_code_2(case, tmp_path):
    arguments, message = BAD_INPUT[case]
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_cannot_be_written_stops_before_any_work(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    done = run("gaps", "--requests", "1000000000", "--out", str(blocker / "out"))
    assert done.returncode == 2
    assert "cannot write there" in done.stderr


@needs_sigint
def test_ctrl_c_prints_what_is_finished_and_exits_130(tmp_path):
    command = ["gaps", "--policies", "jsq,random", "--requests", "20000", "--decisions", "all"]
    limits = ["--time-limit", "0.05", "--out", "out"]
    process = start(COMMAND_LINE, *command, *limits, cwd=tmp_path)
    wait_for_word(process, "still at solve: ")  # in the first of some thousand solves
    process.send_signal(signal.SIGINT)
    stdout, stderr = finish(process)
    assert process.returncode == 130
    assert "interrupted: the tables hold what was finished" in stderr
    assert "jsq" in stdout
    assert (tmp_path / "out" / "decisions.csv").exists()


def test_every_public_name_exists_and_stays_what_it_is():
    code = (
        "import olprouting as olp\n"
        "first = {name: getattr(olp, name) for name in olp.__all__}\n"
        "import olprouting.gaps, olprouting.engine, olprouting.exact, olprouting.traces\n"
        "assert all(getattr(olp, name) is thing for name, thing in first.items())\n"
    )
    assert python(code).returncode == 0
