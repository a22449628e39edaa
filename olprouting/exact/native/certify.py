"""Root bounds in exact arithmetic.

With gamma < 1 values are sums of doubles, and an incumbent that meets the root bound does so only
up to rounding. Both root bounds have whole peaks behind them, so their values are rational numbers
that can be computed; these functions do that, once per decision.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.check import discount_numerators
from olprouting.exact.native.relaxation_kernels import MOST_WORKERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.compiling import Floats, Ints
    from olprouting.exact.native.prepare import Prepared

NEAR = 1e-9
"""Slopes this close to 0, relative to the sum of weights, are computed exactly."""


def exact_level_bound(prepared: Prepared) -> Fraction:
    """Return the bound of ``_level_bound`` at the root, exactly, as an objective in tokens.

    All requests are admitted: at each offset the workers are filled up to a level, and one of them
    gets the largest request.
    """
    p = prepared.problem
    loads = p.loads.astype(np.int64)
    offsets = np.arange(loads.shape[1])
    tokens = int((p.sizes * p.supply).sum())
    grown = int(p.growth)
    amount = tokens + grown * offsets * p.admissions
    ordered = np.sort(loads, axis=0)
    number = np.arange(1, len(loads) + 1)[:, None]
    # filling the m lowest workers evenly reaches the level or, for a wrong m, above it
    heights = -(-(np.cumsum(ordered, axis=0) + amount) // number)
    level = np.maximum(heights.min(axis=0), p.floor.astype(np.int64))
    with_largest = loads + int(p.sizes[-1]) + grown * offsets
    values = [_value(prepared, np.maximum(level, own), tokens) for own in with_largest]
    return min(values)


def exact_box_bound(
    prepared: Prepared, point: Floats, low: Floats, high: Floats
) -> Fraction | None:
    """Return the relaxation's least value, exactly, or None if `point` is not proven to attain it.

    A whole point is a minimiser if no set of workers, moved up or down by one inside the
    intervals, has a negative slope. Slopes near 0 are computed in integers.
    """
    p = prepared.problem
    workers = len(point)
    if workers > MOST_WORKERS:
        return None
    grown = p.growth * p.slots[:, None] * np.arange(len(p.weights))
    loads = p.loads + point[:, None] + grown
    peaks = np.maximum(loads.max(axis=0), p.floor)
    at_peak = ((loads == peaks) << np.arange(workers)[:, None]).sum(axis=0)
    fixed = p.floor == peaks
    rising = int((1 << np.flatnonzero(point < high)).sum())
    falling = int((1 << np.flatnonzero(point > low)).sum())
    for subset in range(1, 1 << workers):
        up = (at_peak & subset) != 0
        down = (at_peak != 0) & ((at_peak & ~subset) == 0) & ~fixed
        size = subset.bit_count()
        if subset & ~rising == 0 and not _rises(prepared, up, size, 1):
            return None
        if subset & ~falling == 0 and not _rises(prepared, down, size, -1):
            return None
    return _value(prepared, peaks.astype(np.int64), int(point.sum()))


def _rises(prepared: Prepared, moved: npt.NDArray[np.bool_], size: int, direction: int) -> bool:
    """Whether moving `size` workers, and with them the peaks `moved`, does not lower the value."""
    p = prepared.problem
    slope = direction * (float(p.weights[moved].sum()) - p.price * size)
    if abs(slope) > NEAR * p.weights.sum():
        return slope > 0
    numerators, _ = discount_numerators(prepared.decision.gamma, prepared.decision.horizon)
    peaks = sum(numerators[h] for h in np.flatnonzero(moved).tolist())
    exact = direction * (prepared.decision.workers * peaks - size * sum(numerators))
    return exact >= 0


def _value(prepared: Prepared, peaks: Ints, total: int) -> Fraction:
    decision = prepared.decision
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    columns: list[Any] = (decision.workers * peaks - total).tolist()
    raised = Fraction(sum(map(int.__mul__, numerators, columns)), scale)
    return (raised + prepared.offset) / prepared.unit
