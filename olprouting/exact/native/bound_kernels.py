"""Bounds at a node: the charged relaxation, and the level of a known total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, kernel
from olprouting.exact.native.charge_kernels import charged_bound, placed
from olprouting.exact.native.subset_kernels import remaining_sums

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState

TINY = 1e-6
"""Whole token figures are compared with this slack after a division."""


@compiled
def node_bound(problem: Problem, state: SearchState, j: int, goal: float) -> float:
    """Return a lower bound on every completion when workers before j are placed.

    No more effort is made once it reaches `goal`.
    """
    remaining_sums(problem, state, j)
    if j > 0:
        for g in range(j, len(problem.slots)):
            state.box[j, g, 0] = state.box[j - 1, g, 0]
            state.box[j, g, 1] = state.box[j - 1, g, 1]
            state.point[j, g] = state.point[j - 1, g]
            state.charge[j, g] = state.charge[j - 1, g]
    return bound_within(problem, state, j, goal)


@kernel
def bound_within(problem: Problem, state: SearchState, j: int, goal: float) -> float:
    """Return a bound on completing workers j, j+1, ... within the boxes there are."""
    total, number = placed(state, j)
    bound = -np.inf
    if problem.everything:
        rest = problem.admissions - number
        bound = _level_bound(problem, state, j, total, rest)
        if not problem.fills:
            return bound
    convex = charged_bound(problem, state, j, goal + problem.price * total)
    return max(bound, convex - problem.price * total)


@kernel
def _level_bound(problem: Problem, state: SearchState, j: int, total: float, rest: int) -> float:
    """Return the bound for a known total: at each offset the rest fills workers up to a level.

    The worker that gets the largest remaining request stands above its load by that much. And the
    q largest are either on q workers or two of them on one.
    """
    workers, offsets = problem.loads.shape
    most, profile = state.most[j], state.profile[j]
    level = np.empty(offsets)
    tokens = most[rest]
    for h in range(offsets):
        height = level_height(problem, j, h, tokens, rest, most)
        level[h] = max(profile[h], np.ceil(height - TINY))
        spread = -np.inf
        for q in range(min(workers - j, rest)):
            request = most[q + 1] - most[q] + problem.growth * h
            spread = max(spread, problem.ordered[j, q, h] + request)
            if q > 0:
                pair = most[q + 1] - most[q - 1] + 2 * problem.growth * h
                level[h] = max(level[h], min(spread, problem.ordered[j, 0, h] + pair))
    best = np.inf
    if rest == 0:
        best = 0.0
        for h in range(offsets):
            best += problem.weights[h] * profile[h]
    for g in range(j, workers if rest > 0 else j):
        value = 0.0
        for h in range(offsets):
            load = problem.loads[g, h] + most[1] + problem.growth * h
            value += problem.weights[h] * max(level[h], load)
        best = min(best, value)
    bound: float = best - problem.price * (total + tokens)
    return bound


@kernel
def level_height(problem: Problem, j: int, h: int, tokens: float, rest: int, most: Floats) -> float:
    """Return the level to which the rest fills workers j, j+1, ... at offset h.

    A level below the largest load, which is a peak anyway, may be too high. No worker takes more
    than the largest requests in all its slots; if that is too little, the level is infinite. Above
    the largest load it is convex in the tokens.
    """
    workers = len(problem.slots)
    grown = problem.growth * h
    height = -np.inf
    while True:
        amount = tokens + grown * rest
        filling = 0
        for g in range(j, workers):
            number = min(problem.slots[g], rest)
            cap = most[number] + grown * number
            if problem.loads[g, h] + cap < height:
                amount -= cap
            else:
                amount += problem.loads[g, h]
                filling += 1
        if filling == 0:
            return np.inf
        higher = amount / filling  # of whole numbers, so that it is whole where it should be
        if higher <= height:
            return height
        height = higher
