"""A trace split by time."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.instances import Trace
from olprouting.traces import split_history

TRACE = Trace(
    np.array([5, 6, 7, 8]),
    np.array([1, 2, 3, 4]),
    arrival_s=np.array([0.5, 1.0, 4.0, 4.5]),
    release_iteration=np.array([2, 3, 9, 11]),
    key=np.array([1, 1, 2, 2]),
)


def test_the_past_comes_first_and_the_clock_starts_anew() -> None:
    """Catches a run that waits for the time its history took, and rows in both parts."""
    past, rest = split_history(TRACE, 2)
    np.testing.assert_array_equal(past.prompt_tokens, [5, 6])
    np.testing.assert_array_equal(rest.decode_tokens, [3, 4])
    np.testing.assert_array_equal(rest.arrival_s, [0.0, 0.5])
    np.testing.assert_array_equal(rest.release_iteration, [1, 3])
    np.testing.assert_array_equal(rest.key, [2, 2])


@pytest.mark.parametrize("requests", [0, 4, 9])
def test_both_parts_need_a_request(requests) -> None:
    """Catches an empty run or a history that takes everything."""
    with pytest.raises(InputError, match=f"4 request\\(s\\) cannot be split after {requests}"):
        split_history(TRACE, requests)
