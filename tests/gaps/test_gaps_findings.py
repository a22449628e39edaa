"""What the report says in words: findings with intervals, warnings, one table in 80 columns."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from olprouting.gaps import measure_gaps
from olprouting.gaps.findings import GapFindings
from olprouting.gaps.runs import PolicyRun, RunNumbers
from olprouting.gaps.tables import gap_tables
from olprouting.instances import Cluster, Trace
from olprouting.policies import PolicyOptions
from olprouting.traces import from_profile

OPTIONS = PolicyOptions(horizon=5, gamma=0.5, r_max=3)
CLUSTER = Cluster.homogeneous(3, 6)


def report_of(trace: Trace, policies=("jsq", "br0", "brh"), cluster=CLUSTER, **options):
    chosen = {"options": OPTIONS, "decisions": 40, "backlog": 6, "replications": 3, **options}
    return measure_gaps(trace, cluster, policies, **chosen)


@pytest.fixture(scope="module")
def trace():
    return from_profile("azure-2023-conv-like", 120, np.random.default_rng(0))


@pytest.fixture(scope="module")
def report(trace):
    return report_of(trace)


def run_with(policy: str, imbalances: list[float]) -> PolicyRun:
    """A run and its replications, of which only the imbalance while requests wait is known."""
    first, *others = (RunNumbers(x, 5, x / 2, 10, 0.1, 0.2, 0.3, 4.0) for x in imbalances)
    return PolicyRun(policy, first, 0, 1e-6, 2e-6, tuple(others))


def with_runs(report, *runs: PolicyRun) -> GapFindings:
    return GapFindings(dataclasses.replace(report, runs=runs))


def test_runs_are_compared_workload_by_workload() -> None:
    """Workloads differ by thousands, the policies on each by 10, 11, 12: mean 11 +- 4.303 / sqrt 3.

    t(0.975, 2) = 4.303, standard deviation 1. Catches intervals of unpaired runs.
    """
    best, other = run_with("a", [100, 5000, 900]), run_with("b", [110, 5011, 912])
    assert other.above(best) == pytest.approx((11, 11 - 4.303 / 3**0.5, 11 + 4.303 / 3**0.5), 1e-3)
    assert best.mean().estimate == 2000


def test_a_lead_that_may_be_chance_is_said_to_be_one(report) -> None:
    """Catches a winner declared where the interval of the difference holds 0."""
    best, near = run_with("br0", [10, 30, 20]), run_with("brh", [11, 29, 21])
    jsq = run_with("jsq", [110, 131, 120])
    (said, *_) = with_runs(report, best, near, jsq).sentences()
    assert said.startswith("While requests wait, br0 balances best: mean imbalance 20 tokens")
    assert "brh cannot be told apart from it." in said
    assert "jsq leaves 6.0 times that, 100 tokens (99 to 102) more" in said
    (said, *_) = with_runs(report, best, jsq).sentences()
    assert "more than chance" in said
    assert "told apart from it" not in said


def test_what_lookahead_brings_in_runs_stands_beside_single_decisions(report) -> None:
    """Regression: brh led in runs while its decisions left more, and only one of both was said."""
    jsq, br0 = run_with("jsq", [110, 131, 120]), run_with("br0", [20, 41, 31])
    brh = run_with("brh", [10, 30, 20])
    said = with_runs(report, jsq, br0, brh).sentences()[2]
    assert "In its runs, while requests wait, brh leaves 11 tokens (9 to 12) less than br0." in said
    said = with_runs(report, jsq, br0, run_with("brh", [19, 42, 31])).sentences()[2]
    assert "Nor can their runs, while requests wait." in said


def test_the_tail_is_what_the_window_leaves_of_the_whole_run(report) -> None:
    """Five iterations of 100 tokens wait; ten of 50 on average are 500 in all: none in the tail.

    Of 15 iterations with 60 on average, 400 tokens are in the other 10.
    """
    table = gap_tables(dataclasses.replace(report, runs=(run_with("a", [100]),)))[0]
    assert "long requests run out: 0% of its imbalance arises there, 0 tokens" in table.caption
    run = dataclasses.replace(
        run_with("a", [100]), numbers=RunNumbers(100, 5, 60, 15, 0.1, 0.2, 0.3, 4.0)
    )
    caption = gap_tables(dataclasses.replace(report, runs=(run,)))[0].caption
    assert "44% of its imbalance arises there, 40 tokens on average. Least over" in caption


def test_without_replications_nothing_is_said_of_chance(trace) -> None:
    """One run has no interval: a difference of single runs must not pass for more."""
    (said, *_) = report_of(trace, replications=0).findings()
    assert "one run does not tell" in said
    assert "more than chance" not in said


def test_findings_are_three_and_carry_intervals(report) -> None:
    findings = report.findings()
    assert len(findings) == 3
    assert all(" to " in finding for finding in findings)
    for entry in report.policies:
        assert entry.found_low_tokens <= entry.found_mean_tokens <= entry.found_high_tokens


def test_unproven_optima_are_named_with_what_they_could_change(trace) -> None:
    """Without time some optima stay unproven: iterations and tokens are said."""
    report = report_of(
        trace, time_limit_s=0.0, options=dataclasses.replace(OPTIONS, solver="highs")
    )
    entry = report.policies[0]
    unproven = [one for one in report.records_of(entry.policy, 0) if not one.proven]
    assert unproven
    said = " ".join(report.findings())
    assert f"{len(unproven)} of {entry.sampled} optima are unproven" in said
    assert str(unproven[0].iteration) in said


def test_the_table_fits_80_columns_and_shows_both_windows(report) -> None:
    """Catches a table that terminals cut, and a window that stands alone."""
    table = report.tables()[0]
    assert not table.detail
    assert all(one.detail for one in report.tables()[1:])
    cells = {**table.labels, **table.columns}
    width = 2 + sum(
        2 + max(len(text) for text in (*heading.split("\n"), *column))
        for heading, column in cells.items()
    )
    assert width <= 80
    assert {"while\n waiting", "whole\n run"} <= set(cells)
    for run, waiting, whole in zip(
        report.runs, cells["while\n waiting"], cells["whole\n run"], strict=True
    ):
        assert waiting == f"{run.mean().estimate:,.0f}"
        assert whole == f"{run.mean('imbalance_tokens').estimate:,.0f}"


def test_both_windows_are_those_of_the_series(report) -> None:
    """The part while requests wait is a part of the series that the report keeps."""
    for run in report.runs:
        tokens = report.series[run.policy].imbalance_tokens.to_numpy()
        assert run.numbers.imbalance_tokens == pytest.approx(tokens.mean())
        length = run.numbers.waiting_iterations
        means = [tokens[k : k + length].mean() for k in range(len(tokens) - length + 1)]
        assert np.isclose(means, run.numbers.waiting_imbalance_tokens).any()


def test_it_warns_where_nothing_binds() -> None:
    """One request of one size at a time, the others long gone: all policies do the same."""
    rare = Trace([50] * 30, [2] * 30, arrival_s=np.arange(30) * 100.0)
    report = report_of(rare, ("jsq", "br0"), backlog=None)
    warnings = " ".join(report.warnings())
    assert "nothing binds" in warnings
    assert "only 0 decisions of jsq's run left a choice" in warnings
    assert report.findings() == ()


def test_it_warns_where_slots_never_fill(trace) -> None:
    wide = Cluster.homogeneous(3, 100)
    warnings = " ".join(report_of(trace, ("jsq", "br0"), wide).warnings())
    assert "the slots never fill under jsq and br0" in warnings


def test_it_warns_of_requests_that_were_never_admitted(trace) -> None:
    """`max_iterations` ends every run, and what is left behind is counted."""
    report = report_of(trace, ("jsq",), max_iterations=3)
    (run,) = report.runs
    assert run.numbers.iterations == 3
    assert run.never_admitted > 0
    expected = f"jsq: {run.never_admitted} of 120 requests were never admitted"
    assert any(warning.startswith(expected) for warning in report.warnings())


def test_no_warning_where_all_is_well(report) -> None:
    """Catches warnings that cry wolf."""
    assert report.warnings() == ()
