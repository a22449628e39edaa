"""Requests that no policy ever admitted are counted apart from those that did not finish."""

from __future__ import annotations

import pytest

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
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("WARNING: never admitted, of 3 requests: bid-price ")
    assert "round-robin 1; nobody is admitted past T=5" in shown.err
