"""Depth-first search over the workers, one subset of requests after another.

At depth j worker j gets its requests. `advance` runs until the search space is exhausted or the
node budget is spent, and can be called again; all it knows is in `State`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import Floats, compiled, inlined
from olprouting.exact.native.bound_kernels import discrete_at, node_bound, placed
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
    from olprouting.exact.native.problem import Problem, State

EXHAUSTED = 0
PAUSED = 1
TIED = 2

CUT = 0
"""Nodes whose bound is not below this are left."""
STEP = 1
"""A solution of value v lowers the cut to v - step."""
MARGIN = 2
"""Values this close are a tie as far as doubles can tell."""
BEST = 3
"""Value of the incumbent."""
SCALE = 4
"""G."""
REACH = 5
"""Cut for windows: above `CUT` by as much as it takes to see every tie."""

TARGET = 6
"""A solution of at most this value ends the search."""

ENTER = 0
FRESH = 1
MOVE = 2
SEEK = 3

EFFORT = 200
"""Steps of the subset search that count as one node."""


@compiled
def advance(problem: Problem, state: State, cuts: Floats, budget: int) -> int:
    """Search on from where `state` stands.

    Parameters
    ----------
    problem
        What is searched.
    state
        Where the search stands; changed.
    cuts
        See `CUT` and the names below it; changed as solutions are found.
    budget
        Nodes after which to pause.

    Returns
    -------
    int
        EXHAUSTED, PAUSED, or TIED: the solution in `state` ties with the incumbent.
    """
    workers = len(problem.slots)
    place = state.cursor[2:]
    state.tally[2] = 0
    while state.cursor[0] >= 0:
        j = state.cursor[0]
        phase = state.cursor[1]
        state.tally[2] += 1
        if state.tally[2] >= budget:
            return PAUSED
        if phase == ENTER:
            state.tally[0] += 1
            _enter(problem, state, j)
            if narrow_boxes(problem, state, j, cuts[REACH]):
                state.cursor[0] = j - 1
                state.cursor[1] = MOVE
                continue
            if not set_window(problem, state, j, cuts[REACH]):
                next_count(problem, state, j, cuts[REACH])
            if state.counts[j] >= 0:
                set_budget(problem, state, j, cuts[REACH])
            state.cursor[1] = FRESH
            continue
        if state.counts[j] < 0:
            state.cursor[0] = j - 1
            state.cursor[1] = MOVE
            continue
        if phase == FRESH:
            begin_subsets(len(problem.sizes), state.partial[j], place)
        if phase == MOVE:
            resume_subsets(state.left, state.counts[j], state.chosen[j], place)
            if cuts[REACH] < state.window_cut[j]:
                set_window(problem, state, j, cuts[REACH])
                set_budget(problem, state, j, cuts[REACH])
        found = next_subset(
            problem.sizes,
            state.left,
            state.least[j],
            state.counts[j],
            state.window[j],
            state.regret[j],
            state.budget[j],
            state.chosen[j],
            state.partial[j],
            state.spent[j],
            place,
            EFFORT,
        )
        if found == UNFINISHED:
            state.cursor[1] = SEEK
            continue
        if found == NONE:
            state.cursor[1] = FRESH
            next_count(problem, state, j, cuts[REACH])
            continue
        state.cursor[1] = MOVE
        _place(problem, state, j)
        if j + 1 < workers:
            bound = node_bound(problem, state, j + 1, cuts[REACH])
            if bound < cuts[CUT]:
                bound = max(bound, discrete_at(problem, state, j + 1, cuts[CUT]))
            if bound >= cuts[CUT]:
                state.tally[1] += bound < cuts[BEST] + cuts[MARGIN]
                continue
            if not complete(problem, state, j + 1):
                state.cursor[0] = j + 1
                state.cursor[1] = ENTER
                continue
        if _take_solution(problem, state, cuts):
            return TIED
        if cuts[BEST] <= cuts[TARGET]:
            return EXHAUSTED
    return EXHAUSTED


@inlined
def _place(problem: Problem, state: State, j: int) -> None:
    """Book the chosen subset of worker j."""
    count = state.counts[j]
    total = state.partial[j, count]
    state.totals[j] = total
    grown = problem.growth * count
    for h in range(len(problem.weights)):
        load = problem.loads[j, h] + total + grown * h
        state.profile[j + 1, h] = max(state.profile[j, h], load)


@inlined
def _enter(problem: Problem, state: State, j: int) -> None:
    """Prepare worker j: its first count is the one that mean sizes would need."""
    if problem.fills:
        state.counts[j] = problem.slots[j]
        return
    state.counts[j] = usual_count(problem, state, j)


@inlined
def _take_solution(problem: Problem, state: State, cuts: Floats) -> bool:
    """Compare a complete assignment with the incumbent; True if the caller must decide a tie."""
    workers = len(problem.slots)
    profile = state.profile[workers]
    total, _ = placed(state, workers)
    value = -problem.price * total
    for h in range(len(profile)):
        value += problem.weights[h] * profile[h]
    if value >= cuts[BEST] + cuts[MARGIN]:
        return False
    same = True
    for h in range(len(profile)):
        if cuts[SCALE] * profile[h] - total != state.best_key[h]:
            same = False
            break
    if same:
        return False
    if value >= cuts[CUT]:
        state.tally[1] += 1
        return False
    if value > cuts[BEST] - cuts[MARGIN]:
        return True
    accept(problem, state, cuts, value)
    return False


@inlined
def accept(problem: Problem, state: State, cuts: Floats, value: float) -> None:
    """Make the current assignment the incumbent."""
    workers = len(problem.slots)
    total, _ = placed(state, workers)
    for g in range(workers):
        state.best_counts[g] = state.counts[g]
        for t in range(state.counts[g]):
            state.best_chosen[g, t] = state.chosen[g, t]
    for h in range(len(problem.weights)):
        state.best_key[h] = cuts[SCALE] * state.profile[workers, h] - total
    cuts[BEST] = value
    cuts[CUT] = min(cuts[CUT], value - cuts[STEP])
    cuts[REACH] = min(cuts[REACH], max(value - cuts[STEP], value + cuts[MARGIN]))
