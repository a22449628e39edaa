"""Survival, Kaplan-Meier and exact-match forecasts against their definitions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from olprouting.errors import InputError
from olprouting.forecasts import ExactMatch, KaplanMeier, Queries, Survival
from olprouting.forecasts.curve_kernels import cutoff_of
from olprouting.instances import Trace

LENGTHS = st.lists(st.integers(1, 12), min_size=0, max_size=12)
AGES = np.arange(16)
BY_ONE = Trace(np.array([1]), np.array([30]))


def history_of(lengths, key=None) -> Trace:
    lengths = np.array(lengths, np.int64)
    return Trace(np.ones(len(lengths), np.int64), lengths, key=key)


def ask(forecaster, horizon, ages=AGES, trace=BY_ONE, row=0):
    return forecaster.predict(trace, Queries(np.full(len(ages), row), ages), horizon)


def by_definition(lengths, age, horizon):
    """(p, mu, c) of the empirical law, in fractions; c = H + 1 beyond all history."""
    rest = [length - age for length in lengths if length > age]
    if not rest:
        return Fraction(0), None, Fraction(horizon + 1)
    soon = [r for r in rest if r <= horizon]
    p = Fraction(len(soon), len(rest))
    mu = Fraction(sum(soon), len(soon)) if soon else None
    return p, mu, Fraction(sum(min(r, horizon + 1) for r in rest), len(rest))


@given(lengths=LENGTHS, horizon=st.integers(1, 9))
@example(lengths=[], horizon=3)  # no history: everything outlasts
@example(lengths=[5] * 4, horizon=4)  # constant history: certain until its end
@settings(max_examples=60, deadline=None)
def test_survival_is_the_mean_over_past_lengths(lengths, horizon) -> None:
    """Catches an offset of one in N or R, and a ceiling spoilt by rounding."""
    answers = ask(Survival(history_of(lengths)), horizon)
    for age in AGES.tolist():
        p, mu, c = by_definition(lengths, age, horizon)
        assert answers.finish_probability[age] == pytest.approx(float(p), abs=1e-12)
        assert answers.finisher_remaining[age] == pytest.approx(float(mu or 1), abs=1e-9)
        assert answers.expected_remaining[age] == pytest.approx(float(c), abs=1e-12)
        assert cutoff_of(answers.expected_remaining[age], horizon) == ceil(c)


@given(lengths=LENGTHS, horizon=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_forecasts_lie_in_range_and_grow_with_the_horizon(lengths, horizon) -> None:
    """Catches a cap at H where the paper's own merges r = H with r > H."""
    for forecaster in (Survival(history_of(lengths)), KaplanMeier(history_of(lengths))):
        near = ask(forecaster, horizon).expected_remaining
        far = ask(forecaster, horizon + 1).expected_remaining
        assert (near >= 1).all()
        assert (near <= horizon + 1 + 1e-12).all()
        assert (far >= near - 1e-12).all()


@given(lengths=LENGTHS, horizon=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_kaplan_meier_without_running_requests_is_survival(lengths, horizon) -> None:
    """Catches events counted at the wrong side of the risk set."""
    plain = ask(Survival(history_of(lengths)), horizon)
    product = ask(KaplanMeier(history_of(lengths)), horizon)
    for ours, theirs in zip(product, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    for c, d in zip(product.expected_remaining, plain.expected_remaining, strict=True):
        assert cutoff_of(c, horizon) == cutoff_of(d, horizon)


def test_kaplan_meier_by_hand() -> None:
    """Lengths 2, 4, 4 and a request that still runs at age 3 (its length is at least 4).

    At 2 one of 4 completes: S = 3/4. At 4 the one censored at age 3 is no longer at risk, both
    others complete: S = 0. Without it S(2) = 2/3, so that running requests lift the curve. At age
    0 with H = 2: c = S(0) + S(1) + S(2) = 1 + 1 + 3/4.
    """
    heeding = ask(KaplanMeier(history_of([2, 4, 4]), running=np.array([3])), 2)
    ignoring = ask(Survival(history_of([2, 4, 4])), 2)
    assert heeding.expected_remaining[0] == pytest.approx(2.75)
    assert heeding.finish_probability[0] == pytest.approx(1 / 4)
    assert ignoring.expected_remaining[0] == pytest.approx(2 + 2 / 3)


def test_the_oldest_request_still_running_leaves_the_tail_open() -> None:
    """Length 2 and one running at age 6: what outlived 2 is known no further, so it outlasts."""
    answers = ask(KaplanMeier(history_of([2]), running=np.array([6])), 3)
    assert answers.expected_remaining[0] == pytest.approx(1 + 1 + 0.5 + 0.5)
    np.testing.assert_allclose(answers.expected_remaining[2:], 4)
    np.testing.assert_allclose(answers.finish_probability[2:], 0)


@given(lengths=LENGTHS, horizon=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_exact_match_with_one_key_is_survival(lengths, horizon) -> None:
    """Catches a key's curve that misses its first or last request."""
    keyed = history_of(lengths, key=np.full(len(lengths), 7))
    asked = BY_ONE.replace(key=np.array([7]))
    one = ask(ExactMatch(keyed), horizon, trace=asked)
    for ours, theirs in zip(one, ask(Survival(keyed), horizon), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_exact_match_reads_its_own_key_and_falls_back_without_one() -> None:
    """Key 1 has lengths 2, 2, key 2 has 9, 9; key 3 is unknown and answers for all."""
    history = history_of([2, 2, 9, 9], key=np.array([1, 1, 2, 2]))
    trace = Trace(np.ones(3, np.int64), np.full(3, 12), key=np.array([1, 2, 3]))
    forecaster = ExactMatch(history)
    at_zero = Queries(np.arange(3), np.zeros(3, np.int64))
    np.testing.assert_allclose(
        forecaster.predict(trace, at_zero, 20).expected_remaining, [2, 9, 5.5]
    )
    np.testing.assert_array_equal(forecaster.covered(trace, at_zero), [True, True, False])


def test_a_key_whose_history_is_outlived_does_not_fall_back() -> None:
    """Key 1 has length 2 only; at age 5 its request outlasts, although others reached 9."""
    history = history_of([2, 9, 9], key=np.array([1, 2, 2]))
    trace = Trace(np.array([1]), np.array([12]), key=np.array([1]))
    queries = Queries(np.array([0]), np.array([5]))
    assert ExactMatch(history).predict(trace, queries, 3).expected_remaining == [4.0]
    assert not ExactMatch(history).covered(trace, queries).any()


def test_without_keys_prompts_of_a_bucket_speak_for_each_other() -> None:
    """Two buckets: short prompts answer shortly, long ones at length."""
    history = Trace(np.array([1, 2, 100, 101]), np.array([3, 3, 8, 8]))
    trace = Trace(np.array([2, 90]), np.array([1, 1]))
    queries = Queries(np.arange(2), np.zeros(2, np.int64))
    answers = ExactMatch(history, buckets=2).predict(trace, queries, 20)
    np.testing.assert_allclose(answers.expected_remaining, [3, 8])


def test_coverage_ends_where_history_does() -> None:
    """Catches coverage claimed for ages that nobody reached."""
    covered = Survival(history_of([3, 5])).covered(BY_ONE, Queries(np.zeros(7, np.int64), AGES[:7]))
    np.testing.assert_array_equal(covered, AGES[:7] < 5)
    for forecaster in (Survival(), KaplanMeier(), ExactMatch()):
        queries = Queries(np.zeros(7, np.int64), AGES[:7])
        assert not forecaster.covered(BY_ONE, queries).any()
        np.testing.assert_array_equal(forecaster.predict(BY_ONE, queries, 4).expected_remaining, 5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ask(Survival(), 0), "horizon = 0 must be >= 1"),
        (lambda: ask(Survival(), 3, ages=np.array([-1])), r"age\[0\] = -1"),
        (lambda: ask(ExactMatch(buckets=0), 3), "buckets = 0 must be >= 1"),
        (lambda: ask(KaplanMeier(running=np.array([2, -3])), 3), r"running\[1\] = -3"),
    ],
)
def test_bad_arguments_are_named(build, message) -> None:
    """Catches nonsense that would read outside a table."""
    with pytest.raises(InputError, match=message):
        build()
