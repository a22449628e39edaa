"""`olprouting hindsight --objective imbalance`: real processes, exit codes, one-line errors."""

from __future__ import annotations

import json

import pytest
from child_processes import needs_sigint, python
from command_line import olprouting

IMBALANCE = ["hindsight", "--objective", "imbalance"]

INTERRUPTED_SEARCH = """
import os, signal
from olprouting.hindsight.imbalance.search import RunSearch
from olprouting.__main__ import main

go_on = RunSearch.go_on

def interrupted(self, steps):
    done = go_on(self, steps)
    os.kill(os.getpid(), signal.SIGINT)
    return done

RunSearch.go_on = interrupted
main()
"""


def run(*arguments: str):
    return olprouting(*arguments)


def test_the_default_is_solved_policies_are_rated_and_the_saved_proof_holds(tmp_path):
    out = tmp_path / "out"
    done = run(*IMBALANCE, "--policies", "jsq,br0", "--out", str(out))
    assert done.returncode == 0, done.stderr
    for word in (
        "9 requests on 2 workers x 2 slots",
        "tokens, proven",
        "jsq",
        "br0",
        "of the bound",
    ):
        assert word in done.stdout
    assert {path.suffix for path in out.iterdir()} == {
        *(".json", ".csv", ".parquet", ".svg", ".pdf", ".html")
    }
    checked = run("verify", str(out / "hindsight_imbalance.json"))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "optimal, proven again" in checked.stdout


def test_no_policy_beats_the_run_found_even_when_there_is_no_time():
    """Catches a search that does not begin with the policies' runs: alone it is worse than br0."""
    size = ["--requests", "150", "--workers", "4", "--slots", "8"]
    done = run(*IMBALANCE, *size, "--time-limit", "0", "--policies", "jsq,br0", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["objective"], document["stop_reason"]) == ("imbalance", "time_limit")
    assert 0 < document["bound_tokens"] <= document["total_tokens"]
    for policy in document["policies"]:
        assert policy["total_tokens"] >= document["total_tokens"]
        assert policy["ratio"] == policy["total_tokens"] / document["bound_tokens"] >= 1


@needs_sigint
def test_ctrl_c_prints_and_saves_the_best_run_and_a_bound(tmp_path):
    arguments = ["--requests", "40", "--out", str(tmp_path), "--json"]
    done = python(INTERRUPTED_SEARCH, *IMBALANCE, *arguments)
    assert done.returncode == 130, done.stderr
    document = json.loads(done.stdout)
    assert document["stop_reason"] == "interrupted"
    assert 0 < document["bound_tokens"] <= document["total_tokens"]
    assert run("verify", str(tmp_path / "hindsight_imbalance.json")).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--kv-tokens", "20000"], "--kv-tokens belongs to --objective reward"),  # the default too
        (["--gap", "0.1"], "--gap belongs to --objective reward"),
        (["--weights", "requests"], "--weights belongs to --objective reward"),
        (["--policies", "bid-price"], "bid-price may leave a slot free while requests wait"),
        (["--policies", "no-such"], "unknown policy"),
        (["--requests", "2001"], "take fewer requests"),
        (["--rate", "0"], "rate"),
        (["--objective", "balance"], "unknown objective 'balance'; known: imbalance, reward"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, complaint):
    done = run(*IMBALANCE, *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""
