"""Policies beside the exact policy, at a tiny size: what the table relies on."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script
from typer.testing import CliRunner

import olprouting as olp


@pytest.fixture(scope="module")
def script():
    return load_script("exact_on_a_trace")


@pytest.fixture(scope="module")
def trace():
    return olp.resolve("azure-2023-conv-like", requests=80)


@pytest.fixture(scope="module")
def states(script, trace):
    return script.same_states(trace, 3, script.REDUCED)


def test_every_decision_of_the_exact_policies_is_proven(script, trace) -> None:
    """Catches exact rows that silently hold heuristic decisions."""
    rows = script.runs(trace, script.CASES, script.REDUCED, lambda *_: None)
    exact = pd.DataFrame(rows).query("case.str.startswith('exact')")
    assert len(exact) == 2 * 4
    assert (exact.decisions > 20).all()
    assert (exact.proven == exact.decisions).all()


def test_on_the_same_states_each_optimum_is_best_by_its_own_objective(script, states) -> None:
    """Catches answers valued by another program than the one solved, or on other states."""
    myopic = states.pivot_table(index="state", columns="case", values="myopic_tokens")
    window = states.pivot_table(index="state", columns="case", values="window_tokens")
    assert len(myopic) == script.REDUCED.sample
    assert myopic.le(myopic["BR-0"], axis=0)[script.MYOPIC].all()
    assert myopic.ge(myopic[script.MYOPIC], axis=0).all(axis=None)
    best = window["exact IO_H, gamma=0.86"]
    assert window.ge(best * (1 - 1e-9), axis=0).all(axis=None)


def test_unproven_decisions_are_counted(script, trace) -> None:
    """Catches a limit that is reached and not told: without time nothing hard is proven."""
    hasty = script.replace(script.REDUCED, time_limit_s=0.0)
    row = script.run_case(trace, 3, script.CASES[-1], hasty)
    assert row["proven"] < row["decisions"]
    assert row["unproven_gap_max"] > 0


def test_the_share_captured_is_taken_per_number_of_workers(script) -> None:
    """Catches shares that mix the excess of one cluster with that of another."""
    table = pd.DataFrame(
        {
            "workers": [2, 4, 4, 2, 4],
            "case": [script.JSQ, script.JSQ, script.MYOPIC, script.MYOPIC, "BR-0"],
            "imbalance_tokens": [10.0, 100.0, 50.0, 6.0, 60.0],
        }
    )
    assert script.captured(table, "imbalance_tokens").sort_index().tolist() == [
        0,
        0,
        1,
        1,
        pytest.approx(0.8),
    ]


def test_means_of_both_parts_make_up_the_mean_of_the_run(script, trace) -> None:
    """Catches a cut at another iteration than the last admission."""
    policy, cluster = olp.make_policy("br0", 2), olp.Cluster.homogeneous(2, 6)
    result = olp.simulate(trace, cluster, policy, backlog=6, series_every=1)
    series = result.series_frame()
    whole, admitting, draining = script.mean_imbalance(result)
    early = int(series.admitted_requests.to_numpy().cumsum().searchsorted(len(trace))) + 1
    assert series.active_requests.diff()[early:].le(0).all()
    late = len(series) - early
    assert late > 0
    assert whole == pytest.approx((admitting * early + draining * late) / len(series))


def test_the_reduced_form_writes_its_tables_and_figure(script, tmp_path) -> None:
    """Catches a command line that loses rows on the way to its files."""
    app = script.typer.Typer()
    app.command()(script.main)
    only = ["--only", "JSQ", "--only", "BR-0", "--only", script.MYOPIC]
    done = CliRunner().invoke(app, ["--reduced", *only, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "exact_on_a_trace_80.csv")
    assert table.case.tolist() == [script.JSQ, "BR-0", script.MYOPIC] * 2
    assert (tmp_path / "exact_on_a_trace_80.png").stat().st_size > 5_000
