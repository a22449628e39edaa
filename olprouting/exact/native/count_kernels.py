"""How many requests a worker gets, one number after another, and how the rest is dealt out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import kernel
from olprouting.exact.native.charge_kernels import placed
from olprouting.exact.native.window_kernels import set_window

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState


@kernel
def usual_count(problem: Problem, state: SearchState, j: int) -> int:
    """Return how many requests of mean size fill worker j to the level of the others.

    All its slots, if every slot is filled.
    """
    if problem.fills:
        slots: int = problem.slots[j]
        return slots
    _, number = placed(state, j)
    rest = problem.admissions - number
    if rest == 0:
        return 0
    middle = len(problem.weights) // 2
    mean = state.most[j, rest] / rest + problem.growth * middle
    level = mean * rest
    for g in range(j, len(problem.slots)):
        level += problem.loads[g, middle]
    level /= len(problem.slots) - j
    count = int(np.rint((level - problem.loads[j, middle]) / mean))
    usual: int = min(max(count, 0), problem.slots[j], rest)
    return usual


@kernel
def next_count(problem: Problem, state: SearchState, j: int, cut: float) -> None:
    """Go to worker j's next count that has a window, or to -1.

    Counts are tried outwards from the usual one: n, n+1, n-1, n+2, ...
    """
    if problem.fills:
        state.counts[j] = -1
        return
    _, number = placed(state, j)
    most = min(problem.slots[j], problem.admissions - number)
    usual = usual_count(problem, state, j)
    while True:
        away = state.counts[j] - usual
        state.counts[j] = usual - away + (1 if away <= 0 else 0)
        if abs(state.counts[j] - usual) > max(usual, most - usual):
            state.counts[j] = -1
            return
        if 0 <= state.counts[j] <= most and set_window(problem, state, j, cut):
            return


@kernel
def complete(problem: Problem, state: SearchState, j: int) -> bool:
    """Give workers from j on the largest remaining requests, if that raises no peak.

    No completion is better than one that admits the most tokens under the peaks there are; other
    ones need not be looked at. The largest request goes where most room is left.
    """
    if not problem.fills:
        return False
    workers = len(problem.slots)
    _, number = placed(state, j)
    room = np.empty(workers)
    for g in range(j, workers):
        room[g] = np.inf
        state.counts[g] = 0
        state.totals[g] = 0.0
        grown = problem.growth * problem.slots[g]
        for h in range(len(problem.weights)):
            room[g] = min(room[g], state.profile[j, h] - problem.loads[g, h] - grown * h)
        if room[g] < state.least[j, problem.slots[g]]:
            return False
    c = len(problem.sizes)
    spare = 0
    for _ in range(problem.admissions - number):
        while spare == 0:
            c -= 1
            spare = state.left[c]
        spare -= 1
        widest = -1
        for g in range(j, workers):
            if state.counts[g] < problem.slots[g] and (widest < 0 or room[g] > room[widest]):
                widest = g
        room[widest] -= problem.sizes[c]
        if room[widest] < 0.0:
            return False
        state.chosen[widest, state.counts[widest]] = c
        state.counts[widest] += 1
        state.totals[widest] += problem.sizes[c]
    for h in range(len(problem.weights)):
        state.profile[workers, h] = state.profile[j, h]
    return True
