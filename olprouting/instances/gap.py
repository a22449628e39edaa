"""Gap conventions: one definition for every report.

Minimisation: the incumbent is the upper bound, the gap is incumbent - bound.
Maximisation: the incumbent is the lower bound, the gap is bound - incumbent.
Both are relative to ``max(|incumbent|, 1e-9)``, 0 when the two are equal, and None when either is
missing, so that a limit without an incumbent can never look like a closed gap. A negative gap says
that the two contradict each other; it is never hidden behind its absolute value.
"""

from __future__ import annotations

import math
from fractions import Fraction

Value = int | float | Fraction

ROUNDING_ULPS = 4
"""Doubles this close are the same number, rounded: an exact value to the nearest, say, and an equal
bound downwards."""


def absolute_gap(
    incumbent: Value | None, bound: Value | None, *, maximise: bool = False
) -> float | None:
    """Return the distance between incumbent and bound, or None if either is missing.

    Parameters
    ----------
    incumbent
        The best value found.
    bound
        What no value can be better than.
    maximise
        Whether greater values are better.

    Returns
    -------
    float or None
        The gap: 0 where the two agree up to the rounding of doubles, negative where they
        contradict each other.
    """
    if incumbent is None or bound is None:
        return None
    gap = float(bound - incumbent if maximise else incumbent - bound)
    rounded = isinstance(incumbent, float) or isinstance(bound, float)
    if rounded and abs(gap) <= ROUNDING_ULPS * math.ulp(float(bound)):
        return 0.0
    return gap


def relative_gap(
    incumbent: Value | None, bound: Value | None, *, maximise: bool = False
) -> float | None:
    """Return the absolute gap over ``max(|incumbent|, 1e-9)``, or None if either is missing.

    Parameters and sign are those of `absolute_gap`.
    """
    gap = absolute_gap(incumbent, bound, maximise=maximise)
    if gap is None or incumbent is None:
        return None
    return 0.0 if gap == 0 else gap / max(abs(float(incumbent)), 1e-9)
