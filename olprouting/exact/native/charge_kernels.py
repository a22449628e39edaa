"""The relaxation with charges for requests that several workers want.

Without charges every worker may have the largest requests, or the smallest. A charge c_g on each
token of worker g, which may be negative, is added to the objective, and the most that charges can
collect over all divisions of the requests is taken off again: a bound for every c (Lagrangian
relaxation), concave in c. Its maximum is the value of the LP relaxation of the program with one
variable per request and worker, which usually is the optimum, or close to it.

A proximal bundle method finds the maximum: every evaluation gives a linear function above the
bound, and the next charges maximise the least of these minus a squared distance from the best
charges so far (Lemarechal, Bundle methods in nonsmooth optimization, 1978).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, inlined
from olprouting.exact.native.relaxation_kernels import relaxed, total_of

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, State

FIRST_ROUNDS = 80
ROUNDS = 4
"""Evaluations at the root and elsewhere."""

CUTS = 40
"""Linear functions kept."""

SHIFTS = 100
"""Shifts of weight between linear functions in the search for the next charges."""

ATTEMPTS = 8
TRUSTED = 0.3
"""Steps are halved up to so often until their error is this part of the gain they promise."""

SERIOUS = 0.1
LONGER = 2.0
SHORTER = 0.6
"""The step changes by these factors when a step gains that part of its promise, or less."""

SNAP = 1e-9
"""Charges so close to 0 or to the price of a token, relative to it, are made equal."""


@compiled
def suffix(
    problem: Problem, j: int, least: Floats, most: Floats, box: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the loads with growth of workers j, j+1, ... and the intervals of their totals."""
    size = len(problem.slots) - j
    offsets = len(problem.weights)
    base = np.empty((size, offsets))
    low = np.empty(size)
    high = np.empty(size)
    for g in range(size):
        count = problem.slots[j + g]
        low[g] = max(least[count], box[j + g, 0])
        high[g] = min(most[count], box[j + g, 1])
        for h in range(offsets):
            base[g, h] = problem.loads[j + g, h] + problem.growth * count * h
    return base, low, high


@compiled
def crossed(low: Floats, high: Floats) -> bool:
    """Whether an interval is empty."""
    empty = False
    for g in range(len(low)):
        empty = empty or low[g] > high[g]
    return empty


@compiled
def charged_bound(problem: Problem, state: State, j: int, goal: float) -> float:
    """Return a bound on completing workers j, j+1, ...; charges and minimiser go to row j.

    Row j holds the charges to begin with; before the first node, all that charges can do is tried
    as well, and more effort is made. None is made any more once the bound reaches `goal`.
    """
    thorough = state.tally[0] == 0
    profile, least, most = state.profile[j], state.least[j], state.most[j]
    base, low, high = suffix(problem, j, least, most, state.box[j])
    if crossed(low, high):
        return np.inf
    size = len(low)
    charge = state.charge[j, j:]
    kept = state.point[j, j:]  # the minimiser at these charges
    best = -np.inf
    lowest = problem.price - total_of(problem.weights)  # a peak costs no more than all its weights
    if size == 1:
        charge[0] = 0.0  # nobody else wants anything
    trial = charge.copy()
    point = kept.copy()
    prices = np.empty(size)
    share = np.empty((2, size))
    slope = np.empty((CUTS, size))
    level = np.empty(CUTS)
    weight = np.zeros(CUTS)
    cuts = 0
    length = 0.0
    promised = -np.inf
    for turn in range(FIRST_ROUNDS if thorough else ROUNDS):
        largest_share(problem, j, trial, least, most, share)
        for g in range(size):
            prices[g] = problem.price - trial[g]
            point[g] = min(max(point[g], share[0, g]), share[1, g])
        value = relaxed(base, profile, problem.weights, prices, low, high, point)
        value -= largest_share(problem, j, trial, least, most, share)
        cut = cuts if cuts < CUTS else int(np.argmin(weight))
        cuts = min(cuts + 1, CUTS)
        level[cut] = value
        norm = 0.0
        for g in range(size):
            slope[cut, g] = point[g] - min(max(point[g], share[0, g]), share[1, g])
            level[cut] -= slope[cut, g] * trial[g]
            norm += slope[cut, g] * slope[cut, g]
        if turn < 2:
            if value > best:
                hope = min(goal, value + abs(value) * 0.1 + problem.price) - value
                length = hope / max(norm, 1e-300)
        elif value >= best + SERIOUS * (promised - best):
            length *= LONGER
        else:
            length *= SHORTER
        if value > best:
            best = value
            for g in range(size):
                charge[g] = trial[g]
                kept[g] = point[g]
        if best >= goal or size == 1 or norm == 0.0:
            break
        if turn == 0 and thorough:
            for g in range(size):
                trial[g] = problem.price
            weight[cut] = 1.0
            continue
        if turn <= 1:
            weight[:] = 0.0
            weight[cut] = 1.0
        for _ in range(ATTEMPTS):
            promised, error = _next_charges(
                slope[:cuts],
                level[:cuts],
                weight[:cuts],
                charge,
                length,
                lowest,
                problem.price,
                trial,
            )
            if error <= TRUSTED * (promised - best):
                break
            length /= 2
        if promised - best <= 1e-13 * abs(best):
            break
    snapped = False
    for g in range(size):
        for even in (0.0, problem.price):
            if charge[g] != even and abs(charge[g] - even) <= SNAP * problem.price:
                charge[g] = even
                snapped = True
    if snapped:
        for g in range(size):
            prices[g] = problem.price - charge[g]
        value = relaxed(base, profile, problem.weights, prices, low, high, kept)
        best = max(best, value - largest_share(problem, j, charge, least, most, share))
    state.shared[j] = largest_share(problem, j, charge, least, most, share)
    return best


@compiled
def _next_charges(
    slope: Floats,
    level: Floats,
    weight: Floats,
    centre: Floats,
    length: float,
    lowest: float,
    highest: float,
    trial: Floats,
) -> tuple[float, float]:
    """Maximise the least linear function minus |trial - centre|^2 / (2 length).

    Return the least function there, and an error: how far functions in the mix lie above it. The
    dual mixes the functions with weights that sum to 1; weight is shifted from the highest in the
    mix to the lowest there is.
    """
    cuts, size = slope.shape
    mix = np.zeros(size)
    for i in range(cuts):
        for g in range(size):
            mix[g] += weight[i] * slope[i, g]
    bottom = -np.inf
    top = np.inf
    for _ in range(SHIFTS):
        for g in range(size):
            trial[g] = min(max(centre[g] + length * mix[g], lowest), highest)
        top = -np.inf
        bottom = np.inf
        giver = -1
        taker = -1
        for i in range(cuts):
            value = level[i]
            for g in range(size):
                value += slope[i, g] * trial[g]
            if weight[i] > 0.0 and value > top:
                top = value
                giver = i
            if value < bottom:
                bottom = value
                taker = i
        if top - bottom <= 1e-12 * abs(top):
            break
        norm = 1e-300
        for g in range(size):
            if lowest < trial[g] < highest:  # others do not move
                norm += (slope[taker, g] - slope[giver, g]) ** 2
        shift = min(weight[giver], (top - bottom) / (length * norm))
        weight[giver] -= shift
        weight[taker] += shift
        for g in range(size):
            mix[g] += shift * (slope[taker, g] - slope[giver, g])

    return bottom, top - bottom


@compiled
def largest_share(
    problem: Problem, j: int, charge: Floats, least: Floats, most: Floats, share: Floats
) -> float:
    """Return the most that charges can collect.

    The largest requests go where charges are highest, the smallest where they are lowest below 0.
    Every division of the remaining requests collects at most this, so that charging and giving it
    back is a relaxation. `share`, shape (2, k), becomes the totals at which that happens: the
    smallest and the largest, which differ for workers that are charged nothing.
    """
    for g in range(len(charge)):
        share[0, g] = -1.0
        share[1, g] = -1.0
    _deal(problem, j, charge, -1.0, least, share[0])
    _deal(problem, j, charge, 1.0, most, share[1])
    collected = 0.0
    for g in range(len(charge)):
        if charge[g] > 0.0:
            share[0, g] = share[1, g]
        elif charge[g] < 0.0:
            share[1, g] = share[0, g]
        collected += charge[g] * share[0, g]
    return collected


@inlined
def _deal(
    problem: Problem, j: int, charge: Floats, sign: float, sums: Floats, share: Floats
) -> None:
    """Deal requests to workers whose charge has the sign, or is 0: highest charges first."""
    taken = 0
    for _ in range(len(charge)):
        first = -1
        for g in range(len(charge)):
            if share[g] >= 0.0 or sign * charge[g] < 0.0:
                continue
            if first < 0 or sign * charge[g] > sign * charge[first]:
                first = g
        if first < 0:
            break
        count = problem.slots[j + first]
        share[first] = sums[taken + count] - sums[taken]
        taken += count
