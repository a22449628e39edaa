"""Minimisation of a smooth convex function over x >= 0: projected limited-memory BFGS.

Coordinates at 0 with a gradient that would push them below stay fixed for a step; in the others
the two-loop recursion of L-BFGS gives the direction, and the path is bent at 0 (Bertsekas 1982).
Every step lowers the function by the Armijo policy.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Smooth = Callable[[Floats], tuple[float, Floats]]

MEMORY = 10
_ARMIJO = 1e-4
_SHORTEST = 1e-8


def descend(function: Smooth, x: Floats) -> Iterator[tuple[float, Floats]]:
    """Yield (value, point) after every step from `x` >= 0, until no step lowers the function.

    Parameters
    ----------
    function
        Returns value and gradient at a point.
    x
        The start, shape (n,).
    """
    pairs: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    value, gradient = function(x)
    while True:
        free = (x > 0) | (gradient < 0)
        slope = np.where(free, gradient, 0.0)
        if not slope.any():
            return
        direction = _direction(slope, free, pairs, value)
        step = 1.0
        while True:
            moved = np.maximum(x + step * direction, 0.0)
            change = moved - x
            new_value, new_gradient = function(moved)
            if new_value <= value + _ARMIJO * float(gradient @ change):
                break
            step *= 0.3
            if step < _SHORTEST:
                break
        if step < _SHORTEST:
            if not pairs:
                return
            pairs.clear()
            continue
        pairs.append((change, new_gradient - gradient))
        x, value, gradient = moved, new_value, new_gradient
        yield value, x


def _direction(
    slope: Floats, free: npt.NDArray[np.bool_], pairs: deque[tuple[Floats, Floats]], value: float
) -> Floats:
    """Return a direction of descent within the free coordinates."""
    q = slope.copy()
    used: list[tuple[Floats, Floats, float, float]] = []
    for s, y in reversed(pairs):
        s, y = np.where(free, s, 0.0), np.where(free, y, 0.0)
        curvature = float(s @ y)
        if curvature <= 1e-12 * float(y @ y):
            continue
        share = float(s @ q) / curvature
        q -= share * y
        used.append((s, y, curvature, share))
    if used:
        _, y, curvature, _ = used[0]
        q *= curvature / float(y @ y)
    else:
        q *= 0.01 * abs(value) / float(slope @ slope)  # such that the value could fall by 1%
    for s, y, curvature, share in reversed(used):
        q += (share - float(y @ q) / curvature) * s
    return -q if float(q @ slope) > 0 else -slope
