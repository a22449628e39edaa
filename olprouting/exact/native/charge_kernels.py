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

from olprouting.compiling import Floats, kernel
from olprouting.exact.native.problem import CUTS

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Bundle, Problem, SearchState

FIRST_ROUNDS = 80
ROUNDS = 4
"""Evaluations at the root and elsewhere."""

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


@kernel
def set_intervals(problem: Problem, state: SearchState, first: int, row: int) -> bool:
    """Set the relaxation's intervals for workers first, first + 1, ...; True if one is empty.

    They follow from what was left when worker `row` was reached.
    """
    low, high = state.relaxation.low, state.relaxation.high
    empty = False
    for g in range(first, len(problem.slots)):
        count = problem.slots[g]
        low[g] = max(state.least[row, count], state.box[row, g, 0])
        high[g] = min(state.most[row, count], state.box[row, g, 1])
        empty = empty or low[g] > high[g]
    return empty


@kernel
def set_prices(problem: Problem, state: SearchState, charge: Floats, first: int) -> None:
    """Set the relaxation's prices of a token on workers first, first + 1, ... to their charges."""
    for g in range(first, len(charge)):
        state.relaxation.prices[g] = problem.price - charge[g]


@kernel
def set_floor(state: SearchState, j: int) -> None:
    """Set the relaxation's fixed peaks to those of workers before j."""
    floor = state.relaxation.floor
    for h in range(len(floor)):
        floor[h] = state.profile[j, h]


@kernel
def charged_bound(problem: Problem, state: SearchState, j: int, goal: float) -> float:
    """Return a bound on completing workers j, j+1, ...; charges and minimiser go to row j.

    Row j holds the charges to begin with; before the first node, all that charges can do is tried
    as well, and more effort is made. None is made any more once the bound reaches `goal`.
    """
    if set_intervals(problem, state, j, j):
        return np.inf
    set_floor(state, j)
    thorough = state.place[0].nodes == 0
    r, b = state.relaxation, state.bundle
    point, trial, level, weight, slope = r.point, b.trial, b.level, b.weight, b.slope
    charge, kept = state.charge[j], state.point[j]
    workers = len(charge)
    highest = problem.price
    lowest = highest - r.total_weight  # a peak costs no more than all its weights
    if j + 1 == workers:
        charge[j] = 0.0  # no other worker wants anything
    for g in range(j, workers):
        trial[g] = charge[g]
        point[g] = kept[g]
    for cut in range(CUTS):
        weight[cut] = 0.0
    best = -np.inf
    cuts = 0
    length = 0.0
    promised = -np.inf
    for turn in range(FIRST_ROUNDS if thorough else ROUNDS):
        collected = largest_share(problem, state, trial, j, j)
        for g in range(j, workers):
            point[g] = min(max(point[g], b.share_low[g]), b.share_high[g])
        set_prices(problem, state, trial, j)
        value = state.relaxed(r, j) - collected
        cut = cuts if cuts < CUTS else _lightest(weight)
        cuts = min(cuts + 1, CUTS)
        level[cut] = value
        norm = 0.0
        for g in range(j, workers):
            slope[cut, g] = point[g] - min(max(point[g], b.share_low[g]), b.share_high[g])
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
            for g in range(j, workers):
                charge[g] = trial[g]
                kept[g] = point[g]
        if best >= goal or j + 1 == workers or norm == 0.0:
            break
        if turn == 0 and thorough:
            for g in range(j, workers):
                trial[g] = highest
            weight[cut] = 1.0
            continue
        if turn <= 1:
            for other in range(CUTS):
                weight[other] = 0.0
            weight[cut] = 1.0
        for _ in range(ATTEMPTS):
            promised, error = _next_charges(b, charge, j, cuts, length, lowest, highest)
            if error <= TRUSTED * (promised - best):
                break
            length /= 2
        if promised - best <= 1e-13 * abs(best):
            break
    if _snap(charge, j, highest):
        for g in range(j, workers):
            point[g] = kept[g]
        set_prices(problem, state, charge, j)
        best = max(best, state.relaxed(r, j) - largest_share(problem, state, charge, j, j))
        for g in range(j, workers):
            kept[g] = point[g]
    state.shared[j] = largest_share(problem, state, charge, j, j)
    return best


@kernel
def _lightest(weight: Floats) -> int:
    """Return the function that weighs least in the mix."""
    lightest = 0
    for cut in range(len(weight)):
        if weight[cut] < weight[lightest]:
            lightest = cut
    return lightest


@kernel
def _snap(charge: Floats, first: int, highest: float) -> bool:
    """Make charges that are about 0 or the price of a token equal to it; True if there were any."""
    snapped = False
    for g in range(first, len(charge)):
        for even in (0.0, highest):
            if charge[g] != even and abs(charge[g] - even) <= SNAP * highest:
                charge[g] = even
                snapped = True
    return snapped


@kernel
def _next_charges(
    b: Bundle,
    centre: Floats,
    first: int,
    cuts: int,
    length: float,
    lowest: float,
    highest: float,
) -> tuple[float, float]:
    """Set `trial` to maximise the least linear function minus |trial - centre|^2 / (2 length).

    Return the least function there, and an error: how far functions in the mix lie above it. The
    dual mixes the functions with weights that sum to 1; weight is shifted from the highest in the
    mix to the lowest there is.
    """
    slope, level, weight, trial, mix = b.slope, b.level, b.weight, b.trial, b.mix
    workers = len(mix)
    for g in range(first, workers):
        mix[g] = 0.0
        for i in range(cuts):
            mix[g] += weight[i] * slope[i, g]
    bottom = -np.inf
    top = np.inf
    for _ in range(SHIFTS):
        for g in range(first, workers):
            trial[g] = min(max(centre[g] + length * mix[g], lowest), highest)
        top = -np.inf
        bottom = np.inf
        giver = -1
        taker = -1
        for i in range(cuts):
            value = level[i]
            for g in range(first, workers):
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
        for g in range(first, workers):
            if lowest < trial[g] < highest:  # others do not move
                norm += (slope[taker, g] - slope[giver, g]) ** 2
        shift = min(weight[giver], (top - bottom) / (length * norm))
        weight[giver] -= shift
        weight[taker] += shift
        for g in range(first, workers):
            mix[g] += shift * (slope[taker, g] - slope[giver, g])
    return bottom, top - bottom


@kernel
def largest_share(
    problem: Problem, state: SearchState, charge: Floats, first: int, row: int
) -> float:
    """Return the most that charges of workers first, first + 1, ... can collect.

    The requests are those left when worker `row` was reached. The largest go where charges are
    highest, the smallest where they are lowest below 0. Every division collects at most this, so
    that charging and giving it back is a relaxation. The bundle's shares become the totals at which
    that happens: the smallest and the largest, which differ for workers that are charged nothing.
    """
    low, high = state.bundle.share_low, state.bundle.share_high
    for g in range(first, len(charge)):
        low[g] = -1.0
        high[g] = -1.0
    _deal(problem, charge, first, -1.0, state.least[row], low)
    _deal(problem, charge, first, 1.0, state.most[row], high)
    collected = 0.0
    for g in range(first, len(charge)):
        if charge[g] > 0.0:
            low[g] = high[g]
        elif charge[g] < 0.0:
            high[g] = low[g]
        collected += charge[g] * low[g]
    return collected


@kernel
def _deal(
    problem: Problem, charge: Floats, first: int, sign: float, sums: Floats, share: Floats
) -> None:
    """Deal requests to workers whose charge has the sign, or is 0: highest charges first."""
    taken = 0
    while True:
        following = -1
        for g in range(first, len(charge)):
            if share[g] >= 0.0 or sign * charge[g] < 0.0:
                continue
            if following < 0 or sign * charge[g] > sign * charge[following]:
                following = g
        if following < 0:
            return
        count = problem.slots[following]
        share[following] = sums[taken + count] - sums[taken]
        taken += count


@kernel
def placed(state: SearchState, j: int) -> tuple[float, int]:
    """Return the total and number of the requests on workers before j."""
    total = 0.0
    number = 0
    for g in range(j):
        total += state.totals[g]
        number += state.counts[g]
    return total, number
