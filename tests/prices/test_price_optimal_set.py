"""The distance to the set of optimal prices, against sets known by hand and random optima."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.prices import SaaProblem, exact_prices, make_columns, value_at
from olprouting.prices.optimal_set import OptimalSet, nearest_optimal


def problem_of(columns, slots, tokens, width):
    slots, tokens = (np.array([row], np.float64) for row in (slots, tokens))
    return SaaProblem(columns, slots, tokens, 1.0, 1.0, 1.0, 1.0, np.inf, width)


def distance(problem, batch, memory):
    ones = np.ones(problem.slots.shape)
    least = exact_prices(problem).value
    given = np.array([batch], float), np.array([memory], float)
    nearest = nearest_optimal(problem, *given, (ones, ones), least)
    assert value_at(problem, nearest.batch, nearest.memory) <= least + 1e-4 * max(1, least)
    moved = sum(
        np.abs(one - two).sum()
        for one, two in zip(given, (nearest.batch, nearest.memory), strict=True)
    )
    assert moved == pytest.approx(nearest.distance, abs=1e-5)
    return nearest.distance


def test_all_ways_to_spread_a_price_are_as_good() -> None:
    """One slot in each of two periods, two requests worth 5 and 3 that take it in both.

    f = p1 + p2 + mean (r - p1 - p2)+ has slope 1 - 1/2 - 1/2 = 0 up to 3, so every p >= 0 with
    p1 + p2 <= 3 is optimal. Catches the distance to one optimal vertex.
    """
    columns = make_columns([5.0, 3.0], 0, 1, [1, 1], [2, 2])
    problem = problem_of(columns, [1, 1], [100, 100], 2)
    for prices in ([3.0, 0.0], [0.0, 3.0], [1.0, 2.0], [0.0, 0.0]):
        assert distance(problem, prices, [0.0, 0.0]) == pytest.approx(0, abs=2e-5)
    assert distance(problem, [4.0, 1.0], [0.0, 0.0]) == pytest.approx(2, abs=2e-5)


def test_the_ends_are_those_of_the_whole_set_of_optimal_prices() -> None:
    """The same set, {p1, p2 >= 0, p1 + p2 <= 3}: each price reaches from 0 to 3, and so their sum.

    A KV token, of which there are too many, costs nothing. Where a slot is not there at all, its
    price has no limit. Catches the ends of one vertex, and weights of the wrong resource.
    """
    columns = make_columns([5.0, 3.0], 0, 1, [1, 1], [2, 2])
    problem = problem_of(columns, [1, 1], [100, 100], 2)
    optimal = OptimalSet(problem, exact_prices(problem).value)
    nothing = np.zeros((1, 2))
    for weights in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        assert optimal.ends(np.array([weights]), nothing) == pytest.approx((0, 3), abs=1e-4)
    assert optimal.ends(nothing, nothing + 1) == pytest.approx((0, 0), abs=1e-4)
    closed = problem_of(columns, [0, 0], [100, 100], 2)
    low, high = OptimalSet(closed, exact_prices(closed).value).ends(nothing + 1, nothing)
    assert low == pytest.approx(5, abs=1e-4)
    assert high == np.inf


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20))
def test_optimal_prices_have_distance_0_and_no_others(seed) -> None:
    """Exact prices, and any point between them and others of the same value, are in the set."""
    rng = np.random.default_rng(seed)
    count, periods = int(rng.integers(1, 7)), 4
    columns = make_columns(
        rng.integers(1, 9, count).astype(float), 0, rng.integers(1, 4, count),
        rng.integers(1, 5, count), rng.integers(1, 4, count),
    )  # fmt: skip
    problem = problem_of(columns, rng.integers(0, 3, periods), rng.integers(0, 9, periods), periods)
    exact = exact_prices(problem)
    assert distance(problem, exact.batch[0], exact.memory[0]) == pytest.approx(0, abs=1e-4)
    other = rng.uniform(0, 4, (2, periods))
    worse = value_at(problem, other[:1], other[1:]) - exact.value
    if worse > 1e-3:
        assert distance(problem, *other) > 0
