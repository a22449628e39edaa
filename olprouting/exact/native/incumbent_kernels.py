"""A first incumbent: greedy placement, then exchanges until none helps.

The search proves; this makes sure that it has something to cut with from its first node on. The
objective is convex in the size of any one request, so the best size for a slot is found by
bisection over the sorted size classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Ints, compiled, kernel

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState

ROUNDS = 30
WORK = 3e8
"""Loads that a descent may look at, a fraction of a second; only thousands of slots need more."""


@compiled
def first_incumbent(problem: Problem, state: SearchState) -> None:
    """Fill `held` (size class) and `owner` (worker) of each admitted request."""
    for c in range(len(problem.supply)):
        state.left[c] = problem.supply[c]
    for g in range(len(problem.slots)):
        state.totals[g] = 0.0
        state.counts[g] = 0
    if problem.fills:
        _fill_slots(problem, state)
    else:
        _place_all(problem, state)
    _polish(problem, state, WORK)


@compiled
def shake_incumbent(problem: Problem, state: SearchState, kicks: int, seed: int) -> None:
    """Improve `held` and `owner` by random exchanges, each followed by a descent.

    Better and equal outcomes are kept, worse ones undone.
    """
    held, owner = state.held, state.owner
    dice = np.full(1, seed + 1, np.int64)
    _count_placed(problem, state)
    best = worth(problem, state)
    best_held = held.copy()
    best_owner = owner.copy()
    for _ in range(kicks):
        for _ in range(2 + _roll(dice, 2)):
            _kick(problem, state, dice)
        value = _polish(problem, state, WORK / kicks)
        if value <= best:
            best = value
            for u in range(len(held)):
                best_held[u] = held[u]
                best_owner[u] = owner[u]
            continue
        for u in range(len(held)):
            held[u] = best_held[u]
            owner[u] = best_owner[u]
        _count_placed(problem, state)


@kernel
def _count_placed(problem: Problem, state: SearchState) -> None:
    """Set what is left, and each worker's total and number, to what `held` and `owner` say."""
    for c in range(len(problem.supply)):
        state.left[c] = problem.supply[c]
    for g in range(len(problem.slots)):
        state.totals[g] = 0.0
        state.counts[g] = 0
    for u in range(len(state.held)):
        state.left[state.held[u]] -= 1
        state.totals[state.owner[u]] += problem.sizes[state.held[u]]
        state.counts[state.owner[u]] += 1


@kernel
def worth(problem: Problem, state: SearchState) -> float:
    """Return the search's value of the totals and numbers."""
    loads, totals, counts = problem.loads, state.totals, state.counts
    workers, offsets = loads.shape
    value = 0.0
    for g in range(workers):
        value -= problem.price * totals[g]
    for h in range(offsets):
        peak = problem.floor[h]
        for g in range(workers):
            load = loads[g, h] + totals[g] + problem.growth * counts[g] * h
            peak = max(peak, load)
        value += problem.weights[h] * peak
    return value


@kernel
def _roll(dice: Ints, sides: int) -> int:
    """Return a pseudo-random integer below `sides` (a linear congruential generator)."""
    dice[0] = (dice[0] * 1103515245 + 12345) & 0x7FFFFFFF
    rolled: int = (dice[0] >> 8) % sides
    return rolled


@kernel
def _kick(problem: Problem, state: SearchState, dice: Ints) -> None:
    """Swap a random request with another, or with one left out."""
    held, owner, left = state.held, state.owner, state.left
    u = _roll(dice, len(held))
    v = _roll(dice, len(held))
    c = _roll(dice, len(left))
    if left[c] > 0 and _roll(dice, 2):
        state.totals[owner[u]] += problem.sizes[c] - problem.sizes[held[u]]
        left[held[u]] += 1
        left[c] -= 1
        held[u] = c
    else:
        shift = problem.sizes[held[v]] - problem.sizes[held[u]]
        state.totals[owner[u]] += shift
        state.totals[owner[v]] -= shift
        held[u], held[v] = held[v], held[u]


@kernel
def _polish(problem: Problem, state: SearchState, work: float) -> float:
    """Exchange requests until that helps no more, or `work` is done; return the value."""
    workers, offsets = problem.loads.shape
    requests = len(state.held)
    value = worth(problem, state)
    for _ in range(ROUNDS):
        before = value
        for u in range(requests):
            work -= workers * offsets * (workers + requests - u)
            if work < 0:
                return value
            if problem.everything:
                value = _move(problem, state, u, value)
            else:
                value = _exchange_with_pool(problem, state, u)
            value = _swap(problem, state, u, value)
        if value >= before - abs(before) * 1e-12:
            break
    return value


@kernel
def _fill_slots(problem: Problem, state: SearchState) -> None:
    """Give every free slot the best size left, worker by worker."""
    u = 0
    for g in range(len(problem.slots)):
        for _ in range(problem.slots[g]):
            state.counts[g] += 1
            c = _best_class(problem, state, g)
            state.held[u] = c
            state.owner[u] = g
            state.left[c] -= 1
            state.totals[g] += problem.sizes[c]
            u += 1


@kernel
def _place_all(problem: Problem, state: SearchState) -> None:
    """Place the requests, largest first, where the value is least."""
    totals, counts = state.totals, state.counts
    u = 0
    for c in range(len(problem.sizes) - 1, -1, -1):
        while state.left[c] > 0:
            state.left[c] -= 1
            best = -1
            best_value = np.inf
            for g in range(len(totals)):
                if counts[g] == problem.slots[g]:
                    continue
                totals[g] += problem.sizes[c]
                counts[g] += 1
                value = worth(problem, state)
                totals[g] -= problem.sizes[c]
                counts[g] -= 1
                if value < best_value:
                    best = g
                    best_value = value
            totals[best] += problem.sizes[c]
            counts[best] += 1
            state.held[u] = c
            state.owner[u] = best
            u += 1


@kernel
def _best_class(problem: Problem, state: SearchState, g: int) -> int:
    """Return the class left whose addition to worker g gives the least value."""
    sizes, left, totals = problem.sizes, state.left, state.totals
    base = totals[g]
    low = 0
    high = len(left) - 1
    while low < high:
        middle = (low + high) // 2
        totals[g] = base + sizes[middle]
        here = worth(problem, state)
        totals[g] = base + sizes[middle + 1]
        if worth(problem, state) < here:
            low = middle + 1
        else:
            high = middle
    best = -1
    best_value = np.inf
    for side in range(2):
        c = low if side == 0 else low + 1
        while 0 <= c < len(left) and left[c] == 0:
            c += -1 if side == 0 else 1
        if 0 <= c < len(left):
            totals[g] = base + sizes[c]
            value = worth(problem, state)
            if value < best_value:
                best = c
                best_value = value
    totals[g] = base
    return best


@kernel
def _exchange_with_pool(problem: Problem, state: SearchState, u: int) -> float:
    """Replace request u by the best one left, itself included."""
    held, left = state.held, state.left
    g = state.owner[u]
    left[held[u]] += 1
    state.totals[g] -= problem.sizes[held[u]]
    c = _best_class(problem, state, g)
    held[u] = c
    left[c] -= 1
    state.totals[g] += problem.sizes[c]
    return worth(problem, state)


@kernel
def _move(problem: Problem, state: SearchState, u: int, value: float) -> float:
    """Move request u to the worker where the value is least."""
    totals, counts, owner = state.totals, state.counts, state.owner
    size = problem.sizes[state.held[u]]
    for g in range(len(totals)):
        home = owner[u]
        if g == home or counts[g] == problem.slots[g]:
            continue
        totals[home] -= size
        counts[home] -= 1
        totals[g] += size
        counts[g] += 1
        trial = worth(problem, state)
        if trial < value:
            value = trial
            owner[u] = g
        else:
            totals[home] += size
            counts[home] += 1
            totals[g] -= size
            counts[g] -= 1
    return value


@kernel
def _swap(problem: Problem, state: SearchState, u: int, value: float) -> float:
    """Swap request u with later ones of other workers as long as that helps."""
    totals, held, owner = state.totals, state.held, state.owner
    for v in range(u + 1, len(held)):
        if owner[u] == owner[v] or held[u] == held[v]:
            continue
        shift = problem.sizes[held[v]] - problem.sizes[held[u]]
        totals[owner[u]] += shift
        totals[owner[v]] -= shift
        trial = worth(problem, state)
        if trial < value:
            value = trial
            held[u], held[v] = held[v], held[u]
        else:
            totals[owner[u]] -= shift
            totals[owner[v]] += shift
    return value
