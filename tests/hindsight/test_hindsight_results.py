"""Saved results prove themselves; policies stay below the bound; bad input is one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.hindsight import HindsightResult, certified_ratio, hindsight
from olprouting.instances import WEIGHT_SETS, Cluster, SloWeights, StopReason, Trace
from olprouting.policies import PeriodOptions, PolicyOptions, make_policy

WEIGHTS = WEIGHT_SETS["tail-latency"]
PERIODS = 120


@pytest.fixture(scope="module")
def trace() -> Trace:
    rng = np.random.default_rng(1)
    return Trace(
        rng.integers(10, 60, 40),
        rng.integers(1, 30, 40),
        release_iteration=np.sort(rng.integers(1, 60, 40)),
    )


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster([4, 4], kv_tokens=[150, 150])


@pytest.fixture(scope="module")
def result(trace, cluster) -> HindsightResult:
    return hindsight(trace, cluster, WEIGHTS, periods=PERIODS, time_limit_s=1, gap=0.0, seed=3)


@pytest.mark.parametrize("name", ["round-robin", "jsq", "least-load", "bid-price"])
def test_no_policy_collects_more_than_the_bound(trace, cluster, result, name) -> None:
    options = PolicyOptions(period=PeriodOptions(weights=WEIGHTS, periods=PERIODS))
    policy = make_policy(name, cluster.workers, options)
    run = simulate(trace, cluster, policy, seed=0, periods=PERIODS)
    ratio = certified_ratio(run, result)
    assert 0 < ratio.ratio <= 1
    assert ratio.preempted == int((run.preemptions > 0).sum())
    assert ratio.admitted + ratio.preempted <= len(trace)


def test_a_run_of_another_problem_has_no_ratio(trace, cluster, result) -> None:
    policy = make_policy("jsq", 2, PolicyOptions())
    with pytest.raises(InputError, match="other requests"):
        certified_ratio(simulate(trace.head(39), cluster, policy), result)
    wide = Cluster([9, 9], kv_tokens=[900, 900])
    with pytest.raises(InputError, match=r"worker \d uses \d+ of \d+ (slots|KV tokens)"):
        certified_ratio(simulate(trace, wide, policy), result)


def test_a_saved_result_is_proven_again(result) -> None:
    again = HindsightResult.from_text(json.dumps(result.to_document()))
    assert (again.bound, again.value, again.history) == (
        result.bound,
        result.value,
        result.history,
    )
    assert again.to_document() == result.to_document()


def halved(document):
    document["prices"]["batch"][0] = [p // 2 for p in document["prices"]["batch"][0]]
    document["prices"]["memory"][0] = [p // 2 for p in document["prices"]["memory"][0]]


def crowded(document):
    document["start_period"] = [max(1, t) for t in document["problem"]["arrival_period"]]
    document["worker"] = [0] * len(document["worker"])


@pytest.mark.parametrize(
    ("tamper", "complaint"),
    [
        (lambda d: d.update(bound=d["bound"] - 1), "bound is stated as"),
        (lambda d: d.update(value=d["value"] + 1), "value is stated as"),
        (halved, "bound is stated as"),
        (crowded, "worker 0 uses"),
        (lambda d: d["prices"]["batch"][0].__setitem__(0, -1), "negative price"),
        (lambda d: d["prices"]["batch"][0].__setitem__(0, 0.5), "whole numbers"),
        (lambda d: d["prices"]["batch"][0].__setitem__(0, 2**62), "too large"),
        (lambda d: d["prices"]["memory"][0].pop(), "shape"),
        (lambda d: d["worker"].__setitem__(0, 7), "worker 7, there are 2"),
        (lambda d: d["start_period"].__setitem__(0, 10**6), "outside"),
        (lambda d: d["problem"].pop("slots"), "lacks slots"),
        (lambda d: d["problem"]["slots"].__setitem__(0, 1), "problem_sha256 is stated as"),
        (lambda d: d.update(problem_sha256="0" * 64), "problem_sha256 is stated as"),
        (lambda d: d.update(schema="olprouting/other/1"), "schema"),
    ],
)
def test_a_tampered_result_is_refused(result, tamper, complaint) -> None:
    document = result.to_document()
    tamper(document)
    with pytest.raises(InputError, match=complaint) as error:
        HindsightResult.from_text(json.dumps(document), "saved.json")
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("saved.json")


def test_tables_and_figure(result) -> None:
    frame, history = result.to_frame(), result.history_frame()
    assert len(frame) == 40
    assert (frame.start_period > 0).sum() == result.schedule.admitted
    assert history.bound.is_monotonic_decreasing
    assert history.value.is_monotonic_increasing
    assert [line.get_label() for line in result.plot().get_lines()] == ["bound", "schedule"]
    assert "gap" in result.summary()


def test_the_time_limit_alone_decides_how_long(trace, cluster) -> None:
    strict = hindsight(trace, cluster, WEIGHTS, periods=PERIODS, time_limit_s=0.2, gap=0.0)
    loose = hindsight(trace, cluster, WEIGHTS, periods=PERIODS, time_limit_s=60, gap=0.5)
    assert strict.stop_reason is StopReason.TIME_LIMIT
    assert loose.stop_reason is StopReason.OPTIMAL_WITHIN_GAP
    assert loose.gap <= 0.5


def test_ctrl_c_keeps_bound_and_schedule(trace, cluster) -> None:
    calls = []

    def interrupt(what, done, total):
        calls.append(what)
        if len(calls) == 30:
            raise KeyboardInterrupt

    kept = hindsight(
        trace, cluster, WEIGHTS, periods=PERIODS, time_limit_s=60, gap=0.0, on_progress=interrupt
    )
    assert kept.stop_reason is StopReason.INTERRUPTED
    assert kept.bound >= kept.value > 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"periods": 0}, "periods = 0"),
        ({"periods": 10**8}, "at most 10000000"),
        ({"gap": -1}, "gap"),
        ({"time_limit_s": float("nan")}, "time_limit_s"),
        ({"t1": 0}, "t1"),
        ({"batching": "other"}, "batching"),
        ({"age_offset": -1}, "age_offset"),
        ({"trace": Trace([1], [1])}, "release"),
        ({"trace": Trace([2**41], [1], release_iteration=[1])}, "2\\^40"),
    ],
)
def test_bad_input_is_one_line(trace, cluster, changes, complaint) -> None:
    arguments = {"trace": trace, "periods": PERIODS, "time_limit_s": 0.1, **changes}
    with pytest.raises(InputError, match=complaint) as error:
        hindsight(arguments.pop("trace"), cluster, WEIGHTS, **arguments)
    assert "\n" not in str(error.value)


def test_huge_numbers_stay_exact_or_are_refused() -> None:
    trace = Trace([2**39, 2**39], [3, 3], release_iteration=[1, 1])
    cluster = Cluster([2], kv_tokens=[2**39 + 3])
    one = hindsight(trace, cluster, SloWeights(0, 0, 0, 1, 0, 0), periods=3, time_limit_s=0.5)
    assert one.value == 1
    assert 1 <= one.bound <= 2
    with pytest.raises(InputError, match="64-bit"):
        hindsight(trace, cluster, SloWeights(2.0**60, 0, 0, 0, 0, 0), periods=3, time_limit_s=0)
