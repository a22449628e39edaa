"""Bound >= LP >= integer optimum >= schedule, and each side by itself against brute force."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.hindsight import HindsightProblem, Schedule, hindsight, schedule_fault
from olprouting.hindsight.reward.certificate import exact_bound, rounded_prices
from olprouting.hindsight.reward.check import exact_value
from olprouting.hindsight.reward.dual import SmoothedDual, starts_of
from olprouting.hindsight.reward.dual_kernels import first_start, smoothed
from olprouting.hindsight.reward.schedule_kernels import earliest_fit
from olprouting.instances import WEIGHT_SETS, Cluster, SloWeights, StopReason, Trace
from olprouting.instances.request_curves import kv_tokens_at
from olprouting.instances.reward import reward
from olprouting.models import hindsight_lp


def random_problem(rng, *, requests=4, periods=6, workers=2, alike=False, longest=5):
    count = rng.integers(1, requests + 1)
    workers = rng.integers(1, workers + 1)
    slots, kv = rng.integers(1, 3, workers), rng.integers(2, 14, workers)
    if alike:
        slots[:], kv[:] = slots[0], kv[0]
    weights = (
        SloWeights(*rng.integers(0, 4, 6).tolist())
        if rng.random() < 0.5
        else list(WEIGHT_SETS.values())[rng.integers(7)]
    )
    batching = ["decode", "mixed"][rng.integers(2)]
    return HindsightProblem(
        prompt_tokens=rng.integers(1, 7, count),
        decode_tokens=rng.integers(1, longest, count),
        arrival_period=np.sort(rng.integers(1, periods + 2, count)),
        slots=slots,
        kv_tokens=kv,
        weights=weights,
        periods=int(rng.integers(1, periods + 1)),
        t1=int(rng.integers(1, 8)),
        t2=int(rng.integers(1, 5)),
        batching=batching,
        age_offset=int(batching == "decode"),
        inclusive=bool(rng.random() < 0.3),
    )


def solved(problem, **options):
    """Return the hindsight result of a problem, through the public door."""
    trace = Trace(
        problem.prompt_tokens, problem.decode_tokens, release_iteration=problem.arrival_period
    )
    return hindsight(
        trace,
        Cluster(problem.slots, kv_tokens=problem.kv_tokens),
        problem.weights,
        periods=problem.periods,
        t1=problem.t1,
        t2=problem.t2,
        batching=problem.batching,
        inclusive=problem.inclusive,
        **options,
    )


def rewards_by_worker(problem, kv_tokens):
    """Return r by (worker, request, period); NaN where the request does not fit there alone."""
    table = np.full((len(kv_tokens), len(problem), problem.periods), np.nan)
    for g, limit in enumerate(kv_tokens):
        for j in range(len(problem)):
            for k in range(int(problem.arrival_period[j]), problem.periods + 1):
                ages = np.arange(problem.periods - k + 1)
                held = kv_tokens_at(
                    ages,
                    problem.prompt_tokens[j],
                    problem.decode_tokens[j],
                    problem.batching,
                    problem.age_offset,
                )
                if held.max() <= limit:
                    table[g, j, k - 1] = reward(
                        problem.weights,
                        problem.decode_tokens[j],
                        problem.arrival_period[j],
                        start_period=k,
                        periods=problem.periods,
                        t1=problem.t1,
                        t2=problem.t2,
                        batching=problem.batching,
                        inclusive=problem.inclusive,
                    )
    return table


def optimum(problem, *, integer):
    """Return the value of the program of models/hindsight_lp.py."""
    rewards = rewards_by_worker(problem, problem.kv_tokens)
    if np.isnan(rewards).all():
        return 0.0
    lp = hindsight_lp.naive(
        rewards,
        problem.active,
        problem.first_tokens,
        problem.slots,
        problem.kv_tokens,
        integer=integer,
    )
    return lp.problem.solve(solver=cp.HIGHS)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_bound_lp_optimum_schedule_stand_in_this_order(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    result = solved(problem, time_limit_s=0.15, gap=0.0)
    relaxed, whole = optimum(problem, integer=False), optimum(problem, integer=True)
    slack = 1e-6 * (1 + relaxed)
    assert result.bound >= relaxed - slack
    assert relaxed >= whole - slack
    assert whole >= result.value - slack
    assert schedule_fault(problem, result.schedule) is None
    # the dual of a tiny program is solved to its end
    assert result.bound <= relaxed + 1e-3 * (1 + relaxed)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_any_prices_bound_any_schedule_and_kernel_and_certificate_agree(seed: int) -> None:
    # long requests, so that compiled code skips starts
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, requests=6, periods=80, longest=70)
    shape = (2, len(problem.classes()[1]), problem.periods)
    prices = np.maximum(rng.normal(0, 1, shape), 0) * rng.choice([0.01, 0.3, 2])
    proven = float(exact_bound(problem, rounded_prices(problem, prices)))
    dual = SmoothedDual(problem)
    dual.bound = np.inf
    soft = dual.evaluate(prices, 1e-3)
    assert dual.bound == pytest.approx(proven, rel=1e-9, abs=1e-9)
    assert soft >= dual.bound - 1e-9
    for j in range(len(problem)):  # one request alone is a schedule
        starts = starts_of(problem)
        for g, c in enumerate(problem.classes()[0]):
            k = first_start(starts, j, c)
            if k < problem.periods:
                worker, start = np.full((2, len(problem)), -1)
                worker[j], start[j] = g, k + 1
                alone = Schedule(worker, start)
                assert schedule_fault(problem, alone) is None
                assert exact_value(problem, alone) <= proven + 1e-9


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9))
def test_the_gradient_is_that_of_the_smoothed_dual(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, requests=5, periods=30, longest=20)
    starts = starts_of(problem)
    shape = (2, len(starts.kv_limit), problem.periods)
    prices, step = rng.uniform(0, 0.3, shape), 1e-6 * rng.normal(0, 1, shape)
    use, share, moment = np.empty(shape), *np.empty((2, len(problem)))

    def value(p):
        return smoothed(starts, p, 0.3, 1, use, share, moment)[0]

    change = value(prices + step) - value(prices - step)
    value(prices)
    assert change == pytest.approx(-2 * (use * step).sum(), rel=1e-3, abs=1e-9)


def test_the_reward_is_that_of_the_reward_module() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        problem = random_problem(rng, requests=1, periods=12)
        rewards = rewards_by_worker(problem, problem.kv_tokens)
        for g, k in zip(*np.nonzero(~np.isnan(rewards[:, 0])), strict=True):
            alone = Schedule(np.array([g]), np.array([k + 1]))
            assert float(exact_value(problem, alone)) == pytest.approx(rewards[g, 0, k])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_the_earliest_fit_is_the_first_that_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots, room = rng.integers(0, 4, 30), rng.integers(0, 40, 30)
    tokens, active = int(rng.integers(0, 15)), int(rng.integers(1, 12))
    begin = int(rng.integers(0, 30))

    def fits(k):
        i = np.arange(k, min(k + active, 30))
        return (slots[i] >= 1).all() and (room[i] >= tokens + i - k).all()

    expected = next((k for k in range(begin, 30) if fits(k)), -1)
    assert earliest_fit(slots, room, tokens, active, begin, 29) == expected


def test_two_requests_one_slot() -> None:
    # T = 3, requests of two periods, one slot, gamma = 1: starts at 1 and 3 are worth 3 + 1
    trace = Trace([1, 1], [2, 2], release_iteration=[1, 1])
    result = hindsight(
        trace, Cluster([1]), SloWeights(0, 0, 1, 0, 0, 0), periods=3, time_limit_s=1, gap=0
    )
    assert (result.value, sorted(result.schedule.start_period)) == (4, [1, 3])
    assert result.bound == pytest.approx(4, abs=1e-3)


def test_a_request_that_no_worker_holds_earns_nothing() -> None:
    # 8 + 1 tokens at the start, workers of 5: the aggregated program could hold it
    result = hindsight(
        Trace([8], [1], release_iteration=[1]),
        Cluster([1, 1], kv_tokens=[5, 5]),
        SloWeights(1, 1, 1, 1, 1, 1),
        periods=4,
        time_limit_s=1,
    )
    assert (result.bound, result.value, result.stop_reason) == (0, 0, StopReason.OPTIMAL)
    # 3 + 1 tokens, four periods long: it outgrows 5 tokens unless T comes first
    late = hindsight(
        Trace([3], [4], release_iteration=[1]),
        Cluster([1], kv_tokens=[5]),
        SloWeights(0, 0, 0, 1, 0, 0),
        periods=6,
        time_limit_s=1,
    )
    assert (late.bound, late.value) == (1, 1)
    assert late.schedule.start_period.tolist() == [5]


def test_nothing_binds_and_nothing_is_there() -> None:
    trace = Trace([5, 5], [3, 3], release_iteration=[1, 9])
    free = hindsight(trace, Cluster([8]), WEIGHT_SETS["requests"], periods=20, time_limit_s=5)
    assert free.gap < 1e-12  # not 0: 1/27 is rounded up in the bound
    assert free.schedule.start_period.tolist() == [1, 9]
    none = hindsight(trace.head(0), Cluster([8]), WEIGHT_SETS["requests"], periods=20)
    assert (none.bound, none.value, none.gap) == (0, 0, 0)
    weightless = hindsight(trace, Cluster([8]), SloWeights(0, 0, 0, 0, 0, 0), periods=20)
    assert (weightless.bound, weightless.gap) == (0, 0)


def test_no_time_still_gives_a_bound_and_a_schedule() -> None:
    rng = np.random.default_rng(0)
    result = solved(random_problem(rng), time_limit_s=0, gap=0)
    assert result.bound >= result.value >= 0
    assert result.stop_reason in (StopReason.TIME_LIMIT, StopReason.OPTIMAL)
