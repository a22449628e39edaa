"""Compiled schedules of a whole trace: requests put one after the other where they fit earliest.

Rewards never rise with time, so that of the starts that fit, the earliest is the best for a request
by itself; a schedule is an order of insertion (serial schedule generation, as in project
scheduling). `neighbourhood_kernels` improves it.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.hindsight.reward.dual_kernels import Starts, first_start, start_reward
from olprouting.prices.pricing_kernels import prefix_sums, price_between


@compiled
def earliest_fit(slots: Ints, room: Ints, tokens: int, active: int, k: int, last: int) -> int:
    """Return the first period in k..last from which a request fits a worker, or -1.

    A conflict at i rules out every start before i + 1, or, where tokens are short, before the
    start that is young enough at i. What has been checked for an earlier start stays checked: a
    later one holds fewer tokens there.

    Parameters
    ----------
    slots, room
        Free slots and KV tokens of the worker, shape (T,).
    tokens, active
        Of the request: KV tokens at age 0, and active periods.
    k, last
        Periods, counted from 0.
    """
    checked, checked_end = 0, 0
    while k <= last:
        end = min(k + active, len(slots))
        clash = -1
        i = end - 1
        while i >= k:
            if checked <= i < checked_end:
                i = checked - 1
                continue
            if slots[i] < 1 or room[i] < tokens + i - k:
                clash = i
                break
            i -= 1
        if clash < 0:
            return k
        checked, checked_end = clash + 1, end
        k = clash + 1
        if slots[clash] >= 1 and room[clash] >= tokens:
            k = clash - (room[clash] - tokens)
    return -1


@kernel
def take(slots: Ints, room: Ints, tokens: int, active: int, k: int, sign: int) -> None:
    """Take what a request uses off a worker's room, or, with sign -1, give it back."""
    for i in range(k, min(k + active, len(slots))):
        slots[i] -= sign
        room[i] -= sign * (tokens + i - k)


@kernel
def insert(
    starts: Starts,
    kind: Ints,
    slots: Ints,
    room: Ints,
    j: int,
    k: int,
    latest: int,
    worker: Ints,
    start: Ints,
) -> float:
    """Start request j where it fits earliest in periods k..latest; return its reward, 0 if nowhere.

    Of several workers the one whose KV tokens per free slot are closest to what the request holds,
    so that slots and tokens run out together.
    """
    best_k, best_g, best_fit = latest, -1, np.inf
    tokens, active = starts.tokens[j], starts.active[j]
    for g in range(len(slots)):
        begin = max(k, first_start(starts, j, kind[g]))
        found = earliest_fit(slots[g], room[g], tokens, active, begin, best_k)
        if found < 0:
            continue
        fit = abs(room[g, found] / slots[g, found] - tokens - 0.5 * active)
        if found < best_k or fit < best_fit:
            best_k, best_g, best_fit = found, g, fit
    worker[j], start[j] = best_g, -1
    if best_g < 0:
        return 0.0
    start[j] = best_k
    take(slots[best_g], room[best_g], tokens, active, best_k, 1)
    return start_reward(starts, j, best_k)


@kernel
def remove(starts: Starts, slots: Ints, room: Ints, j: int, worker: Ints, start: Ints) -> float:
    """Undo the start of request j, if it has one; return the reward it had."""
    g, k = worker[j], start[j]
    worker[j], start[j] = -1, -1
    if g < 0:
        return 0.0
    take(slots[g], room[g], starts.tokens[j], starts.active[j], k, -1)
    return start_reward(starts, j, k)


@compiled
def build(
    starts: Starts,
    kind: Ints,
    order: Ints,
    prices: Floats,
    scales: Floats,
    slots: Ints,
    room: Ints,
    worker: Ints,
    start: Ints,
) -> float:
    """Insert requests in an order, in several sweeps; return the sum of their rewards.

    A request whose reward would not exceed `scales[sweep]` times the price of what it uses waits
    for the next sweep. So those that the prices turn away do not delay the others.

    Parameters
    ----------
    kind
        Class of each worker, shape (G,).
    order
        The requests, shape (J,).
    prices
        Shape (2, C, T).
    slots, room
        Free slots and KV tokens, shape (G, T); what is used is taken off.
    worker, start
        Filled with the starts, shape (J,), periods from 0; -1 where there is none.
    """
    sums = np.empty((3, prices.shape[1], starts.periods + 1))
    prefix_sums(prices[0], prices[1], 0, starts.periods, sums)
    value, last = 0.0, starts.periods - 1
    worker.fill(-1)
    start.fill(-1)
    for scale in scales:
        for j in order:
            if start[j] >= 0:
                continue
            first = starts.arrival[j]
            worth = insert(starts, kind, slots, room, j, first, last, worker, start)
            k = start[j]
            if k < 0:
                continue
            end = min(k + starts.active[j], starts.periods)
            cost = price_between(sums, kind[worker[j]], k, end, starts.tokens[j], 1.0)
            if worth > scale * cost:
                value += worth
            else:
                remove(starts, slots, room, j, worker, start)
    return value
