"""Depth-first search over the workers, one subset of requests after another.

At depth j worker j gets its requests. `advance` runs until the search space is exhausted or the
budget of steps is spent, and can be called again; all it knows is in `SearchState`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import compiled, kernel
from olprouting.exact.native.bound_kernels import node_bound
from olprouting.exact.native.charge_kernels import placed
from olprouting.exact.native.count_kernels import complete, next_count, usual_count
from olprouting.exact.native.regret_kernels import set_budget
from olprouting.exact.native.subset_kernels import (
    NONE,
    UNFINISHED,
    begin_subsets,
    next_subset,
    resume_subsets,
)
from olprouting.exact.native.window_kernels import narrow_boxes, set_window

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState

EXHAUSTED = 0
PAUSED = 1
TIED = 2

ENTER = 0
FRESH = 1
MOVE = 2
SEEK = 3
"""Phases of a worker: it is reached; it has a new number of requests; its subset is to move on; the
next subset is being looked for."""

EFFORT = 200
"""Steps of the subset search that count as one node."""


@compiled
def advance(problem: Problem, state: SearchState, budget: int) -> int:
    """Search on from where `state` stands.

    Parameters
    ----------
    problem
        What is searched.
    state
        Where the search stands; changed, as are its limits when solutions are found.
    budget
        Steps after which to pause.

    Returns
    -------
    int
        EXHAUSTED, PAUSED, or TIED: the solution in `state` ties with the incumbent.
    """
    workers = len(problem.slots)
    place, limits = state.place[0], state.limits[0]
    place.steps = 0
    while place.depth >= 0:
        j = place.depth
        place.steps += 1
        if place.steps >= budget:
            return PAUSED
        if place.phase == ENTER:
            place.nodes += 1
            state.counts[j] = usual_count(problem, state, j)
            if narrow_boxes(problem, state, j, limits.reach):
                place.depth = j - 1
                place.phase = MOVE
                continue
            if not set_window(problem, state, j, limits.reach):
                next_count(problem, state, j, limits.reach)
            if state.counts[j] >= 0:
                set_budget(problem, state, j, limits.reach)
            place.phase = FRESH
            continue
        if state.counts[j] < 0:
            place.depth = j - 1
            place.phase = MOVE
            continue
        if place.phase == FRESH:
            begin_subsets(problem, state, j)
        if place.phase == MOVE:
            resume_subsets(state, j)
            if limits.reach < state.window_cut[j]:
                set_window(problem, state, j, limits.reach)
                set_budget(problem, state, j, limits.reach)
        found = next_subset(problem, state, j, EFFORT)
        if found == UNFINISHED:
            place.phase = SEEK
            continue
        if found == NONE:
            place.phase = FRESH
            next_count(problem, state, j, limits.reach)
            continue
        place.phase = MOVE
        _place(problem, state, j)
        if j + 1 < workers:
            bound = node_bound(problem, state, j + 1, limits.reach)
            if bound >= limits.cut:
                place.ties += bound < limits.best + limits.margin
                continue
            if not complete(problem, state, j + 1):
                place.depth = j + 1
                place.phase = ENTER
                continue
        if _take_solution(problem, state):
            return TIED
        if limits.best <= limits.target:
            return EXHAUSTED
    return EXHAUSTED


@kernel
def _place(problem: Problem, state: SearchState, j: int) -> None:
    """Book the chosen subset of worker j."""
    count = state.counts[j]
    total = state.partial[j, count]
    state.totals[j] = total
    grown = problem.growth * count
    for h in range(len(problem.weights)):
        load = problem.loads[j, h] + total + grown * h
        state.profile[j + 1, h] = max(state.profile[j, h], load)


@kernel
def _take_solution(problem: Problem, state: SearchState) -> bool:
    """Compare a complete assignment with the incumbent; True if the caller must decide a tie."""
    workers = len(problem.slots)
    place, limits = state.place[0], state.limits[0]
    total, _ = placed(state, workers)
    value = -problem.price * total
    same = True
    for h in range(len(problem.weights)):
        peak = state.profile[workers, h]
        value += problem.weights[h] * peak
        same = same and limits.scale * peak - total == state.best_key[h]
    if same or value >= limits.best + limits.margin:
        return False
    if value >= limits.cut:
        place.ties += 1
        return False
    if value > limits.best - limits.margin:
        return True
    _accept(problem, state, value, total)
    return False


@kernel
def _accept(problem: Problem, state: SearchState, value: float, total: float) -> None:
    """Make the current assignment the incumbent."""
    workers = len(problem.slots)
    limits = state.limits[0]
    for g in range(workers):
        state.best_counts[g] = state.counts[g]
        for t in range(state.counts[g]):
            state.best_chosen[g, t] = state.chosen[g, t]
    for h in range(len(problem.weights)):
        state.best_key[h] = limits.scale * state.profile[workers, h] - total
    limits.best = value
    limits.cut = min(limits.cut, value - limits.step)
    limits.reach = min(limits.reach, max(value - limits.step, value + limits.margin))
