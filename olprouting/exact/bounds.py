"""What a floating-point solver's dual bound proves, and exact values as the numbers of a result."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olprouting.instances import Decision

FEASIBILITY_TOLERANCE = 1e-6
"""By how much solvers let a row be violated (HiGHS, Gurobi, CBC, SCIP: 1e-6 or less)."""

ROUNDING = 1e-12
"""Relative error granted to a solver's sums of doubles (machine precision is 1e-16)."""


def tolerance_tokens(decision: Decision) -> float:
    """Return how far a solver's tolerances may carry the value of `decision` at most, in tokens.

    Each peak M_h stands in the objective with weight G * gamma^h and may undercut its rows by the
    feasibility tolerance.
    """
    window = sum(float(decision.gamma) ** h for h in range(decision.horizon + 1))
    return FEASIBILITY_TOLERANCE * max(1.0, decision.workers * window)


def proven_bound(dual_bound: float, decision: Decision) -> int | Fraction | None:
    """Return the lower bound that a solver's dual bound proves, or None if it is not finite.

    The solver's tolerance is subtracted first. Where every objective coefficient is an integer
    the optimum is one too, so that the remainder may be rounded up: this is what closes the gap.
    With gamma < 1 values lie too densely for that, and the bound stays short of the optimum by
    the tolerance. No imbalance is negative, so that 0 is a bound whatever the solver says.
    """
    if not math.isfinite(dual_bound):
        return None
    slack = tolerance_tokens(decision) + ROUNDING * abs(dual_bound)
    below = Fraction(dual_bound) - Fraction(slack)
    return max(0, math.ceil(below) if decision.integral else below)


def closing_gap_tokens(decision: Decision) -> float:
    """Return the absolute gap at which a solver may stop because `proven_bound` closes it.

    With integral values a bound above objective - 1, tolerance included, rounds up to the
    objective; half a token leaves room for the tolerance.
    """
    return 0.5 if decision.integral and tolerance_tokens(decision) < 0.25 else 0.0


def plain(value: int | Fraction) -> int | float:
    """Return a value as an int where it is one, else as the nearest double."""
    return value if isinstance(value, int) else float(value)


def rounded_down(bound: int | Fraction) -> int | float:
    """Return a lower bound as an int where it is one, else as the next double that is not above."""
    if isinstance(bound, int):
        return bound
    nearest = float(bound)
    return nearest if Fraction(nearest) <= bound else math.nextafter(nearest, -math.inf)


def scaled(value: int | Fraction, unit: Fraction) -> int | Fraction:
    """Return ``value * unit``, as an int where both are whole."""
    if isinstance(value, int) and unit.denominator == 1:
        return value * unit.numerator
    return value * unit
