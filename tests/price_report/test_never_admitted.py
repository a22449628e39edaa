"""Requests that no policy ever admitted are counted apart from those that did not finish."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.cli.tables import show_report
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import PeriodOptions, PolicyOptions
from olprouting.price_report import measure_prices


@pytest.fixture(scope="module")
def report():
    """One slot, T = 5, three requests of 4 periods: one finishes, one is running, one waits."""
    trace = Trace([1, 1, 1], [4, 4, 4], release_iteration=[1, 1, 1])
    cluster = Cluster([1], kv_tokens=[50], step_time=StepTime(1.0, 0.0))
    options = PolicyOptions(solver="highs", period=PeriodOptions(periods=5))
    return measure_prices(trace, cluster, ["round-robin"], options=options, sample=1)


def test_a_request_that_runs_at_the_end_is_unfinished_but_was_started(report):
    run = next(run for run in report.runs if run.policy == "round-robin")
    assert (run.finished, run.unfinished, run.never_admitted) == (1, 2, 1)
    document = report.to_document()
    assert [row["never_admitted"] for row in document["runs"]] == list(
        report.to_frame().never_admitted
    )


def test_one_line_on_stderr_names_every_policy(report, capsys):
    show_report(report, as_json=True)
    shown = capsys.readouterr()
    never, same, few = shown.err.splitlines()
    assert never.startswith("WARNING: never admitted, of 3 requests: bid-price ")
    assert "round-robin 1; nobody is admitted past T=5" in never
    assert "all policies collect the same reward" in same
    assert "left a choice: too few to judge prices by" in few


def test_means_until_the_end_hold_those_who_did_not_get_there(report):
    """By hand: one is active in 1..4, one from 5 on, one waits until the run ends after 5.

    Catches a policy that looks quick because those who wait are left out.
    """
    run = next(run for run in report.runs if run.policy == "round-robin")
    assert run.ttft_mean == (1 + 5) / 2 - 1
    assert run.ttft_until_end == (0 + 4 + 5) / 3
    assert run.end_to_end_mean == 4
    assert run.end_to_end_until_end == (4 + 5 + 5) / 3


def test_requests_after_the_last_period_are_named_and_count_nowhere():
    """Regression: 100% satisfied stood beside 72 of 100 never admitted."""
    trace = Trace([1, 1, 1], [2, 2, 2], release_iteration=[1, 2, 9])
    cluster = Cluster([2], kv_tokens=[50], step_time=StepTime(1.0, 0.0))
    options = PolicyOptions(solver="highs", period=PeriodOptions(periods=5))
    report = measure_prices(trace, cluster, ["jsq"], options=options, sample=1)
    for run in report.runs:
        assert (run.never_admitted, run.never_released, run.satisfaction) == (0, 1, 1)
    late, same, nothing = report.warnings()
    assert "all policies collect the same reward" in same
    assert late.startswith("1 of 3 requests come after the last period and count nowhere")
    assert nothing.startswith("nothing binds: in none of 1 sampled periods must a request wait;")


def test_strict_ends_with_3_where_a_warning_stands():
    arguments = ["prices", "--requests", "20", "--periods", "10", "--sample", "1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    found = CliRunner().invoke(app, [*arguments, "--strict"])
    assert found.exit_code == 3
    assert "come after the last period" in found.stderr
