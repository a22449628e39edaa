"""Annealing: costs are sums done afresh, books are kept, nothing infeasible or worse comes out."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hindsight_cases import crowded, some_prices
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.hindsight import HindsightProblem, Schedule, schedule_fault
from olprouting.hindsight.reward.annealing import Annealing
from olprouting.hindsight.reward.annealing_kernels import Soft, exchanged, lift, put
from olprouting.hindsight.reward.check import exact_value
from olprouting.hindsight.reward.dual import SmoothedDual, starts_of
from olprouting.hindsight.reward.search import ScheduleSearch
from olprouting.models import hindsight_lp

NAMES = ("tail-latency", "tail-only", "throughput-only")


def problem_of(seed: int, requests: int = 40, periods: int = 70) -> HindsightProblem:
    return crowded(seed, requests, periods, NAMES)


def softened(problem: HindsightProblem, seed: int) -> Annealing:
    """Return an annealing that begins with starts anywhere, feasible or not."""
    rng = np.random.default_rng(seed)
    count = len(problem)
    worker = np.where(problem.arrival_period <= problem.periods, rng.integers(-1, 3, count), -1)
    start = problem.arrival_period - 1 + rng.integers(0, 30, count)
    start = np.where(worker < 0, -1, np.minimum(start, problem.periods - 1))
    starts = starts_of(problem)
    return Annealing(problem, starts, some_prices(problem, seed), worker, start)


def room_left(problem: HindsightProblem, worker, start):
    """Return free slots and KV tokens, added up afresh, each shape (G, T)."""
    slots = np.repeat(problem.slots[:, None], problem.periods, axis=1)
    room = np.repeat(problem.kv_tokens[:, None], problem.periods, axis=1)
    for j in np.flatnonzero(start >= 0):
        g, k = worker[j], start[j]
        end = min(k + problem.active[j], problem.periods)
        slots[g, k:end] -= 1
        room[g, k:end] -= problem.first_tokens[j] + np.arange(end - k)
    return slots, room


def overload(soft: Soft) -> float:
    slots, room = np.minimum(soft.slots, 0), np.minimum(soft.room, 0)
    rates = soft.slot_rate[soft.kind], soft.token_rate[soft.kind]
    return -float((slots * rates[0] + room * rates[1]).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_an_exchange_costs_what_the_overload_grows_by(seed: int) -> None:
    # catches a stretch forgotten or counted twice when intervals overlap, touch, or stand apart
    problem, rng = problem_of(seed), np.random.default_rng(seed)
    starts, soft = starts_of(problem), softened(problem, seed)._soft
    inside = np.flatnonzero(soft.start >= 0)
    outside = np.flatnonzero(soft.start < 0)
    for _ in range(10):
        j = int(rng.choice(inside))
        i = int(rng.choice(outside)) if rng.random() < 0.5 and len(outside) else j
        g, k, p = soft.worker[j], soft.start[j], int(rng.integers(problem.periods))
        before, limit = overload(soft), float(rng.uniform(-0.5, 2))
        cost = exchanged(starts, soft, g, j, k, i, p, np.inf)
        partial = exchanged(starts, soft, g, j, k, i, p, limit)
        lift(starts, soft, j)
        put(starts, soft, i, g, p)
        assert overload(soft) - before == pytest.approx(cost, abs=1e-9)
        assert partial == pytest.approx(cost, abs=1e-9) or min(partial, cost) > limit
        lift(starts, soft, i)
        put(starts, soft, j, g, k)
        assert overload(soft) == pytest.approx(before, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9))
def test_books_agree_after_many_proposals_and_what_settles_is_feasible(seed: int) -> None:
    problem = problem_of(seed)
    search = ScheduleSearch(problem, starts_of(problem), seed)
    search.rebuild(some_prices(problem, seed), np.ones(len(problem)), problem.arrival_period - 1.0)
    annealing = softened(problem, seed)
    rng = np.random.default_rng(seed)
    for _ in annealing.run(search._wishes, search._block, 1.0, lambda done: done / 40_000, rng):
        soft = annealing._soft
        slots, room = room_left(problem, soft.worker, soft.start)
        assert (soft.slots == slots).all()
        assert (soft.room == room).all()
        assert ((soft.worker < 0) == (soft.start < 0)).all()
        placed = soft.start >= 0
        assert (soft.start[placed] >= problem.arrival_period[placed] - 1).all()
        assert (soft.start < problem.periods).all()
    slots, room = search._empty()
    value, worker, start = annealing.settled(slots, room)
    schedule = Schedule(worker, np.where(start >= 0, start + 1, -1))
    assert schedule_fault(problem, schedule) is None
    assert value == pytest.approx(float(exact_value(problem, schedule)), rel=1e-9)
    left = room_left(problem, worker, start)
    assert (slots == left[0]).all()
    assert (room == left[1]).all()


def annealed(problem: HindsightProblem, seed: int, rounds: int) -> tuple[float, ScheduleSearch]:
    """Return the value before annealing, and the search after it."""
    dual = SmoothedDual(problem)
    for _ in dual.minimise():
        pass
    search = ScheduleSearch(problem, dual.starts, seed)
    search.rebuild(dual.prices, dual.share, dual.moment)
    before = search.value
    for _ in search.anneal(dual.prices, lambda done: done / rounds):
        pass
    return before, search


@pytest.mark.parametrize("seed", range(6))
def test_never_worse_and_the_same_for_a_seed(seed: int) -> None:
    problem = problem_of(seed)
    before, search = annealed(problem, seed, 100_000)
    schedule = search.schedule()
    assert schedule_fault(problem, schedule) is None
    assert search.value == pytest.approx(float(exact_value(problem, schedule)), rel=1e-9)
    assert search.value >= before
    again = annealed(problem, seed, 100_000)[1].schedule()
    assert (again.worker == schedule.worker).all()
    assert (again.start_period == schedule.start_period).all()


@pytest.mark.parametrize("seed", range(4))
def test_small_problems_end_at_their_optimum(seed: int) -> None:
    problem = problem_of(seed, requests=12, periods=18)
    rewards = np.full((3, len(problem), problem.periods), np.nan)
    for j in range(len(problem)):
        for k in range(int(problem.arrival_period[j]), problem.periods + 1):
            held = problem.first_tokens[j] + min(problem.active[j], problem.periods - k + 1) - 1
            starts = np.full(len(problem), -1)
            starts[j] = k
            worth = float(exact_value(problem, Schedule(starts, starts)))
            rewards[:, j, k - 1] = np.where(held <= problem.kv_tokens, worth, np.nan)
    program = hindsight_lp.naive(
        rewards,
        problem.active,
        problem.first_tokens,
        problem.slots,
        problem.kv_tokens,
        integer=True,
    )
    optimum = program.problem.solve(solver=cp.HIGHS)
    assert annealed(problem, seed, 400_000)[1].value == pytest.approx(optimum, rel=1e-6)
