"""Compiled: residuals taken over in one pass."""

from __future__ import annotations

from olprouting.compiling import Floats, Ints, compiled


@compiled
def take_over(seen: Ints, kept: Floats, first: int) -> int:
    """Write what workers have left, shape (G, W), into `kept` from column `first` on; at least 0.

    Returns how many were negative.
    """
    negative = 0
    for g in range(seen.shape[0]):
        row = kept[g, first : first + seen.shape[1]]
        for k in range(seen.shape[1]):
            left = seen[g, k]
            negative += left < 0
            row[k] = max(left, 0)
    return negative
