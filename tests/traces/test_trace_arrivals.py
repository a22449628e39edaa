"""Arrival modes."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.instances import Trace
from olprouting.traces import as_recorded, batches, poisson, require_arrivals, spread_batches


def trace(requests: int = 6, **columns) -> Trace:
    return Trace(np.arange(1, requests + 1), np.ones(requests), **columns)


RECORDED_S = [0, 0, 0.1, 3, 3, 7]


def test_a_speed_up_keeps_fractions_and_count() -> None:
    """Catches rounding of intervals, which merges arrivals."""
    fast = as_recorded(trace(arrival_s=RECORDED_S), 10)
    np.testing.assert_allclose(fast.arrival_s, [0, 0, 0.01, 0.3, 0.3, 0.7])
    assert fast.notices == ("recorded arrivals sped up 10 times",)


def test_no_speed_up_changes_nothing() -> None:
    recorded = trace(arrival_s=RECORDED_S)
    assert as_recorded(recorded) is recorded


@pytest.mark.parametrize("speed_up", [0, -1, float("inf"), float("nan")])
def test_a_senseless_speed_up_is_refused(speed_up) -> None:
    with pytest.raises(InputError, match="speed_up"):
        as_recorded(trace(arrival_s=RECORDED_S), speed_up)


@pytest.mark.parametrize(
    "mode",
    [require_arrivals, as_recorded, lambda t: spread_batches(t, np.random.default_rng(1))],
)
def test_modes_that_need_arrivals_say_what_to_choose(mode) -> None:
    with pytest.raises(InputError, match="no arrival times in lengths: choose an arrival process"):
        mode(trace(name="lengths"))


def test_poisson_arrivals_have_the_rate_start_at_0_and_follow_the_seed() -> None:
    many = trace(20_000, release_iteration=np.ones(20_000))
    first = poisson(many, 5, np.random.default_rng(1))
    again = poisson(many, 5, np.random.default_rng(1))
    other = poisson(many, 5, np.random.default_rng(2))
    np.testing.assert_array_equal(first.arrival_s, again.arrival_s)
    assert not np.array_equal(first.arrival_s, other.arrival_s)
    assert first.arrival_s[0] == 0
    assert first.release_iteration is None
    gaps_s = np.diff(first.arrival_s)
    # Exponential gaps: mean = standard deviation = 0.2; 4 standard errors are 0.0057.
    assert abs(gaps_s.mean() - 0.2) < 0.0057
    assert abs(gaps_s.std() - 0.2) < 0.01


def test_batches_come_in_seconds_or_iterations() -> None:
    in_seconds = batches(trace(5, release_iteration=np.ones(5)), 2, every_s=1.5)
    assert in_seconds.arrival_s.tolist() == [0, 0, 1.5, 1.5, 3]
    assert in_seconds.release_iteration is None
    in_iterations = batches(trace(5, arrival_s=np.zeros(5)), 2, every_iterations=3)
    assert in_iterations.release_iteration.tolist() == [1, 1, 4, 4, 7]
    assert in_iterations.arrival_s is None


@pytest.mark.parametrize(
    "options",
    [
        {"requests": 0, "every_s": 1},
        {"requests": 1},
        {"requests": 1, "every_s": 1, "every_iterations": 1},
        {"requests": 1, "every_s": 0},
        {"requests": 99999999999999999999, "every_s": 1},
        {"requests": 1, "every_iterations": 0},
    ],
)
def test_senseless_batches_are_refused(options) -> None:
    """Catches an OverflowError of NumPy's at a number beyond 64 bits."""
    with pytest.raises(InputError):
        batches(trace(), **options)


def test_batches_are_spread_until_the_next_arrival_and_no_further() -> None:
    """The last batch, at 9, takes the gap before it (9 - 6): it ends before 12."""
    batched = trace(7, arrival_s=[0, 0, 0, 6, 9, 9, 9])
    spread = spread_batches(batched, np.random.default_rng(1))
    s = spread.arrival_s
    assert 0 <= s[0] < s[1] < s[2] < 6
    assert s[3] == 6
    assert 9 <= s[4] < s[5] < s[6] < 12
    np.testing.assert_array_equal(spread.prompt_tokens, batched.prompt_tokens)
    assert spread.notices == (
        "6 requests that shared 2 arrival times spread until the next arrival",
    )
    again = spread_batches(batched, np.random.default_rng(1))
    np.testing.assert_array_equal(again.arrival_s, s)


def test_single_arrivals_and_one_single_batch_stay() -> None:
    """One batch has no next arrival to spread towards."""
    for arrival_s in ([0, 1, 2], [0, 0, 0]):
        still = trace(3, arrival_s=arrival_s)
        assert spread_batches(still, np.random.default_rng(1)) is still
