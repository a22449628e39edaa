"""Policies beside the hindsight bound, at a tiny size: what the table relies on."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def script():
    return load_script("hindsight_ratios")


@pytest.fixture(scope="module")
def done(script, tmp_path_factory):
    """The folder and the output of the reduced form."""
    out = tmp_path_factory.mktemp("ratios")
    app = script.typer.Typer()
    app.command()(script.main)
    return out, CliRunner().invoke(app, ["--reduced", "--out", str(out)])


@pytest.fixture(scope="module")
def table(done):
    out, result = done
    assert result.exit_code == 0, result.output
    return pd.read_csv(out / "hindsight_ratios_40.csv")


def test_every_policy_is_rated_under_every_weights(script, table) -> None:
    """Catches rows lost on the way to the file, and columns that other scripts would miss."""
    expected = [(weights, case.name) for weights in script.REDUCED.weights for case in script.CASES]
    assert list(zip(table["weights"], table["case"], strict=True)) == expected
    assert {"bound", "schedule", "gap", "ratio", "preempted", "search_s"} <= set(table.columns)


def test_neither_a_schedule_nor_what_counts_of_a_policy_is_above_the_bound(table) -> None:
    """Catches a bound of other requests, workers or weights than those the policies ran on."""
    assert (table["schedule"] <= table["bound"]).all()
    assert table["ratio"].between(0, 1, inclusive="right").all()
    assert table["reward_counted"].to_numpy() == pytest.approx(table["ratio"] * table["bound"])
    assert (table["reward_counted"] <= table["reward_of_all_starts"] * (1 + 1e-9)).all()


def test_what_counts_is_everything_unless_requests_were_preempted(table) -> None:
    """Catches rewards of the run that are not those of the bound."""
    calm = table[table["preempted"] == 0]
    assert len(calm)
    assert calm["reward_counted"].to_numpy() == pytest.approx(
        calm["reward_of_all_starts"].to_numpy()
    )


def test_policies_that_reserve_are_never_preempted_where_the_others_are(script) -> None:
    """Catches a reservation that is not passed on: the ratios would not be of whole runs."""
    tight = script.replace(script.REDUCED, kv_tokens=2_500, rate=1.0, time_limit_s=0.0)
    trace = script.workload("azure-2023-conv-like", 100, tight.rate, 0)
    found = script.hindsight_of(trace, "throughput-only", tight, 0, lambda *_: None)
    rows = {
        case.name: script.run_case(trace, case, found, tight, 0)
        for case in script.CASES
        if case.policy == "jsq"
    }
    assert rows["jsq"]["preempted"] > 0
    assert rows["jsq, reserve"]["preempted"] == 0


def test_moments_are_told_of_the_gaps_that_were_passed(script) -> None:
    """Catches a moment before the gap was reached, and one for a gap that never was."""
    falling = pd.DataFrame(
        {"weights": "w", "seed": 0, "wall_s": [1.0, 2.0, 5.0], "gap": [0.3, 0.07, 0.015]}
    )
    (row,) = script.passed(falling).to_dict("records")
    assert (row["below 0.1"], row["below 0.05"], row["below 0.02"]) == (2.0, 5.0, 5.0)
    assert pd.isna(row["below 0.01"])
    assert (row["last_gap"], row["last_gain_s"]) == (0.015, 5.0)


def test_tables_and_figures_are_written(done) -> None:
    """Catches a command line that prints a table and forgets its files."""
    out, result = done
    assert "bid-price" in result.stdout
    for name in ("hindsight_ratios_40.png", "hindsight_ratios_40_gaps.png"):
        assert (out / name).stat().st_size > 5_000
    gaps = pd.read_csv(out / "hindsight_ratios_40_gaps.csv")
    assert gaps["weights"].is_unique
    assert (gaps["last_gap"] < 0.1).all()


def test_bad_input_is_one_line_and_code_2(script) -> None:
    """Catches a traceback for a trace that is not there."""
    app = script.typer.Typer()
    app.command()(script.main)
    result = CliRunner().invoke(app, ["--trace", "no-such.csv"])
    assert result.exit_code == 2
    assert "no-such.csv" in result.stderr
