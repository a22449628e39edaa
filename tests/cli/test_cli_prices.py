"""`olprouting prices` as a user meets it: exit codes, one-line errors."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from child_processes import COMMAND_LINE, finish, needs_sigint, start, wait_for_word
from command_line import olprouting

from olprouting.errors import InputError
from olprouting.instances import WEIGHT_SETS, SloWeights

if TYPE_CHECKING:
    import subprocess

SMALL = [
    *("--requests", "40", "--workers", "2", "--slots", "6", "--kv-tokens", "9000"),
    *("--periods", "600", "--rate", "0.2", "--sample", "4"),
]
TINY = [*SMALL, "--requests", "15", "--periods", "150"]
"""Where a program is solved in every period."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return olprouting("prices", *arguments)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One run, and the folder it wrote."""
    out = tmp_path_factory.mktemp("prices") / "out"
    done = run(*SMALL, "--details", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return done, out


def test_tables_fit_a_terminal_and_files_are_written(written):
    done, out = written
    for name in ("bid-price", "prices-0", "round-robin", "jsq", "random", "power-of-two"):
        assert name in done.stdout
    assert "…" not in done.stdout  # what Rich does to cells that do not fit 80 columns
    tables = {f"{t}.{s}" for t in _TABLES for s in ("csv", "parquet")}
    assert {path.name for path in out.iterdir()} == {
        "prices.json",
        "prices.html",
        *(f"{figure}.{s}" for figure in _FIGURES for s in ("svg", "pdf")),
        *tables,
    }


_FIGURES = ("rewards", "prices", "price_strip", "convergence")
_TABLES = ("runs", "requests", "periods", *_FIGURES[1:])


def test_json_is_all_that_stands_on_stdout():
    done = run(*TINY, "--policies", "lp-rounding", "--weights", "1/135,1/400,1/400,1,1,1", "--json")
    document = json.loads(done.stdout)
    assert [row["policy"] for row in document["runs"]] == ["bid-price", "prices-0", "lp-rounding"]
    assert document["settings"]["kv_tokens"] == [9000, 9000]
    assert document["settings"]["period"]["weights"]["alpha"] == pytest.approx(1 / 135)
    assert document["settings"]["forecast"] == "noisy:0.2"


def test_the_independent_clock_and_a_receding_horizon_run():
    for more in (["--clock", "independent"], ["--last-period", "receding", "--periods", "100"]):
        done = run(*TINY, *more, "--policies", "jsq", "--json")
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["starts"]) == 4


def test_requests_that_fit_nowhere_are_named_counted_and_rejected(tmp_path):
    """Regression: one such request ended the whole command."""
    limits = ["--kv-tokens", "2000", "--sample", "2", "--policies", "jsq"]
    done = run(*SMALL, *limits, "--details", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "is more than any worker can hold (2000 KV tokens)" in done.stderr
    assert "rejected" in done.stdout
    rows = json.loads((tmp_path / "prices.json").read_text())["runs"]
    assert f"rejected, like all such requests: {rows[0]['rejected']}" in done.stderr
    assert rows[0]["rejected"] == rows[1]["rejected"] > 0
    for row in rows:
        assert row["finished"] + row["unfinished"] + row["rejected"] == 40


def test_every_bound_is_labelled_by_how_it_was_proven(written):
    done, out = written
    bounds = json.loads((out / "prices.json").read_text())["bounds"]
    assert [entry["name"] for entry in bounds] == ["lp_bound", "integer_bound", "f_bound"]
    for entry in bounds:
        assert entry["met"] <= entry["periods"] == 4
        assert f"{entry['bounds']}: {entry['proven_by']}" in " ".join(done.stdout.split())


def test_options_of_learning_reach_the_policies():
    document = json.loads(
        run(
            *TINY,
            *("--positions", "relative", "--exact-every", "3", "--guard-window", "50"),
            *("--reject-after", "40", "--policies", "bid-price-exact", "--json"),
        ).stdout
    )
    learning = document["settings"]["bid_price"]
    names = ("positions", "exact_every", "guard_window", "reject_after")
    assert [learning[name] for name in names] == ["relative", 3, 50, 40]


def test_a_front_between_two_metrics_is_printed_and_written(tmp_path):
    done = run(*SMALL, "--pareto", "ttft_mean,throughput_tokens_per_s", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for name in (*WEIGHT_SETS, "ttft_mean", "throughput_tokens_per_s", "on the front"):
        assert name in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {
        f"pareto.{suffix}" for suffix in ("csv", "parquet", "json", "svg", "pdf", "html")
    }
    document = json.loads((tmp_path / "pareto.json").read_text())
    assert len(document["points"]) == len(WEIGHT_SETS)
    assert any(point["non_dominated"] for point in document["points"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weights", "1,2,3"], "expected six numbers"),
        (["--weights", "1,1,1,1,1,-1"], "weight zeta2 = -1.0"),
        (["--weights", "1,1,1,1,1,x"], "'1,1,1,1,1,x'"),
        (["--weights", "1/0,1,1,1,1,1"], "--weights"),
        (["--weights", "latncy"], "latency, latency-only, requests"),
        (["--rate", "0"], "rate = 0"),
        (["--noise", "1.5"], "[0, 1]"),
        (["--noise", "-0.1"], "[0, 1]"),
        (["--kv-tokens", "100", "--oversize", "error"], "KV tokens, the largest worker has 100"),
        (["--kv-tokens", "9"], "none of the 40 requests fits on a worker; the largest holds 9 KV"),
        (["--oversize", "drop"], "error, reject"),
        (["--positions", "both"], "absolute, relative"),
        (["--pareto", "ttft_mean"], "must be the names of two different metrics"),
        (["--pareto", "ttft_mean,speed"], "unknown metric 'speed'"),
        (["--pareto", "ttft_mean,finished", "--policies", "jsq"], "leave out --policies"),
        (["--normalizer", "large"], "a number > 0, or auto"),
        (["--normalizer", "-1"], "reward_normalizer"),
        (["--step-size", "0"], "step_size"),
        (["--sample", "none"], "--sample"),
        (["--policies", "greedy"], "unknown policy 'greedy'"),
        (["--last-period", "never"], "fixed, receding"),
        (["--clock", "wall"], "barrier, independent"),
        (["--clock", "barrier", "--period-seconds", "1"], "period_s"),
        (["--step-time", "fast"], "unknown step-time preset"),
        (["--trace", "no-such-trace"], "no-such-trace"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments, message):
    done = run(*SMALL, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    done = run("--requests", "1000000000", "--out", str(taken))
    assert done.returncode == 2
    assert "--out" in done.stderr


@needs_sigint
def test_ctrl_c_prints_what_is_finished_and_exits_130(tmp_path):
    command = ["--requests", "20000", "--kv-tokens", "30000", "--periods", "90000"]
    process = start(COMMAND_LINE, "prices", *command, "--out", "out", cwd=tmp_path)
    wait_for_word(process, "still at run ")
    process.send_signal(signal.SIGINT)
    stdout, stderr = finish(process)
    assert process.returncode == 130, stderr
    assert "interrupted: the tables hold what was finished" in stderr
    assert "Traceback" not in stderr
    assert "every policy at these limits" in stdout


def test_weights_by_name_are_the_published_ones():
    for name, weights in WEIGHT_SETS.items():
        assert SloWeights.parse(name) == weights
    assert SloWeights.parse("1/135, 1/400,1/400,1,1,1") == WEIGHT_SETS["tail-latency"]
    with pytest.raises(InputError, match="known"):
        SloWeights.parse("nothing")
