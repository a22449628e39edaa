"""Which totals a worker may still have: windows of the next worker, boxes of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import kernel
from olprouting.exact.native.bound_kernels import bound_within, level_height
from olprouting.exact.native.charge_kernels import placed, set_floor, set_intervals, set_prices
from olprouting.exact.native.subset_kernels import first_above
from olprouting.exact.native.total_kernels import available_below, available_from

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState

PROBES = 4
"""Rounds of narrowing boxes at a node."""


@kernel
def set_window(problem: Problem, state: SearchState, j: int, cut: float) -> bool:
    """Set the interval of totals of worker j with a bound below the cut; False if there is none.

    The bound is convex in the total, so the interval is found from a minimiser outwards.
    """
    state.window_cut[j] = cut
    state.window[j, 0] = np.inf
    state.window[j, 1] = -np.inf
    count = state.counts[j]
    low = state.least[j, count]
    high = state.most[j, count]
    low = max(low, state.box[j, j, 0])
    high = min(high, state.box[j, j, 1])
    for g in range(j):
        if problem.above[j, g]:
            high = min(high, state.totals[g])
        if problem.below[j, g]:
            low = max(low, state.totals[g])
    workers = len(problem.slots)
    _, number = placed(state, j)
    rest = problem.admissions - number - count
    if j + 1 == workers and rest != 0:
        return False
    if not problem.fills:
        room = 0
        for g in range(j + 1, workers):
            room += problem.slots[g]
        if rest > room:
            return False
    if low > high:
        return False
    if low == high:
        state.window[j, 0] = low
        state.window[j, 1] = high
        return _value_with(problem, state, j, low) < cut
    if problem.everything:
        centre = _bottom(problem, state, j, low, high)
    else:
        centre = max(min(state.point[j, j], high), low)
    if _value_with(problem, state, j, centre) >= cut:
        return False
    exact = j + 1 == workers
    state.window[j, 0] = _edge(problem, state, j, centre, low, cut, exact)
    state.window[j, 1] = _edge(problem, state, j, centre, high, cut, exact)
    return True


@kernel
def _bottom(problem: Problem, state: SearchState, j: int, low: float, high: float) -> float:
    """Return a whole total at which the bound of worker j is least."""
    near = low
    far = high
    while near < far:
        middle = np.floor((near + far) / 2)
        here = _value_with(problem, state, j, middle)
        beyond = _value_with(problem, state, j, middle + 1)
        if beyond < here:
            near = middle + 1
        else:
            far = middle
    return near


@kernel
def _edge(
    problem: Problem,
    state: SearchState,
    j: int,
    centre: float,
    limit: float,
    cut: float,
    exact: bool,
) -> float:
    """Return how far towards `limit` the bound stays below the cut, rounded outwards."""
    inside = 0.0
    outside = abs(limit - centre)
    side = 1.0 if limit > centre else -1.0
    if outside == 0.0 or _value_with(problem, state, j, limit) < cut:
        return limit
    step = 1.0
    while inside + step < outside:
        if _value_with(problem, state, j, centre + side * (inside + step)) >= cut:
            outside = inside + step
            break
        inside += step
        step *= 4.0
    slack = 1.0
    while outside - inside > slack:
        middle = np.floor((inside + outside) / 2)
        if _value_with(problem, state, j, centre + side * middle) >= cut:
            outside = middle
        else:
            inside = middle
        slack = 1.0 if exact else 1.0 + np.floor(outside / 8)
    return centre + side * (outside - 1.0)


@kernel
def _value_with(problem: Problem, state: SearchState, j: int, amount: float) -> float:
    """Return a bound on all completions in which worker j gets `amount` in its current number."""
    count = state.counts[j]
    total, number = placed(state, j)
    total += amount
    rest = problem.admissions - number - count
    r = state.relaxation
    raised = 0.0  # weighted peaks
    for h in range(len(r.floor)):
        load = problem.loads[j, h] + amount + problem.growth * count * h
        r.floor[h] = max(state.profile[j, h], load)
        raised += problem.weights[h] * r.floor[h]
    if j + 1 == len(problem.slots):
        return raised - problem.price * total
    level = -np.inf
    if problem.everything:
        level = _window_level(problem, state, j, total, rest, state.most[j, rest + count] - amount)
        if not problem.fills:
            return level
    if set_intervals(problem, state, j + 1, j):
        return np.inf
    set_prices(problem, state, state.charge[j], j + 1)
    for g in range(j + 1, len(problem.slots)):
        r.point[g] = state.point[j, g]
    value = state.relaxed(r, j + 1)
    value += state.charge[j, j] * amount - state.shared[j]
    bound: float = max(level, value - problem.price * total)
    return bound


@kernel
def _window_level(
    problem: Problem, state: SearchState, j: int, total: float, rest: int, tokens: float
) -> float:
    """Return the level bound when the rest is known but for which requests are in it."""
    value = 0.0
    for h in range(len(problem.weights)):
        height = level_height(problem, j + 1, h, tokens, rest, state.most[j])
        value += problem.weights[h] * max(state.relaxation.floor[h], height)
    return value - problem.price * (total + tokens)


@kernel
def narrow_boxes(problem: Problem, state: SearchState, j: int, cut: float) -> bool:
    """Narrow the boxes of workers j, j+1, ... to totals they can have; True if one has none left.

    The bound is convex in a worker's total. Where it reaches the cut at the possible total next
    to the minimiser on one side, that side is left, and the bound may rise for all.
    """
    if not problem.fills:
        return False
    r, centre, totals = state.relaxation, state.point[j], problem.totals
    workers = len(problem.slots)
    total, _ = placed(state, j)
    for _ in range(PROBES):
        kept = problem.price * total + state.shared[j]
        set_intervals(problem, state, j, j)
        set_floor(state, j)
        set_prices(problem, state, state.charge[j], j)
        for g in range(j, workers):
            r.point[g] = centre[g]
        state.relaxed(r, j)
        for g in range(j, workers):
            centre[g] = r.point[g]
        moved = False
        for g in range(j, workers):
            start = problem.total_starts[problem.slots[g]]
            stop = problem.total_stops[problem.slots[g]]
            after = first_above(totals, start, stop, centre[g])
            below = available_below(problem, state.left, after, start - 1)
            if stop == 0 or (below >= start and totals[below] == centre[g]):
                continue
            above = available_from(problem, state.left, after, stop)
            not_below = below < start or _fixed(state, j, g, totals[below]) - kept >= cut
            not_above = above == stop or _fixed(state, j, g, totals[above]) - kept >= cut
            if not_below and not_above:
                return True
            if not_below:
                state.box[j, g, 0] = totals[above]
                moved = True
            elif not_above:
                state.box[j, g, 1] = totals[below]
                moved = True
        if not moved:
            return False
        if bound_within(problem, state, j, cut) >= cut:
            return True
    return False


@kernel
def _fixed(state: SearchState, j: int, g: int, amount: float) -> float:
    """Return the relaxation's value when worker g has a total; infinite outside its interval."""
    r = state.relaxation
    low, high = r.low[g], r.high[g]
    if not low <= amount <= high:
        return np.inf
    r.low[g], r.high[g] = amount, amount
    for other in range(j, len(r.point)):
        r.point[other] = state.point[j, other]
    value = state.relaxed(r, j)
    r.low[g], r.high[g] = low, high
    return value
