"""The same decision in smaller numbers.

Which assignment is best depends neither on what all workers hold alike nor on the unit of a token:
KV sizes counted in bytes, or loads far above the differences between workers, are large for no
reason, and solvers judge rows by absolute tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.check import exact_data
from olprouting.instances import Decision, Growth

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

SMALL = 2**20
"""Whole numbers below this are small enough for every solver, and reducing them would cost time."""

LARGEST = 2**53
"""Whole numbers up to here are doubles too."""


@dataclass(frozen=True)
class Reduced:
    """A decision with the assignments of another one, and its values in a larger unit.

    Parameters
    ----------
    decision
        The decision in smaller numbers.
    unit
        Tokens per unit: an assignment's value in tokens is ``unit`` times its value here.
    """

    decision: Decision
    unit: Fraction


def reduced(decision: Decision) -> Reduced:
    """Return `decision` without what its loads have in common, in the largest unit there is.

    At each offset h the least load is subtracted from all. Where nothing grows by single tokens
    (H = 0, or frozen requests), everything is divided by its greatest common divisor; decimal
    fractions become whole numbers that way.

    Parameters
    ----------
    decision
        The decision.

    Returns
    -------
    Reduced
        The smaller decision; the same one where its numbers are small, or where doubles could not
        hold the smaller ones exactly.
    """
    data = exact_data(decision)
    if data.unit == 1 and max(int(data.loads.max()), int(data.sizes.max(initial=0))) < SMALL:
        return Reduced(decision, Fraction(1))
    loads, sizes = data.loads - data.loads.min(axis=0), data.sizes
    divisor = data.unit
    if decision.growth is Growth.FROZEN or decision.horizon == 0:
        divisor = gcd(*loads.ravel().tolist(), *sizes.tolist()) or 1
    smaller_loads, smaller_sizes = _quotients(loads, divisor), _quotients(sizes, divisor)
    if smaller_loads is None or smaller_sizes is None:
        return Reduced(decision, Fraction(1))
    smaller = decision.replace(
        projected_load_tokens=smaller_loads, waiting_prompt_tokens=smaller_sizes
    )
    return Reduced(smaller, Fraction(divisor, data.unit))


def _quotients(numerators: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any] | None:
    """Return ``numerators / divisor`` as int64 or exact doubles, or None if neither holds them."""
    exact = [Fraction(number, divisor) for number in numerators.ravel().tolist()]
    if max(exact, default=0) > LARGEST:
        return None
    if all(number.denominator == 1 for number in exact):
        return np.array([int(number) for number in exact], np.int64).reshape(numerators.shape)
    decimals = [float(number) for number in exact]
    if any(Fraction(repr(d)) != number for d, number in zip(decimals, exact, strict=True)):
        return None
    return np.array(decimals).reshape(numerators.shape)
