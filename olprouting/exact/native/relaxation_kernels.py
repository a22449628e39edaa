"""Least imbalance when every worker may get any whole total in an interval.

For given numbers n_g the objective, constants left out, is

    phi(b) = sum_h w_h * max(P_h, max_g (B[g,h] + b_g)) - sum_g price_g * b_g

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

from olprouting.compiling import Bools, Floats, Ints, compiled, inlined

MOST_WORKERS = 8
"""Largest k whose 2^k sets are looked at; more workers are split into groups."""

SLOPE_TOLERANCE = 1e-13
"""Slopes this small, relative to the sum of weights, count as zero."""


@inlined
def total_of(weights: Floats) -> float:
    """Return the sum of the weights."""
    total = 0.0
    for h in range(len(weights)):
        total += weights[h]
    return total


@inlined
def value_at(base: Floats, floor: Floats, weights: Floats, prices: Floats, point: Floats) -> float:
    """Return phi at a point."""
    total = 0.0
    for h in range(len(weights)):
        peak = floor[h]
        for g in range(len(point)):
            peak = max(peak, base[g, h] + point[g])
        total += weights[h] * peak
    for g in range(len(point)):
        total -= prices[g] * point[g]
    return total


@compiled
def settle(
    base: Floats,
    floor: Floats,
    weights: Floats,
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Move `point` (inside its intervals) to a minimiser of phi and return its value."""
    workers = len(point)
    sets = 1 << workers
    up = np.empty(sets)
    down = np.empty(sets)
    gain = np.zeros(sets)  # price of a step by one of the set
    for g in range(workers):
        for mask in range(1 << g, 2 << g):
            gain[mask] = gain[mask - (1 << g)] + prices[g]
    tolerance = SLOPE_TOLERANCE * total_of(weights)
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
        for mask in range(1, sets):
            if mask & ~rising == 0:
                slope = up[sets - 1] - up[sets - 1 - mask] - gain[mask]
                if slope < best:
                    best = slope
                    chosen = mask
                    direction = 1
            if mask & ~falling == 0:
                slope = gain[mask] - down[mask]
                if slope < best:
                    best = slope
                    chosen = mask
                    direction = -1
        if direction == 0:
            return value_at(base, floor, weights, prices, point)
        step = _longest_step(
            base, floor, weights, gain[chosen], low, high, point, chosen, direction
        )
        for g in range(workers):
            if chosen >> g & 1:
                point[g] += direction * step


@inlined
def _weigh_peaks(
    base: Floats, floor: Floats, weights: Floats, point: Floats, up: Floats, down: Floats
) -> None:
    """Fill `up` and `down`: for each set, the weight of the offsets whose peak lies inside it.

    ``up`` counts offsets where a worker is at the peak, ``down`` those where no fixed peak is.
    """
    workers = len(point)
    for mask in range(len(up)):
        up[mask] = 0.0
        down[mask] = 0.0
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


@inlined
def _longest_step(
    base: Floats,
    floor: Floats,
    weights: Floats,
    gain: float,
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
    for g in range(workers):
        if chosen >> g & 1:
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
    tolerance = SLOPE_TOLERANCE * total_of(weights)
    while near < far:
        middle = np.floor((near + far) / 2)
        moved = 0.0  # weight that moves with the set just beyond `middle`
        for h in range(offsets):
            if (reach[h] <= middle) if direction > 0 else (reach[h] > middle):
                moved += weights[h]
        slope = direction * (moved - gain)
        if slope < -tolerance:
            near = middle + 1
        else:
            far = middle
    return near


@compiled
def relaxed(
    base: Floats,
    floor: Floats,
    known: Floats,
    weights: Floats,
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Return a lower bound on phi over the intervals; `point` is moved to where it is attained.

    Workers that cannot set a peak are settled by themselves. More than `MOST_WORKERS` others are
    dealt into groups, each of which is charged its share of every peak: a peak is at least the mean
    of the groups' peaks. Who can set a peak is judged by the peaks `known` <= `floor`: the bound is
    convex in what raises `floor` only if the groups stay the same.
    """
    workers = len(point)
    if workers == 0:
        total = 0.0
        for h in range(len(weights)):
            total += weights[h] * floor[h]
        return total
    for g in range(workers):
        point[g] = min(max(point[g], low[g]), high[g])
    if len(weights) == 1:
        return _settle_level(base, floor[0], weights[0], prices, low, high, point)
    matter = who_matters(base, known, low, high)
    value = 0.0
    for g in range(workers):
        if not matter[g]:
            if prices[g] != 0.0:
                point[g] = high[g] if prices[g] > 0.0 else low[g]
            value -= prices[g] * point[g]
    members = np.flatnonzero(matter)
    groups = (len(members) + MOST_WORKERS - 1) // MOST_WORKERS
    if groups == 0:
        return value + value_at(base, floor, weights, prices[:0], point[:0])
    for first in range(groups):
        group = members[first::groups]
        share = len(group) / len(members)
        value += _settle_group(base, floor, weights, prices, low, high, point, group, share)
    return value


@compiled
def who_matters(base: Floats, floor: Floats, low: Floats, high: Floats) -> Bools:
    """Tell which workers can set a peak above what is there anyway."""
    workers = len(low)
    matter = np.zeros(workers, np.bool_)
    for h in range(len(floor)):
        least = floor[h]
        for g in range(workers):
            least = max(least, base[g, h] + low[g])
        for g in range(workers):
            if base[g, h] + high[g] > least or base[g, h] + low[g] > floor[h]:
                matter[g] = True
    return matter


@compiled
def _settle_level(
    base: Floats,
    floor: float,
    weight: float,
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Settle a myopic problem: given the one peak, every worker is filled up to it.

    The peak rises from its least value while the prices of the workers that rise with it outweigh
    the peak's weight.
    """
    workers = len(point)
    peak = floor
    for g in range(workers):
        peak = max(peak, base[g, 0] + low[g])
    tolerance = SLOPE_TOLERANCE * weight
    while True:
        gain = 0.0
        following = np.inf
        for g in range(workers):
            top = base[g, 0] + high[g]
            if peak < top:
                gain += prices[g]
                following = min(following, top)
        if gain - weight <= tolerance:
            break
        peak = following
    value = weight * peak
    for g in range(workers):
        point[g] = min(max(peak - base[g, 0], low[g]), high[g])
        value -= prices[g] * point[g]
    return value


@compiled
def _settle_group(
    base: Floats,
    floor: Floats,
    weights: Floats,
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
    group: Ints,
    share: float,
) -> float:
    """Settle the workers of a group with their share of the weights."""
    size = len(group)
    loads = np.empty((size, len(weights)))
    own = np.empty((4, size))  # prices, low, high, point
    for i in range(size):
        g = group[i]
        own[0, i] = prices[g]
        own[1, i] = low[g]
        own[2, i] = high[g]
        own[3, i] = point[g]
        for h in range(len(weights)):
            loads[i, h] = base[g, h]
    value: float = settle(loads, floor, share * weights, own[0], own[1], own[2], own[3])
    for i in range(size):
        point[group[i]] = own[3, i]
    return value
