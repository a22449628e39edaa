"""Gap conventions: one definition for every report.

Minimisation: the incumbent is the upper bound, the gap is incumbent - bound.
Maximisation: the incumbent is the lower bound, the gap is bound - incumbent.
Both are relative to ``max(|incumbent|, 1e-9)``, 0 when the two are equal, and None when either is
missing, so that a limit without an incumbent can never look like a closed gap.
"""

from __future__ import annotations

from fractions import Fraction

Value = int | float | Fraction


def absolute_gap(incumbent: Value | None, bound: Value | None) -> float | None:
    """Return the distance between incumbent and bound, >= 0, or None if either is missing."""
    if incumbent is None or bound is None:
        return None
    return abs(float(incumbent - bound))


def relative_gap(incumbent: Value | None, bound: Value | None) -> float | None:
    """Return the absolute gap over ``max(|incumbent|, 1e-9)``, or None if either is missing."""
    gap = absolute_gap(incumbent, bound)
    if gap is None or incumbent is None:
        return None
    return 0.0 if gap == 0 else gap / max(abs(float(incumbent)), 1e-9)
