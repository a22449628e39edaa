"""Filters by length, always counted, and a cut in time."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.instances import Trace
from olprouting.traces import limit_tokens, min_decode_tokens, split_history

TEN = Trace(
    prompt_tokens=[1, 2, 1024, 1025, 2000, 9000, 5, 6, 7, 8],
    decode_tokens=[9, 3, 1024, 1, 1, 1, 2, 2, 2, 3000],
    arrival_s=np.arange(10),
    name="ten",
)


def test_no_limit_changes_nothing() -> None:
    assert limit_tokens(TEN) is TEN
    assert limit_tokens(TEN, max_prompt_tokens=9000) is TEN


def test_dropped_requests_are_counted_and_take_their_arrivals_along() -> None:
    kept = limit_tokens(TEN, max_prompt_tokens=1024, action="drop")
    assert kept.notices == ("3 of 10 dropped: prompt_tokens > 1024",)
    assert kept.arrival_s.tolist() == [0, 1, 2, 6, 7, 8, 9]


def test_each_limit_counts_what_is_left_by_the_one_before() -> None:
    kept = limit_tokens(
        TEN, max_prompt_tokens=1024, max_decode_tokens=2000, max_total_tokens=2047, action="drop"
    )
    assert kept.notices == (
        "3 of 10 dropped: prompt_tokens > 1024",
        "1 of 7 dropped: decode_tokens > 2000",
        "1 of 6 dropped: total_tokens > 2047",
    )


def test_clipping_counts_and_never_leaves_a_request_without_decode() -> None:
    """Total 1000 over (9000, 1) must become (999, 1), not (1000, 0)."""
    clipped = limit_tokens(TEN, max_total_tokens=1000, action="clip")
    assert clipped.notices == ("5 of 10 clipped: total_tokens > 1000",)
    assert clipped.prompt_tokens.tolist() == [1, 2, 999, 999, 999, 999, 5, 6, 7, 8]
    assert clipped.decode_tokens.tolist() == [9, 3, 1, 1, 1, 1, 2, 2, 2, 992]
    single = limit_tokens(TEN, max_decode_tokens=8, action="clip")
    assert single.decode_tokens.tolist() == [8, 3, 8, 1, 1, 1, 2, 2, 2, 8]


def test_by_default_a_request_over_a_limit_is_an_error() -> None:
    message = "ten: request 5 has prompt_tokens = 9000, over the limit 8192 .1 of 10 are."
    with pytest.raises(InputError, match=message):
        limit_tokens(TEN, max_prompt_tokens=8192)


@pytest.mark.parametrize(
    "options", [{"max_prompt_tokens": 0}, {"max_total_tokens": 1}, {"action": "cut"}]
)
def test_senseless_limits_are_refused(options) -> None:
    with pytest.raises(InputError):
        limit_tokens(TEN, **options)


def test_short_outputs_are_dropped_and_counted() -> None:
    kept = min_decode_tokens(TEN, 3)
    assert kept.notices == ("6 of 10 dropped: decode_tokens < 3",)
    assert kept.decode_tokens.min() == 3
    assert min_decode_tokens(TEN, 1) is TEN


FOUR = Trace(
    np.array([5, 6, 7, 8]),
    np.array([1, 2, 3, 4]),
    arrival_s=np.array([0.5, 1.0, 4.0, 4.5]),
    release_iteration=np.array([2, 3, 9, 11]),
    key=np.array([1, 1, 2, 2]),
)


def test_the_past_comes_first_and_the_clock_starts_anew() -> None:
    """Catches a run that waits for the time its history took, and rows in both parts."""
    past, rest = split_history(FOUR, 2)
    np.testing.assert_array_equal(past.prompt_tokens, [5, 6])
    np.testing.assert_array_equal(rest.decode_tokens, [3, 4])
    np.testing.assert_array_equal(rest.arrival_s, [0.0, 0.5])
    np.testing.assert_array_equal(rest.release_iteration, [1, 3])
    np.testing.assert_array_equal(rest.key, [2, 2])


@pytest.mark.parametrize("requests", [0, 4, 9])
def test_both_parts_need_a_request(requests) -> None:
    """Catches an empty run or a history that takes everything."""
    with pytest.raises(InputError, match=f"4 request\\(s\\) cannot be split after {requests}"):
        split_history(FOUR, requests)
