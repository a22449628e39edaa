"""A first incumbent: greedy placement, then exchanges until none helps.

The search proves; this makes sure that it has something to cut with from its first node on. The
objective is convex in the size of any one request, so the best size for a slot is found by
bisection over the sorted size classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, inlined

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem

ROUNDS = 30
WORK = 300_000_000
"""Loads that a descent may look at, a fraction of a second; only thousands of slots need more."""


@compiled
def worth(problem: Problem, totals: Floats, counts: Ints) -> float:
    """Return the search's value of given totals and numbers."""
    workers = len(totals)
    value = 0.0
    for g in range(workers):
        value -= problem.price * totals[g]
    for h in range(len(problem.weights)):
        peak = problem.floor[h]
        for g in range(workers):
            load = problem.loads[g, h] + totals[g] + problem.growth * counts[g] * h
            peak = max(peak, load)
        value += problem.weights[h] * peak
    return value


@compiled
def first_incumbent(
    problem: Problem, left: Ints, totals: Floats, counts: Ints, held: Ints, owner: Ints
) -> float:
    """Fill `held` (size class) and `owner` (worker) of each admitted request; return the value."""
    for c in range(len(left)):
        left[c] = problem.supply[c]
    for g in range(len(totals)):
        totals[g] = 0.0
        counts[g] = 0
    if problem.fills:
        _fill_slots(problem, left, totals, counts, held, owner)
    else:
        _place_all(problem, left, totals, counts, held, owner)
    return _polish(problem, left, totals, counts, held, owner, WORK)


@compiled
def shaken_incumbent(problem: Problem, held: Ints, owner: Ints, kicks: int, seed: int) -> float:
    """Improve an assignment by random exchanges, each followed by a descent; return its value.

    Better and equal outcomes are kept, worse ones undone.
    """
    dice = np.full(1, seed + 1, np.int64)
    left = problem.supply.copy()
    totals = np.zeros(len(problem.slots))
    counts = np.zeros(len(problem.slots), np.int64)
    for u in range(len(held)):
        left[held[u]] -= 1
        totals[owner[u]] += problem.sizes[held[u]]
        counts[owner[u]] += 1
    best = worth(problem, totals, counts)
    best_held = held.copy()
    best_owner = owner.copy()
    for _ in range(kicks):
        for _ in range(2 + _roll(dice, 2)):
            _kick(problem, left, totals, held, owner, dice)
        value = _polish(problem, left, totals, counts, held, owner, WORK // kicks)
        better = value <= best
        best = min(best, value)
        for u in range(len(held)):
            if better:
                best_held[u] = held[u]
                best_owner[u] = owner[u]
                continue
            left[held[u]] += 1
            totals[owner[u]] -= problem.sizes[held[u]]
            counts[owner[u]] -= 1
        for u in range(len(held)):
            if better:
                continue
            held[u] = best_held[u]
            owner[u] = best_owner[u]
            left[held[u]] -= 1
            totals[owner[u]] += problem.sizes[held[u]]
            counts[owner[u]] += 1
    return best


@compiled
def _roll(dice: Ints, sides: int) -> int:
    """Return a pseudo-random integer below `sides` (a linear congruential generator)."""
    dice[0] = (dice[0] * 1103515245 + 12345) & 0x7FFFFFFF
    rolled: int = (dice[0] >> 8) % sides
    return rolled


@inlined
def _kick(
    problem: Problem, left: Ints, totals: Floats, held: Ints, owner: Ints, dice: Ints
) -> None:
    """Swap a random request with another, or with one left out."""
    u = _roll(dice, len(held))
    v = _roll(dice, len(held))
    c = _roll(dice, len(left))
    if left[c] > 0 and _roll(dice, 2):
        totals[owner[u]] += problem.sizes[c] - problem.sizes[held[u]]
        left[held[u]] += 1
        left[c] -= 1
        held[u] = c
    else:
        shift = problem.sizes[held[v]] - problem.sizes[held[u]]
        totals[owner[u]] += shift
        totals[owner[v]] -= shift
        held[u], held[v] = held[v], held[u]


@compiled
def _polish(
    problem: Problem,
    left: Ints,
    totals: Floats,
    counts: Ints,
    held: Ints,
    owner: Ints,
    work: int,
) -> float:
    """Exchange requests until that helps no more, or `work` is done; return the value."""
    value = worth(problem, totals, counts)
    looks = len(totals) * len(problem.weights)
    for _ in range(ROUNDS):
        before = value
        for u in range(len(held)):
            work -= looks * (len(totals) + len(held) - u)
            if work < 0:
                return value
            if problem.everything:
                value = _move(problem, totals, counts, held, owner, u, value)
            else:
                value = _exchange_with_pool(problem, left, totals, counts, held, owner, u)
            value = _swap(problem, totals, counts, held, owner, u, value)
        if value >= before - abs(before) * 1e-12:
            break
    return value


@inlined
def _fill_slots(
    problem: Problem, left: Ints, totals: Floats, counts: Ints, held: Ints, owner: Ints
) -> None:
    """Give every free slot the best size left, worker by worker."""
    u = 0
    for g in range(len(totals)):
        for _ in range(problem.slots[g]):
            counts[g] += 1
            c = _best_class(problem, left, totals, counts, g)
            held[u] = c
            owner[u] = g
            left[c] -= 1
            totals[g] += problem.sizes[c]
            u += 1


@inlined
def _place_all(
    problem: Problem, left: Ints, totals: Floats, counts: Ints, held: Ints, owner: Ints
) -> None:
    """Place the requests, largest first, where the value is least."""
    u = 0
    for c in range(len(left) - 1, -1, -1):
        while left[c] > 0:
            left[c] -= 1
            best = -1
            best_value = np.inf
            for g in range(len(totals)):
                if counts[g] == problem.slots[g]:
                    continue
                totals[g] += problem.sizes[c]
                counts[g] += 1
                value = worth(problem, totals, counts)
                totals[g] -= problem.sizes[c]
                counts[g] -= 1
                if value < best_value:
                    best = g
                    best_value = value
            totals[best] += problem.sizes[c]
            counts[best] += 1
            held[u] = c
            owner[u] = best
            u += 1


@compiled
def _best_class(problem: Problem, left: Ints, totals: Floats, counts: Ints, g: int) -> int:
    """Return the class left whose addition to worker g gives the least value."""
    base = totals[g]
    low = 0
    high = len(left) - 1
    while low < high:
        middle = (low + high) // 2
        totals[g] = base + problem.sizes[middle]
        here = worth(problem, totals, counts)
        totals[g] = base + problem.sizes[middle + 1]
        if worth(problem, totals, counts) < here:
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
            totals[g] = base + problem.sizes[c]
            value = worth(problem, totals, counts)
            if value < best_value:
                best = c
                best_value = value
    totals[g] = base
    return best


@inlined
def _exchange_with_pool(
    problem: Problem, left: Ints, totals: Floats, counts: Ints, held: Ints, owner: Ints, u: int
) -> float:
    """Replace request u by the best one left, itself included."""
    g = owner[u]
    left[held[u]] += 1
    totals[g] -= problem.sizes[held[u]]
    c = _best_class(problem, left, totals, counts, g)
    held[u] = c
    left[c] -= 1
    totals[g] += problem.sizes[c]
    return worth(problem, totals, counts)


@inlined
def _move(
    problem: Problem,
    totals: Floats,
    counts: Ints,
    held: Ints,
    owner: Ints,
    u: int,
    value: float,
) -> float:
    """Move request u to the worker where the value is least."""
    size = problem.sizes[held[u]]
    for g in range(len(totals)):
        home = owner[u]
        if g == home or counts[g] == problem.slots[g]:
            continue
        totals[home] -= size
        counts[home] -= 1
        totals[g] += size
        counts[g] += 1
        trial = worth(problem, totals, counts)
        if trial < value:
            value = trial
            owner[u] = g
        else:
            totals[home] += size
            counts[home] += 1
            totals[g] -= size
            counts[g] -= 1
    return value


@inlined
def _swap(
    problem: Problem,
    totals: Floats,
    counts: Ints,
    held: Ints,
    owner: Ints,
    u: int,
    value: float,
) -> float:
    """Swap request u with later ones of other workers as long as that helps."""
    for v in range(u + 1, len(held)):
        if owner[u] == owner[v] or held[u] == held[v]:
            continue
        shift = problem.sizes[held[v]] - problem.sizes[held[u]]
        totals[owner[u]] += shift
        totals[owner[v]] -= shift
        trial = worth(problem, totals, counts)
        if trial < value:
            value = trial
            held[u], held[v] = held[v], held[u]
        else:
            totals[owner[u]] -= shift
            totals[owner[v]] += shift
    return value
