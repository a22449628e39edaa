"""Bounds beyond a file's proof: exchanges that refute them, searches that prove or refute them."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from certificate_cases import decisions
from hypothesis import given, settings
from hypothesis import strategies as st
from test_certificates_of_periods import exactly as exact_period
from test_certificates_of_periods import random_period

from olprouting import exact
from olprouting.certificates import DoesNotHoldError, certificate, verify
from olprouting.certificates.decision_descent import descend
from olprouting.certificates.decision_value import ExactDecision, value_of
from olprouting.certificates.period_search import worth_more
from olprouting.certificates.reading import read_exact, same_double
from olprouting.certificates.second_opinion import strengthened
from olprouting.instances import Decision


def exactly(decision: Decision) -> ExactDecision:
    return ExactDecision.from_document(read_exact(decision.to_json(), "decision"))


def places(decision: Decision, pairs) -> tuple[int, ...]:
    """The worker of each request, -1 for the queue."""
    to = dict(pairs)
    return tuple(to.get(i, -1) for i in range(decision.waiting))


def one_step(mine: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two assignments differ by an exchange of two places, or by one move."""
    differ = [i for i, (a, b) in enumerate(zip(mine, other, strict=True)) if a != b]
    if len(differ) == 2:
        i, j = differ
        return (mine[i], mine[j]) == (other[j], other[i])
    return len(differ) == 1


@settings(max_examples=80, deadline=None)
@given(decisions(), st.integers(0, 2**20))
def test_a_descent_ends_where_no_exchange_helps(decision, pick) -> None:
    """Every step is feasible and better, and in the end no neighbour is better still. Catches a
    value after a step that is wrong for the queue, a move, growth or a worker that is left out."""
    data, every = exactly(decision), list(exact.assignments(decision))
    pairs = every[pick % len(every)]
    value = value_of(data, list(pairs))
    for better in descend(data, pairs):
        pairs, before, value = better, value, value_of(data, better)
        assert value < before
    mine = places(decision, pairs)
    for other in every:
        if one_step(mine, places(decision, other)):
            assert value_of(data, list(other)) >= value - Fraction(1, 10**6)


@pytest.mark.parametrize("low", [0, 1])
def test_a_descent_moves_requests_to_free_slots_of_any_worker(low) -> None:
    """Loads 0 and 9, two requests of 3 beside the 9: both move over, and 6 stands beside 9."""
    loads = [[9], [9]]
    loads[low] = [0]
    decision = Decision(loads, [2, 2], [3, 3])
    (*_, last) = descend(exactly(decision), [(0, 1 - low), (1, 1 - low)])
    assert last == [(0, low), (1, low)]


@settings(max_examples=60, deadline=None)
@given(decisions())
def test_small_bounds_are_proven_or_refuted(decision) -> None:
    """With no proof at all: the optimum is proven, anything above is refuted. Catches an argument
    that gives up, or takes a bound that no assignment reaches for a refuted one."""
    data = exactly(decision)
    every = [(Fraction(exact.objective(decision, a)), list(a)) for a in exact.assignments(decision)]
    best = min(every)[0]
    nothing = (Fraction(0), "zero")
    for known in ([], [max(every)[1]]):
        assert strengthened(data, nothing, best, known, [])[0] == best or best == 0
        with pytest.raises(DoesNotHoldError, match=r"^bound: it is .*, but an assignment of "):
            strengthened(data, nothing, best + 1, known, [])
    rounded = Fraction(float(best))  # a double, perhaps above the fraction
    assert same_double(rounded, strengthened(data, nothing, rounded, [], [])[0])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20), st.integers(0, 2**20))
def test_a_search_of_starts_finds_what_is_worth_more_and_nothing_else(seed, other) -> None:
    """Brute force over all whole starts, at any prices. Catches a cost, a bound or an order of
    equal requests that rules out too much, and starts that do not fit."""
    period = exact_period(random_period(seed, waiting=3))
    rng = np.random.default_rng(other)
    batch, memory = (rng.integers(0, 3, (2, period.workers, period.remaining)) / 4).tolist()
    prices = [[[Fraction(p) for p in row] for row in table] for table in (batch, memory)]
    best = Fraction(0)
    for to in product(range(-1, period.workers), repeat=len(period.rewards)):
        x = [[int(g == own) for g in range(period.workers)] for own in to]
        capacities = (period.slots, period.kv_tokens)
        fits = all(
            n <= most
            for use, capacity in zip(period.use(x), capacities, strict=True)
            for row, limits in zip(use, capacity, strict=True)
            for n, most in zip(row, limits, strict=True)
        )
        if fits:
            best = max(best, period.value(x))
    assert worth_more(period, best, *prices) is None
    if best > 0:
        found = worth_more(period, best - Fraction(1, 1000), *prices)
        assert found == best
        low = worth_more(period, Fraction(0), *prices)
        assert low is not None
        assert 0 < low <= best


def test_shares_of_what_does_not_exist_prove_nothing(e2) -> None:
    """A worker or an offset too many: a claim that is wrong, and no raw error."""
    document = certificate(e2, exact.solve(e2, solver="highs"))
    for share in ([9, 0, "1"], [-1, 0, "1"], [0, 9, "1"]):
        document["proof"] = {"kind": "peaks", "bound": "1", "shares": [share]}
        with pytest.raises(DoesNotHoldError, match=r"^proof: there is no worker "):
            verify(json.dumps(document))
