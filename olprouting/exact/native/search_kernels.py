"""Depth-first search over the workers, one subset of requests after another.

At depth j worker j gets its requests. `advance` runs until the search space is exhausted or the
node budget is spent, and can be called again; all it knows is in `State`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, inlined
from olprouting.exact.native.charge_kernels import charged_bound, suffix
from olprouting.exact.native.discrete_kernels import discrete_bound
from olprouting.exact.native.relaxation_kernels import MOST_WORKERS, relaxed
from olprouting.exact.native.subset_kernels import (
    NONE,
    UNFINISHED,
    begin_subsets,
    next_subset,
    remaining_sums,
    resume_subsets,
)

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

TINY = 1e-6
"""Whole token figures are compared with this slack after a division."""


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
            if not _set_window(problem, state, j, cuts[REACH]):
                _next_count(problem, state, j, cuts[REACH])
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
                _set_window(problem, state, j, cuts[REACH])
        found = next_subset(
            problem.sizes,
            state.left,
            state.least[j],
            state.counts[j],
            state.window[j],
            state.chosen[j],
            state.partial[j],
            place,
            EFFORT,
        )
        if found == UNFINISHED:
            state.cursor[1] = SEEK
            continue
        if found == NONE:
            state.cursor[1] = FRESH
            _next_count(problem, state, j, cuts[REACH])
            continue
        state.cursor[1] = MOVE
        _place(problem, state, j)
        if j + 1 < workers:
            bound = node_bound(problem, state, j + 1, cuts[REACH])
            if bound < cuts[CUT]:
                bound = max(bound, _discrete(problem, state, j + 1, cuts[CUT]))
            if bound >= cuts[CUT]:
                state.tally[1] += bound < cuts[BEST] + cuts[MARGIN]
                continue
            if not _complete(problem, state, j + 1):
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


@compiled
def _complete(problem: Problem, state: State, j: int) -> bool:
    """Give workers from j on the largest remaining requests, if that raises no peak.

    No completion is better than one that admits the most tokens under the peaks there are; other
    ones need not be looked at. The largest request goes where most room is left.
    """
    if not problem.fills:
        return False
    workers = len(problem.slots)
    room = np.full(workers, np.inf)
    for g in range(j, workers):
        state.counts[g] = 0
        state.totals[g] = 0.0
        grown = problem.growth * problem.slots[g]
        for h in range(len(problem.weights)):
            room[g] = min(room[g], state.profile[j, h] - problem.loads[g, h] - grown * h)
        if room[g] < state.least[j, problem.slots[g]]:
            return False
    c = len(problem.sizes)
    spare = 0
    for _ in range(problem.slots[j:].sum()):
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


@compiled
def _placed(state: State, j: int) -> tuple[float, int]:
    """Return the total and number of the requests on workers before j."""
    total = 0.0
    number = 0
    for g in range(j):
        total += state.totals[g]
        number += state.counts[g]
    return total, number


@inlined
def _enter(problem: Problem, state: State, j: int) -> None:
    """Prepare worker j: its first count is the one that mean sizes would need."""
    if problem.fills:
        state.counts[j] = problem.slots[j]
        return
    state.counts[j] = _usual_count(problem, state, j)


@compiled
def _usual_count(problem: Problem, state: State, j: int) -> int:
    """Return how many requests of mean size fill worker j to the level of the others."""
    _, number = _placed(state, j)
    rest = problem.admissions - number
    if rest == 0:
        return 0
    middle = len(problem.weights) // 2
    mean = state.most[j, rest] / rest + problem.growth * middle
    level = (problem.loads[j:, middle].sum() + mean * rest) / (len(problem.slots) - j)
    count = int(np.rint((level - problem.loads[j, middle]) / mean))
    usual: int = min(max(count, 0), problem.slots[j], rest)
    return usual


@compiled
def _next_count(problem: Problem, state: State, j: int, cut: float) -> None:
    """Go to worker j's next count that has a window, or to -1.

    Counts are tried outwards from the usual one: n, n+1, n-1, n+2, ...
    """
    if problem.fills:
        state.counts[j] = -1
        return
    _, number = _placed(state, j)
    most = min(problem.slots[j], problem.admissions - number)
    usual = _usual_count(problem, state, j)
    while True:
        away = state.counts[j] - usual
        state.counts[j] = usual - away + (1 if away <= 0 else 0)
        if abs(state.counts[j] - usual) > max(usual, most - usual):
            state.counts[j] = -1
            return
        if 0 <= state.counts[j] <= most and _set_window(problem, state, j, cut):
            return


@compiled
def node_bound(problem: Problem, state: State, j: int, goal: float) -> float:
    """Return a lower bound on every completion when workers before j are placed.

    No more effort is made once it reaches `goal`.
    """
    remaining_sums(problem.sizes, state.left, state.least[j], state.most[j])
    total, number = _placed(state, j)
    rest = problem.admissions - number
    if j > 0:
        for g in range(j, len(problem.slots)):
            state.point[j, g] = state.point[j - 1, g]
            state.charge[j, g] = state.charge[j - 1, g]
    least = state.least[j]
    return _bound(problem, state, j, state.profile[j], total, rest, least, state.most[j], goal)


@compiled
def _discrete(problem: Problem, state: State, j: int, cut: float) -> float:
    """Return the bound of `discrete_bound` at depth j."""
    total, _ = _placed(state, j)
    fixed = -problem.price * total - state.shared[j]
    for h in range(len(problem.weights)):
        fixed += problem.weights[h] * state.profile[j, h]
    bound: float = discrete_bound(problem, state, j, fixed, cut)
    return bound


@inlined
def _bound(
    problem: Problem,
    state: State,
    j: int,
    profile: Floats,
    total: float,
    rest: int,
    least: Floats,
    most: Floats,
    goal: float,
) -> float:
    """Return a bound on completing workers j, j+1, ... with `rest` requests."""
    bound = -np.inf
    if problem.everything:
        bound = _level_bound(problem, j, profile, total, rest, most)
        if not problem.fills:
            return bound
    goal += problem.price * total
    convex = charged_bound(problem, state, j, profile, least, most, goal)
    return max(bound, convex - problem.price * total)


@compiled
def _level_bound(
    problem: Problem, j: int, profile: Floats, total: float, rest: int, most: Floats
) -> float:
    """Return the bound for a known total: at each offset the rest fills workers up to a level.

    The worker that gets the largest remaining request stands above its load by that much. And the
    q largest are either on q workers or two of them on one.
    """
    workers = len(problem.slots)
    size = workers - j
    tokens = most[rest]
    offsets = len(profile)
    level = np.empty(offsets)
    for h in range(offsets):
        amount = tokens + problem.growth * h * rest
        filled = 0.0
        height = -np.inf
        for m in range(size):
            filled += problem.ordered[j, m, h]
            height = (filled + amount) / (m + 1)
            if m + 1 == size or height <= problem.ordered[j, m + 1, h]:
                break
        level[h] = max(profile[h], np.ceil(height - TINY))
        spread = -np.inf
        for q in range(min(size, rest)):
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
    else:
        for g in range(j, workers):
            value = 0.0
            for h in range(offsets):
                load = problem.loads[g, h] + most[1] + problem.growth * h
                value += problem.weights[h] * max(level[h], load)
            best = min(best, value)
    bound: float = best - problem.price * (total + tokens)
    return bound


@compiled
def _value_with(problem: Problem, state: State, j: int, amount: float) -> float:
    """Return a bound on all completions in which worker j gets `amount` in its current number."""
    count = state.counts[j]
    total, number = _placed(state, j)
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
        level = _window_level(problem, j + 1, profile, total + amount, rest, tokens)
        if not problem.fills:
            return level
    base, low, high = suffix(problem, j + 1, state.least[j], state.most[j])
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
) -> float:
    """Return the level bound when the rest is known but for which requests are in it."""
    size = len(problem.slots) - j
    value = 0.0
    for h in range(len(profile)):
        filled = 0.0
        height = -np.inf
        pool = tokens + problem.growth * h * rest
        for m in range(size):
            filled += problem.ordered[j, m, h]
            height = (filled + pool) / (m + 1)
            if m + 1 == size or height <= problem.ordered[j, m + 1, h]:
                break
        value += problem.weights[h] * max(profile[h], height)
    return value - problem.price * (total + tokens)


@compiled
def _set_window(problem: Problem, state: State, j: int, cut: float) -> bool:
    """Set the interval of totals of worker j with a bound below the cut; False if there is none.

    The bound is convex in the total, so the interval is found from a minimiser outwards.
    """
    state.window_cut[j] = cut
    state.window[j, 0] = np.inf
    state.window[j, 1] = -np.inf
    count = state.counts[j]
    low = state.least[j, count]
    high = state.most[j, count]
    low = max(low, state.fence[j, 0])
    high = min(high, state.fence[j, 1])
    for g in range(j):
        if problem.above[j, g]:
            high = min(high, state.totals[g])
        if problem.below[j, g]:
            low = max(low, state.totals[g])
    workers = len(problem.slots)
    offsets = len(problem.weights)
    _, number = _placed(state, j)
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
    if problem.everything or (offsets > 1 and workers - j > MOST_WORKERS):
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


@inlined
def _take_solution(problem: Problem, state: State, cuts: Floats) -> bool:
    """Compare a complete assignment with the incumbent; True if the caller must decide a tie."""
    workers = len(problem.slots)
    profile = state.profile[workers]
    total, _ = _placed(state, workers)
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
    total, _ = _placed(state, workers)
    for g in range(workers):
        state.best_counts[g] = state.counts[g]
        for t in range(state.counts[g]):
            state.best_chosen[g, t] = state.chosen[g, t]
    for h in range(len(problem.weights)):
        state.best_key[h] = cuts[SCALE] * state.profile[workers, h] - total
    cuts[BEST] = value
    cuts[CUT] = min(cuts[CUT], value - cuts[STEP])
    cuts[REACH] = min(cuts[REACH], max(value - cuts[STEP], value + cuts[MARGIN]))
