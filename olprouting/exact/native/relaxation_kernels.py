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

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import compiled, kernel
from olprouting.exact.native.flow_kernels import steepest_by_flow
from olprouting.exact.native.relaxation import FEW_WORKERS

if TYPE_CHECKING:
    from olprouting.exact.native.relaxation import Relaxation

SLOPE_TOLERANCE = 1e-13
"""Slopes this small, relative to the sum of weights, count as zero."""


@compiled
def relaxed(r: Relaxation, first: int) -> float:
    """Return the least value of phi over the intervals of workers first, first + 1, ...

    ``r.point`` is moved to where it is attained. No price may be negative where H > 0. Workers that
    cannot set a peak are settled by themselves.
    """
    low, high, point, prices = r.low, r.high, r.point, r.prices
    for g in range(first, len(point)):
        point[g] = min(max(point[g], low[g]), high[g])
    if len(r.weights) == 1:
        return _settled_level(r, first)
    size = _find_members(r, first)
    value = 0.0
    place = 0
    for g in range(first, len(point)):
        if place < size and r.members[place] == g:
            place += 1
            continue
        if prices[g] != 0.0:
            point[g] = high[g] if prices[g] > 0.0 else low[g]
        value -= prices[g] * point[g]
    return value + _settled(r, size)


@kernel
def _find_members(r: Relaxation, first: int) -> int:
    """List the workers that can set a peak above what is there anyway; return how many."""
    base, floor, low, high, members = r.base, r.floor, r.low, r.high, r.members
    workers = len(low)
    count = 0
    for g in range(first, workers):
        r.chosen[g] = False
    for h in range(len(floor)):
        least = floor[h]
        for g in range(first, workers):
            least = max(least, base[g, h] + low[g])
        for g in range(first, workers):
            if base[g, h] + high[g] > least or base[g, h] + low[g] > floor[h]:
                r.chosen[g] = True
    for g in range(first, workers):
        if r.chosen[g]:
            members[count] = g
            count += 1
    return count


@kernel
def _settled(r: Relaxation, size: int) -> float:
    """Move the first `size` members to a minimiser of their part of phi and return its value."""
    if size <= FEW_WORKERS:
        _add_up_prices(r, size)
    tolerance = SLOPE_TOLERANCE * r.total_weight
    while True:
        slope, direction = _steepest(r, size) if size <= FEW_WORKERS else steepest_by_flow(r, size)
        if slope >= -tolerance:
            return _value(r, size)
        step = direction * _longest_step(r, size, direction, tolerance)
        for i in range(size):
            if r.chosen[i]:
                r.point[r.members[i]] += step


@kernel
def _value(r: Relaxation, size: int) -> float:
    """Return the members' part of phi."""
    base, floor, point, members = r.base, r.floor, r.point, r.members
    value = 0.0
    for h in range(len(floor)):
        peak = floor[h]
        for i in range(size):
            peak = max(peak, base[members[i], h] + point[members[i]])
        value += r.weights[h] * peak
    for i in range(size):
        value -= r.prices[members[i]] * point[members[i]]
    return value


@kernel
def _add_up_prices(r: Relaxation, size: int) -> None:
    """Fill `gain` with the price of each set of members."""
    gain = r.gain
    gain[0] = 0.0
    for i in range(size):
        price = r.prices[r.members[i]]
        for mask in range(1 << i, 2 << i):
            gain[mask] = gain[mask - (1 << i)] + price


@kernel
def _steepest(r: Relaxation, size: int) -> tuple[float, int]:
    """Choose the set of members whose move by one lowers phi most; return slope and direction."""
    _weigh_peaks(r, size)
    up, down, gain = r.up, r.down, r.gain
    everyone = (1 << size) - 1
    rising = 0
    falling = 0
    for i in range(size):
        g = r.members[i]
        if r.point[g] < r.high[g]:
            rising |= 1 << i
        if r.point[g] > r.low[g]:
            falling |= 1 << i
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
    for i in range(size):
        r.chosen[i] = steepest >> i & 1 > 0
    return best, direction


@kernel
def _weigh_peaks(r: Relaxation, size: int) -> None:
    """Fill `up` and `down`: for each set, the weight of the offsets whose peak lies inside it.

    `up` counts offsets where a worker is at the peak, `down` those where no fixed peak is.
    """
    base, floor, point, members, weights = r.base, r.floor, r.point, r.members, r.weights
    up, down = r.up, r.down
    sets = 1 << size
    for mask in range(sets):
        up[mask] = 0.0
        down[mask] = 0.0
    for h in range(len(weights)):
        peak = floor[h]
        at_peak = 0
        fixed = True
        for i in range(size):
            load = base[members[i], h] + point[members[i]]
            if load > peak:
                peak = load
                at_peak = 1 << i
                fixed = False
            elif load == peak:
                at_peak |= 1 << i
        if at_peak:
            up[at_peak] += weights[h]
            if not fixed:
                down[at_peak] += weights[h]
    for i in range(size):
        bit = 1 << i
        for mask in range(sets):
            if mask & bit:
                up[mask] += up[mask ^ bit]
                down[mask] += down[mask ^ bit]


@kernel
def _longest_step(r: Relaxation, size: int, direction: int, tolerance: float) -> float:
    """Return the whole step of the chosen members at which the slope stops being negative."""
    base, point, members, chosen, reach = r.base, r.point, r.members, r.chosen, r.reach
    far = np.inf
    gain = 0.0
    for i in range(size):
        g = members[i]
        if chosen[i]:
            gain += r.prices[g]
            far = min(far, r.high[g] - point[g] if direction > 0 else point[g] - r.low[g])
    for h in range(len(reach)):
        inside = -np.inf
        outside = r.floor[h]
        for i in range(size):
            load = base[members[i], h] + point[members[i]]
            if chosen[i]:
                inside = max(inside, load)
            else:
                outside = max(outside, load)
        reach[h] = outside - inside if direction > 0 else inside - outside
    near = 1.0
    while near < far:
        middle = np.floor((near + far) / 2)
        moved = 0.0  # weight that moves with the set just beyond `middle`
        for h in range(len(reach)):
            if (reach[h] <= middle) if direction > 0 else (reach[h] > middle):
                moved += r.weights[h]
        if direction * (moved - gain) < -tolerance:
            near = middle + 1
        else:
            far = middle
    return near


@kernel
def _settled_level(r: Relaxation, first: int) -> float:
    """Settle a myopic problem: given the one peak, every worker is filled up to it.

    The peak rises from its least value while the prices of the workers that rise with it outweigh
    the peak's weight.
    """
    base, low, high, point, prices = r.base, r.low, r.high, r.point, r.prices
    weight = r.weights[0]
    peak = r.floor[0]
    for g in range(first, len(point)):
        peak = max(peak, base[g, 0] + low[g])
    tolerance = SLOPE_TOLERANCE * weight
    while True:
        gain = 0.0
        following = np.inf
        for g in range(first, len(point)):
            top = base[g, 0] + high[g]
            if peak < top:
                gain += prices[g]
                following = min(following, top)
        if gain - weight <= tolerance:
            break
        peak = following
    value: float = weight * peak
    for g in range(first, len(point)):
        point[g] = min(max(peak - base[g, 0], low[g]), high[g])
        value -= prices[g] * point[g]
    return value
