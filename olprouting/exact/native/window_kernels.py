"""Which totals a worker may still have: windows of the next worker, boxes of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, inlined
from olprouting.exact.native.bound_kernels import bound_within, level_height, placed
from olprouting.exact.native.charge_kernels import crossed, suffix
from olprouting.exact.native.discrete_kernels import available
from olprouting.exact.native.relaxation_kernels import relaxed
from olprouting.exact.native.subset_kernels import first_above

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, State

PROBES = 4
"""Rounds of narrowing boxes at a node."""


@compiled
def set_window(problem: Problem, state: State, j: int, cut: float) -> bool:
    """Set the interval of totals of worker j with a bound below the cut; False if there is none.

    The bound is convex in the total, so the interval is found from a minimiser outwards.
    """
    state.window_cut[j] = cut
    state.window[j, 0] = np.inf
    state.window[j, 1] = -np.inf
    count = state.counts[j]
    low = state.least[j, count]
    high = state.most[j, count]
    low = max(low, state.fence[j, 0], state.box[j, j, 0])
    high = min(high, state.fence[j, 1], state.box[j, j, 1])
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


@inlined
def _bottom(problem: Problem, state: State, j: int, low: float, high: float) -> float:
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


@compiled
def _edge(
    problem: Problem, state: State, j: int, centre: float, limit: float, cut: float, exact: bool
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


@compiled
def _value_with(problem: Problem, state: State, j: int, amount: float) -> float:
    """Return a bound on all completions in which worker j gets `amount` in its current number."""
    count = state.counts[j]
    total, number = placed(state, j)
    offsets = len(problem.weights)
    profile = np.empty(offsets)
    grown = problem.growth * count
    for h in range(offsets):
        load = problem.loads[j, h] + amount + grown * h
        profile[h] = max(state.profile[j, h], load)
    rest = problem.admissions - number - count
    if j + 1 == len(problem.slots):
        value = -problem.price * (total + amount)
        for h in range(offsets):
            value += problem.weights[h] * profile[h]
        return value
    level = -np.inf
    if problem.everything:
        tokens = state.most[j, rest + count] - amount
        level = _window_level(problem, j + 1, profile, total + amount, rest, tokens, state.most[j])
        if not problem.fills:
            return level
    base, low, high = suffix(problem, j + 1, state.least[j], state.most[j], state.box[j])
    if crossed(low, high):
        return np.inf
    point = state.point[j + 1, j + 1 :]
    prices = np.empty(len(low))
    for g in range(len(low)):
        point[g] = state.point[j, j + 1 + g]
        prices[g] = problem.price - state.charge[j, j + 1 + g]
    value = relaxed(base, profile, problem.weights, prices, low, high, point)
    value += state.charge[j, j] * amount - state.shared[j]
    bound: float = max(level, value - problem.price * (total + amount))
    return bound


@compiled
def _window_level(
    problem: Problem,
    j: int,
    profile: Floats,
    total: float,
    rest: int,
    tokens: float,
    most: Floats,
) -> float:
    """Return the level bound when the rest is known but for which requests are in it."""
    value = 0.0
    for h in range(len(profile)):
        height = level_height(problem, j, h, tokens, rest, most)
        value += problem.weights[h] * max(profile[h], height)
    return value - problem.price * (total + tokens)


@compiled
def narrow_boxes(problem: Problem, state: State, j: int, cut: float) -> bool:
    """Narrow the boxes of workers j, j+1, ... to totals they can have; True if one has none left.

    The bound is convex in a worker's total. Where it reaches the cut at the possible total next
    to the minimiser on one side, that side is left, and the bound may rise for all.
    """
    workers = len(problem.slots)
    if not problem.fills:
        return False
    profile = state.profile[j]
    total, _ = placed(state, j)
    for _ in range(PROBES):
        kept = problem.price * total + state.shared[j]
        base, low, high = suffix(problem, j, state.least[j], state.most[j], state.box[j])
        prices = problem.price - state.charge[j, j:]
        centre = state.point[j, j:]
        relaxed(base, profile, problem.weights, prices, low, high, centre)
        moved = False
        for g in range(j, workers):
            i = g - j
            start = problem.total_starts[problem.slots[g]]
            stop = problem.total_stops[problem.slots[g]]
            after = first_above(problem.totals, start, stop, centre[i])
            below = available(problem, state.left, after - 1, start - 1, -1)
            if stop == 0 or (below >= start and problem.totals[below] == centre[i]):
                continue
            above = available(problem, state.left, after, stop, 1)
            worth_below, worth_above = np.inf, np.inf
            if below >= start:
                total_below = problem.totals[below]
                worth_below = _fixed(
                    problem, profile, base, prices, low, high, centre, i, total_below
                )
            if above < stop:
                total_above = problem.totals[above]
                worth_above = _fixed(
                    problem, profile, base, prices, low, high, centre, i, total_above
                )
            if worth_below - kept >= cut and worth_above - kept >= cut:
                return True
            if worth_below - kept >= cut:
                state.box[j, g, 0] = problem.totals[above]
                moved = True
            elif worth_above - kept >= cut:
                state.box[j, g, 1] = problem.totals[below]
                moved = True
        if not moved:
            return False
        if bound_within(problem, state, j, cut) >= cut:
            return True
    return False


@compiled
def _fixed(
    problem: Problem,
    profile: Floats,
    base: Floats,
    prices: Floats,
    low: Floats,
    high: Floats,
    centre: Floats,
    i: int,
    amount: float,
) -> float:
    """Return the relaxation's value when worker i has a total; infinite outside its interval."""
    if not low[i] <= amount <= high[i]:
        return np.inf
    own_low, own_high = low[i], high[i]
    low[i], high[i] = amount, amount
    value = relaxed(base, profile, problem.weights, prices, low, high, centre.copy())
    low[i], high[i] = own_low, own_high
    return value
