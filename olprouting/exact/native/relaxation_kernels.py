"""Least imbalance when every worker may get any whole total in an interval.

For given numbers n_g the objective, constants left out, is

    phi(b) = sum_h w_h * max(P_h, max_g (B[g,h] + b_g)) - sum_g price_g * b_g

with P the peaks already fixed and B[g,h] = A[g,h] + growth * h * n_g. It is L-natural convex: a
maximum of shifted variables is submodular and linear along (1, ..., 1), and sums, linear terms and
intervals keep that. With whole data its real minimum lies in a whole point, and a whole point is a
minimiser if no step by one of any *set* of workers, up or down, lowers it (Murota, Discrete Convex
Analysis, 2003, chapters 7 and 10). `settle` descends along the steepest such set, as far as the
slope stays negative. A set X of workers moves the peak at h up if it holds one of the workers at
the peak, and down if it holds them all; a sum over subsets gives the slopes of all 2^k sets, and
for large k a flow finds the steepest (`flow_kernels`).
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Bools, Floats, compiled, inlined
from olprouting.exact.native.flow_kernels import peak_setters, steepest_fall, steepest_rise

FEW_WORKERS = 9
"""Largest k whose 2^k sets are looked at; of more workers a flow finds the steepest set."""

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
    """Move `point` (inside its intervals) to a minimiser of phi and return its value.

    No price may be negative.
    """
    workers = len(point)
    few = workers <= FEW_WORKERS
    tables = np.empty((3, 1 << workers if few else 0))
    if few:
        _add_up(prices, tables[2])
    chosen = np.empty(workers, np.bool_)
    tolerance = SLOPE_TOLERANCE * total_of(weights)
    while True:
        can_rise = point < high
        can_fall = point > low
        if few:
            slope, direction = _steepest_of_all(
                base, floor, weights, can_rise, can_fall, point, tables, chosen
            )
        else:
            slope, direction = _steepest_by_flow(
                base, floor, weights, prices, can_rise, can_fall, point, chosen
            )
        if slope >= -tolerance:
            return value_at(base, floor, weights, prices, point)
        step = _longest_step(base, floor, weights, prices, low, high, point, chosen, direction)
        for g in range(workers):
            if chosen[g]:
                point[g] += direction * step


@inlined
def _add_up(prices: Floats, gain: Floats) -> None:
    """Fill `gain` with the price of each set of workers."""
    gain[0] = 0.0
    for g in range(len(prices)):
        for mask in range(1 << g, 2 << g):
            gain[mask] = gain[mask - (1 << g)] + prices[g]


@inlined
def _steepest_of_all(
    base: Floats,
    floor: Floats,
    weights: Floats,
    can_rise: Bools,
    can_fall: Bools,
    point: Floats,
    tables: Floats,
    chosen: Bools,
) -> tuple[float, int]:
    """Set `chosen` to the set whose move by one lowers phi most; return slope and direction.

    ``tables[2]`` holds the price of each set.
    """
    workers = len(point)
    up, down, gain = tables[0], tables[1], tables[2]
    _weigh_peaks(base, floor, weights, point, up, down)
    everyone = len(gain) - 1
    rising = 0
    falling = 0
    for g in range(workers):
        rising |= can_rise[g] << g
        falling |= can_fall[g] << g
    best = 0.0
    steepest = 0
    direction = 1
    for mask in range(1, everyone + 1):
        if mask & ~rising == 0:
            slope = up[everyone] - up[everyone - mask] - gain[mask]
            if slope < best:
                best = slope
                steepest = mask
                direction = 1
        if mask & ~falling == 0:
            slope = gain[mask] - down[mask]
            if slope < best:
                best = slope
                steepest = mask
                direction = -1
    for g in range(workers):
        chosen[g] = steepest >> g & 1
    return best, direction


@inlined
def _steepest_by_flow(
    base: Floats,
    floor: Floats,
    weights: Floats,
    prices: Floats,
    can_rise: Bools,
    can_fall: Bools,
    point: Floats,
    chosen: Bools,
) -> tuple[float, int]:
    """Set `chosen` to the set whose move by one lowers phi most; return slope and direction."""
    setters, fixed, weight = peak_setters(base, floor, weights, point)
    rising = np.empty(len(point), np.bool_)
    up = steepest_rise(setters, weight, prices, can_rise, rising)
    down = steepest_fall(setters, fixed, weight, prices, can_fall, chosen)
    if down <= up:
        return down, -1
    chosen[:] = rising
    return up, 1


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
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
    chosen: Bools,
    direction: int,
) -> float:
    """Return the whole step along a set at which the slope stops being negative."""
    workers = len(point)
    offsets = len(weights)
    limit = np.inf
    gain = 0.0
    for g in range(workers):
        if chosen[g]:
            gain += prices[g]
            limit = min(limit, high[g] - point[g] if direction > 0 else point[g] - low[g])
    reach = np.empty(offsets)  # step at which the offset's slope changes
    for h in range(offsets):
        inside = -np.inf
        outside = floor[h]
        for g in range(workers):
            load = base[g, h] + point[g]
            if chosen[g]:
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
    weights: Floats,
    prices: Floats,
    low: Floats,
    high: Floats,
    point: Floats,
) -> float:
    """Return the least value of phi over the intervals; `point` is moved to where it is attained.

    Workers that cannot set a peak are settled by themselves.
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
    matter = who_matters(base, floor, low, high)
    value = 0.0
    for g in range(workers):
        if not matter[g]:
            if prices[g] != 0.0:
                point[g] = high[g] if prices[g] > 0.0 else low[g]
            value -= prices[g] * point[g]
    members = np.flatnonzero(matter)
    size = len(members)
    loads = np.empty((size, len(weights)))
    own = np.empty((4, size))  # prices, low, high, point
    for i in range(size):
        g = members[i]
        own[0, i] = prices[g]
        own[1, i] = low[g]
        own[2, i] = high[g]
        own[3, i] = point[g]
        for h in range(len(weights)):
            loads[i, h] = base[g, h]
    value += settle(loads, floor, weights, own[0], own[1], own[2], own[3])
    for i in range(size):
        point[members[i]] = own[3, i]
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
