"""`olprouting theory` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from command_line import olprouting

from olprouting.theory import constants, stationary_imbalance

if TYPE_CHECKING:
    import subprocess


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return olprouting("theory", *arguments)


def test_tables_say_what_is_certified_and_what_is_not():
    setting = ["--prompt-law", "uniform:1:100", "--p", "0.05", "--workers", "4", "--slots", "8"]
    done = run(*setting, "--details")
    assert done.returncode == 0, done.stderr
    for word in ("kappa", "n p / rho", "exact if A(k)/k > 1.6", "certified if A(k)/k >"):
        assert word in done.stdout
    assert done.stdout.count("not certified: B_0 unknown") == 2


def test_json_is_what_the_library_computes():
    done = run("--prompt-law", "uniform:1:100", "--p", "0.05", "--workers", "4", "--json")
    document = json.loads(done.stdout)
    assert document["constants"] == constants(100, 0.05, 4, 72).to_row()
    assert document["stationary_imbalance"] == stationary_imbalance(100, 0.05, 4, 72).to_row()
    assert document["supply"] is None


def test_too_few_arrivals_make_the_bounds_inapplicable(tmp_path):
    law = tmp_path / "law.csv"
    law.write_text("size,probability\n1,0.5\n9,0.5\n")  # n p = 2, n p / rho = 4
    setting = ["--prompt-law", str(law), "--p", "0.5", "--workers", "2", "--slots", "2"]
    done = run(*setting, "--arrivals-per-iteration", "3")
    assert done.returncode == 0, done.stderr
    assert "does not apply: supply" in done.stdout
    assert "the bounds do not apply: 3 requests per iteration" in done.stdout
    supply = json.loads(run(*setting, "--arrivals-per-iteration", "3", "--json").stdout)["supply"]
    assert (supply["saturates"], supply["holds"]) == (True, False)


def test_equal_prompts_and_one_worker_are_reported_without_bounds():
    done = run("--prompt-law", "uniform:5:5", "--p", "0.5", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "does not apply: rho = 0" in done.stdout
    assert "none" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--p", "1"], "p = 1 must lie strictly between 0 and 1"),
        (["--prompt-law", "nonsense"], "expected uniform:SMALLEST:LARGEST"),
        (["--prompt-law", "none.csv"], "none.csv: cannot read the law"),
        (["--arrivals-per-iteration", "-1"], "must be finite and >= 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_finding_says_whether_the_bound_tells_them_apart():
    """Catches "at least 0.003 times as much", which says nothing, and a picture that is missing."""
    many = run("--prompt-law", "uniform:1:5", "--p", "0.95", "--workers", "512", "--slots", "4000")
    few = run("--prompt-law", "uniform:1:100", "--p", "0.05", "--workers", "4", "--slots", "8")
    assert "FCFS has at least 52.5 times as much" in " ".join(many.stdout.split())
    assert "does not tell them apart" in " ".join(few.stdout.split())
    assert "kappa" not in few.stdout  # behind --details


def test_bounds_are_drawn_for_growing_numbers_of_workers(tmp_path):
    """Catches a curve that does not pass through the setting asked for."""
    setting = ["--prompt-law", "uniform:1:100", "--p", "0.05", "--workers", "3", "--slots", "8"]
    done = run(*setting, "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    curve = pd.read_csv(tmp_path / "by_workers.csv").set_index("workers")
    assert list(curve.index) == [2, 3, 4, 8]
    exact = json.loads(done.stdout)["stationary_imbalance"]["imbalance_tokens"]
    assert curve.fcfs_tokens[3] == pytest.approx(exact)
    assert (tmp_path / "theory.html").stat().st_size < 1_000_000
    assert {"bounds.svg", "bounds.pdf"} <= {path.name for path in tmp_path.iterdir()}
