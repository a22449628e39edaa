"""The recheck where machine integers end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from olprouting import exact
from olprouting.instances import Decision


def test_a_value_beyond_64_bits_is_exact() -> None:
    """1,100 workers, one of which holds 9007199254.740982 tokens: 1,099 times that is missing to
    balance, in millionths more than 2^63. Catches machine integers beyond their range."""
    loads = np.zeros((1100, 1))
    loads[0] = 9007199254.740982
    decision = Decision(loads, [0] * 1100, [1])
    assert exact.recheck(decision, ()) == Fraction(1099 * 9007199254740982, 10**6)
