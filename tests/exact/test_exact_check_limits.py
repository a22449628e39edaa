"""The recheck where machine integers end."""

from __future__ import annotations

import numpy as np

from olprouting import exact
from olprouting.instances import Decision


def test_a_value_beyond_64_bits_is_exact() -> None:
    """1,100 workers, one of which holds 2^53 - 10 tokens: 1,099 times that is missing to balance,
    more than 2^63. Catches machine integers beyond their range."""
    loads = np.zeros((1100, 1), np.int64)
    loads[0] = 2**53 - 10
    decision = Decision(loads, [0] * 1100, [1])
    assert exact.recheck(decision, ()) == 1099 * (2**53 - 10)
