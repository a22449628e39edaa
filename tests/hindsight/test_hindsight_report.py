"""Policies beside hindsight: limits of their shares, the weak side, and what is drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import olprouting as olp
from olprouting.hindsight import hindsight
from olprouting.hindsight.reward.report import HindsightReport, RatedRun
from olprouting.hindsight.reward.result import Progress
from olprouting.instances import WEIGHT_SETS


@pytest.fixture(scope="module")
def found():
    trace = olp.Trace(
        prompt_tokens=[5, 9, 4, 7], decode_tokens=[3, 2, 4, 2], release_iteration=[1, 1, 2, 3]
    )
    cluster = olp.Cluster.homogeneous(2, 1, kv_tokens=40)
    weights = next(iter(WEIGHT_SETS.values()))
    return hindsight(trace, cluster, weights, periods=12, time_limit_s=1.0)


def rated(policy, share, found, preempted=0, extra=0.0):
    reward = share * found.value
    return RatedRun(policy, reward, 3, preempted, reward / found.bound, reward + extra, 0)


def test_a_share_lies_between_that_of_the_bound_and_that_of_the_schedule(found):
    """By hand: 50 of at least 80 and at most 100 is 50% to 62.5%."""
    wide = replace(found, value=80.0, bound=100.0)
    run = RatedRun("jsq", 50.0, 3, 0, 0.5, 50.0, 0)
    report = HindsightReport(found=wide, runs=(run,))
    assert report.tables()[0].columns["of the optimum"] == ("50.0% to 62.5%", "80.0% to 100.0%")
    assert "jsq, the best policy here, collected 50.0% to 62.5% of that." in report.findings()
    cells = report.tables()[0]
    assert cells.labels["policy"] == ["jsq", "schedule"]


def test_best_and_worst_are_named_once_each(found):
    """Catches a single policy that is called the worst too."""
    one = HindsightReport(found=found, runs=(rated("a", 0.5, found),))
    assert not any("the worst" in finding for finding in one.findings())
    runs = tuple(rated(name, share, found) for name, share in (("a", 0.5), ("b", 0.9), ("c", 0.2)))
    rewards = {"a": np.full(40, 0.5), "b": np.full(40, 0.9), "c": np.zeros(40)}
    said = " ".join(HindsightReport(found=found, runs=runs, rewards=rewards).findings())
    assert "its lead over a, 16.0 (16.0 to 16.0), is more than chance" in said
    assert "b, the best" in said
    assert "c, the worst" in said
    assert "a, the" not in said
    assert HindsightReport(found=found).findings()


@pytest.mark.parametrize(
    ("bounds", "values", "said"),
    [
        ((10, 10), (5, 8), "The schedule is the weak side"),
        ((10, 9), (5, 5), "The bound is the weak side"),
        ((10, 10), (5, 5), "Neither"),
    ],
)
def test_the_weak_side_is_the_one_that_still_moved(found, bounds, values, said):
    """Catches sides that are taken for each other."""
    history = tuple(
        Progress(second, bound, value, 1)
        for second, bound, value in zip((2.0, 3.0), bounds, values, strict=True)
    )
    open_ = replace(found, stop_reason="time_limit", history=(Progress(0, 99, 1, 1), *history))
    assert said in HindsightReport(found=open_).findings()[-1]


def test_preempted_requests_are_explained_and_the_page_holds_both_figures(found):
    """Catches a column of numbers whose difference nobody explains."""
    report = HindsightReport(found=found, runs=(rated("jsq", 0.5, found, preempted=2, extra=1.5),))
    assert any("jsq has 2, worth 1.5 more" in note for note in report.notes())
    page = report.to_html()
    assert page.count("<svg") == 2
    assert "next:" in page


def test_it_warns_of_what_says_nothing(found):
    """A slot for everybody at once; an arrival after T; a policy that left two requests waiting."""
    assert HindsightReport(found=found).warnings() == ()
    weights = next(iter(WEIGHT_SETS.values()))
    trace = olp.Trace([5, 9, 4], [3, 2, 4], release_iteration=[1, 1, 13])
    cluster = olp.Cluster.homogeneous(2, 2, kv_tokens=40)
    free = hindsight(trace.head(2), cluster, weights, periods=12, time_limit_s=1.0)
    report = HindsightReport(found=free, runs=(replace(rated("a", 0.5, free), never_admitted=2),))
    nothing, never = report.warnings()
    assert nothing.startswith("nothing binds")
    assert never.startswith("never admitted, of 2 requests: a 2; nobody is admitted past T=12")
    assert "the schedule is optimal" in report.findings()[-1]
    (late,) = HindsightReport(found=hindsight(trace, cluster, weights, periods=12)).warnings()
    assert late.startswith("1 of 3 requests come after the last period")


def test_what_verify_checks_is_what_was_found(found):
    """Catches a document with a field that the check of certificates refuses."""
    assert HindsightReport(found=found).to_document() == found.to_document()
