"""Least imbalance when every worker may get any whole total in an interval.

For given numbers n_g the objective, constants left out, is

    phi(b) = sum_h w_h * max(P_h, max_g (B[g,h] + b_g)) - price * sum_g b_g

with P the peaks already fixed and B[g,h] = A[g,h] + growth * h * n_g. It is L-natural convex: a
maximum of shifted variables is submodular and linear along (1, ..., 1), and sums, linear terms and
intervals keep that. With whole data its real minimum lies in a whole point, and a whole point is a
minimiser if no step by one of any *set* of workers, up or down, lowers it (Murota, Discrete Convex
Analysis, 2003, chapters 7 and 10). `settle` descends along the steepest such set, as far as the
slope stays negative. A set X of workers moves the peak at h up if it holds one of the workers at
the peak, and down if it holds them all; a sum over subsets gives the slopes of all 2^k sets.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Floats, compiled

MOST_WORKERS = 8
"""Largest k whose 2^k sets are looked at; more workers are split into groups."""

SLOPE_TOLERANCE = 1e-13
"""Slopes this small, relative to the sum of weights, count as zero."""


@compiled
def value_at(base: Floats, floor: Floats, weights: Floats, price: float, point: Floats) -> float:
    """Return phi at a point."""
    total = 0.0
    for h in range(len(weights)):
        peak = floor[h]
        for g in range(len(point)):
            peak = max(peak, base[g, h] + point[g])
        total += weights[h] * peak
    return total - price * point.sum()


@compiled
def settle(
    base: Floats,
    floor: Floats,
    weights: Floats,
    price: float,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Move `point` (inside its intervals) to a minimiser of phi and return its value."""
    workers = len(point)
    sets = 1 << workers
    up = np.empty(sets)
    down = np.empty(sets)
    tolerance = SLOPE_TOLERANCE * weights.sum()
    while True:
        _weigh_peaks(base, floor, weights, point, up, down)
        best = -tolerance
        chosen = 0
        direction = 0
        rising = 0
        falling = 0
        for g in range(workers):
            if point[g] < high[g]:
                rising |= 1 << g
            if point[g] > low[g]:
                falling |= 1 << g
        members = 0
        for mask in range(1, sets):
            members = 0
            rest = mask
            while rest:
                rest &= rest - 1
                members += 1
            if mask & ~rising == 0:
                slope = up[sets - 1] - up[sets - 1 - mask] - price * members
                if slope < best:
                    best = slope
                    chosen = mask
                    direction = 1
            if mask & ~falling == 0:
                slope = price * members - down[mask]
                if slope < best:
                    best = slope
                    chosen = mask
                    direction = -1
        if direction == 0:
            return value_at(base, floor, weights, price, point)
        step = _longest_step(base, floor, weights, price, low, high, point, chosen, direction)
        for g in range(workers):
            if chosen >> g & 1:
                point[g] += direction * step


@compiled
def _weigh_peaks(
    base: Floats, floor: Floats, weights: Floats, point: Floats, up: Floats, down: Floats
) -> None:
    """Fill `up` and `down`: for each set, the weight of the offsets whose peak lies inside it.

    ``up`` counts offsets where a worker is at the peak, ``down`` those where no fixed peak is.
    """
    workers = len(point)
    up[:] = 0.0
    down[:] = 0.0
    for h in range(len(weights)):
        peak = floor[h]
        at_peak = 0
        fixed = True
        for g in range(workers):
            load = base[g, h] + point[g]
            if load > peak:
                peak = load
                at_peak = 1 << g
                fixed = False
            elif load == peak:
                at_peak |= 1 << g
        if at_peak:
            up[at_peak] += weights[h]
            if not fixed:
                down[at_peak] += weights[h]
    for g in range(workers):
        bit = 1 << g
        for mask in range(len(up)):
            if mask & bit:
                up[mask] += up[mask ^ bit]
                down[mask] += down[mask ^ bit]


@compiled
def _longest_step(
    base: Floats,
    floor: Floats,
    weights: Floats,
    price: float,
    low: Floats,
    high: Floats,
    point: Floats,
    chosen: int,
    direction: int,
) -> float:
    """Return the whole step along a set at which the slope stops being negative."""
    workers = len(point)
    offsets = len(weights)
    limit = np.inf
    members = 0
    for g in range(workers):
        if chosen >> g & 1:
            members += 1
            limit = min(limit, high[g] - point[g] if direction > 0 else point[g] - low[g])
    reach = np.empty(offsets)  # step at which the offset's slope changes
    for h in range(offsets):
        inside = -np.inf
        outside = floor[h]
        for g in range(workers):
            load = base[g, h] + point[g]
            if chosen >> g & 1:
                inside = max(inside, load)
            else:
                outside = max(outside, load)
        reach[h] = outside - inside if direction > 0 else inside - outside
    near = 1.0
    far = limit
    tolerance = SLOPE_TOLERANCE * weights.sum()
    while near < far:
        middle = np.floor((near + far) / 2)
        moved = 0.0  # weight that moves with the set just beyond `middle`
        for h in range(offsets):
            if (reach[h] <= middle) if direction > 0 else (reach[h] > middle):
                moved += weights[h]
        slope = direction * (moved - price * members)
        if slope < -tolerance:
            near = middle + 1
        else:
            far = middle
    return near


@compiled
def relaxed(
    base: Floats,
    floor: Floats,
    weights: Floats,
    price: float,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Return a lower bound on phi over the intervals; `point` is moved to where it is attained.

    More than `MOST_WORKERS` workers are dealt into groups, each of which is charged its share of
    every peak: a peak is at least the mean of the groups' peaks.
    """
    workers = len(point)
    if workers == 0:
        total = 0.0
        for h in range(len(weights)):
            total += weights[h] * floor[h]
        return total
    for g in range(workers):
        point[g] = min(max(point[g], low[g]), high[g])
    if workers <= MOST_WORKERS:
        return settle(base, floor, weights, price, low, high, point)
    groups = (workers + MOST_WORKERS - 1) // MOST_WORKERS
    total = 0.0
    for first in range(groups):
        own = np.arange(first, workers, groups)
        share = len(own) / workers
        part = point[own]
        total += settle(base[own], floor, weights * share, price, low[own], high[own], part)
        point[own] = part
    return total
