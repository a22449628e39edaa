"""`olprouting hindsight` as a user meets it: real processes, exit codes, one-line errors."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from child_processes import COMMAND_LINE, finish, needs_sigint, start
from command_line import olprouting

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parents[2]

SMALL = [
    *("--requests", "30", "--workers", "2", "--slots", "4", "--kv-tokens", "9000"),
    *("--periods", "300", "--rate", "0.2"),
]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return olprouting(*arguments)


def test_bound_schedule_and_policies_are_printed_and_the_saved_result_verifies(tmp_path):
    out = tmp_path / "out"
    policies = ("--policies", "jsq,bid-price")
    done = run("hindsight", *SMALL, *policies, "--time-limit", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    for word in ("bound", "schedule", "apart", "jsq", "bid-price", "of the optimum"):
        assert word in done.stdout
    assert "weak duality" in done.stderr
    names = {path.name for path in out.iterdir()}
    assert {"hindsight.html", "policies.svg", "closing.pdf", "hindsight_policies.parquet"} <= names
    assert "hindsight.json" in {path.name for path in out.iterdir()}
    checked = run("verify", str(out / "hindsight.json"))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_questions_of_the_guide_are_answered_by_its_example():
    """Catches a guide that quotes words which the command does not print."""
    guide = (ROOT / "docs" / "how-to-read-hindsight.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ olprouting (.*)$", guide, re.MULTILINE)
    done = run(*command.split())
    assert done.returncode == 0, done.stderr
    rows = [line for line in guide.splitlines() if line.startswith("| ") and "?" in line]
    assert len(rows) == 10
    said = " ".join((done.stdout + done.stderr).split())
    for row in rows:
        for words in re.findall("`([^`]+)`", row):
            assert words.startswith("olprouting verify") or words in said, words


def test_json_is_all_that_stands_on_stdout():
    done = run("hindsight", *SMALL, "--time-limit", "0.2", "--policies", "jsq", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["bound"] >= document["value"] > 0
    assert 0 < document["policies"][0]["ratio"] <= 1


@needs_sigint
def test_ctrl_c_prints_what_there_is():
    arguments = ["hindsight", *SMALL, "--gap", "0", "--time-limit", "300"]
    process = start(COMMAND_LINE, *arguments)
    try:
        time.sleep(4)  # in the search, or still importing: then there is nothing to print
        process.send_signal(signal.SIGINT)
        stdout, _ = finish(process)
    finally:
        process.kill()
    assert process.returncode == 130
    assert not stdout or "interrupted" in stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--weights", "no-such"], "unknown weight set"),
        (["--policies", "no-such"], "unknown policy"),
        (["--policies", "jsq,br0"], "br0 weighs loads and cannot respect KV limits"),
        (["--t1", "0"], "t1"),
        (["--rate", "0"], "rate"),
        (["--trace", "no-such.csv"], "no-such.csv"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, complaint):
    done = run("hindsight", *SMALL, "--time-limit", "0", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""


def test_help_states_the_kv_limit_that_holds_by_default():
    done = run("hindsight", "--help")
    assert done.returncode == 0, done.stderr
    assert "20000" in done.stdout
    assert "no limit" not in done.stdout
