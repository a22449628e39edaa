"""Exact values as the numbers that results carry."""

from __future__ import annotations

import math
from fractions import Fraction


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
