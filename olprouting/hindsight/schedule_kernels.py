"""Compiled schedules of a whole trace: requests put one after the other where they fit earliest.

Rewards never rise with time, so that of the starts that fit, the earliest is the best for a request
by itself; a schedule is an order of insertion (serial schedule generation, as in project
scheduling). Large neighbourhood search takes the requests of one device and a stretch of time out,
with some that could start there, and puts them back in another order.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Floats, Ints, compiled
from olprouting.hindsight.dual_kernels import Starts, first_start, start_reward
from olprouting.prices.pricing_kernels import prefix_sums, price_between


@compiled
def earliest_fit(slots: Ints, room: Ints, tokens: int, active: int, k: int, last: int) -> int:
    """Return the first period in k..last from which a request fits a device, or -1.

    A conflict at i rules out every start before i + 1, or, where tokens are short, before the
    start that is young enough at i. What has been checked for an earlier start stays checked: a
    later one holds fewer tokens there.

    Parameters
    ----------
    slots, room
        Free slots and KV tokens of the device, shape (T,).
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


@compiled
def take(slots: Ints, room: Ints, tokens: int, active: int, k: int, sign: int) -> None:
    """Take what a request uses off a device's room, or, with sign -1, give it back."""
    for i in range(k, min(k + active, len(slots))):
        slots[i] -= sign
        room[i] -= sign * (tokens + i - k)


@compiled
def insert(
    starts: Starts,
    kind: Ints,
    slots: Ints,
    room: Ints,
    j: int,
    k: int,
    device: Ints,
    start: Ints,
) -> float:
    """Start request j where it fits earliest from period k on; return its reward, 0 if nowhere.

    Of several devices the one with the least room.
    """
    best_k, best_g = starts.periods, -1
    tokens, active = starts.tokens[j], starts.active[j]
    for g in range(len(slots)):
        begin = max(k, first_start(starts, j, kind[g]))
        last = min(best_k, starts.periods - 1)
        found = earliest_fit(slots[g], room[g], tokens, active, begin, last)
        if found >= 0 and (found < best_k or room[g, found] < room[best_g, found]):
            best_k, best_g = found, g
    device[j], start[j] = best_g, -1
    if best_g < 0:
        return 0.0
    start[j] = best_k
    take(slots[best_g], room[best_g], tokens, active, best_k, 1)
    return start_reward(starts, j, best_k)


@compiled
def remove(starts: Starts, slots: Ints, room: Ints, j: int, device: Ints, start: Ints) -> float:
    """Undo the start of request j, if it has one; return the reward it had."""
    g, k = device[j], start[j]
    device[j], start[j] = -1, -1
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
    device: Ints,
    start: Ints,
) -> float:
    """Insert requests in an order, in several sweeps; return the sum of their rewards.

    A request whose reward would not exceed `scales[sweep]` times the price of what it uses waits
    for the next sweep. So those that the prices turn away do not delay the others.

    Parameters
    ----------
    kind
        Class of each device, shape (G,).
    order
        The requests, shape (J,).
    prices
        Shape (2, C, T).
    slots, room
        Free slots and KV tokens, shape (G, T); what is used is taken off.
    device, start
        Filled with the starts, shape (J,), periods from 0; -1 where there is none.
    """
    sums = np.empty((3, prices.shape[1], starts.periods + 1))
    prefix_sums(prices[0], prices[1], 0, starts.periods, sums)
    value = 0.0
    device[:] = -1
    start[:] = -1
    for scale in scales:
        for j in order:
            if start[j] >= 0:
                continue
            worth = insert(starts, kind, slots, room, j, 0, device, start)
            k = start[j]
            if k < 0:
                continue
            end = min(k + starts.active[j], starts.periods)
            cost = price_between(sums, kind[device[j]], k, end, starts.tokens[j], 1.0)
            if worth > scale * cost:
                value += worth
            else:
                remove(starts, slots, room, j, device, start)
    return value


@compiled
def choose(
    starts: Starts,
    device: Ints,
    start: Ints,
    devices: int,
    reach: int,
    chosen: Ints,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Fill `chosen` with requests to take out; return how many, and where their stretch begins.

    Around a random request on its device: others that start there at nearly the same time, and
    some from anywhere that have arrived by then and start later or never.
    """
    count, most = len(start), len(chosen)
    centre_j = int(rng.random() * count)
    g, centre = device[centre_j], start[centre_j]
    if centre < 0:
        g = int(rng.random() * devices)
        ahead = starts.periods - starts.arrival[centre_j]
        centre = starts.arrival[centre_j] + int(rng.random() ** 2 * max(ahead, 0))
    half = 1 + int(reach * rng.random())
    low, high = centre - half, centre + half
    chosen[0] = centre_j
    size = 1
    wish = 1 + int(rng.random() * (most // 2))
    offset = int(rng.random() * count)
    for step in range(count):
        if size >= wish:
            break
        j = (offset + step) % count
        if device[j] == g and low <= start[j] <= high and j != centre_j:
            chosen[size] = j
            size += 1
    wish = size + int(rng.random() * (most - size))
    for _ in range(4 * most):
        if size >= wish:
            break
        j = int(rng.random() * count)
        if starts.arrival[j] > high or 0 <= start[j] <= high:
            continue
        known = False
        for i in range(size):
            known = known or chosen[i] == j
        if not known:
            chosen[size] = j
            size += 1
    return size, max(0, low)


@compiled
def improve(
    starts: Starts,
    kind: Ints,
    key: Floats,
    slots: Ints,
    room: Ints,
    device: Ints,
    start: Ints,
    rounds: int,
    reach: int,
    most: int,
    rng: np.random.Generator,
) -> float:
    """Take some requests out and put them back, `rounds` times; return the gain in reward, >= 0.

    The new order is by `key` and noise, at random, or by size, smallest or largest first.

    Parameters
    ----------
    key
        When each request should start, about, shape (J,).
    slots, room, device, start
        As `build` left them.
    reach
        Longest half of a stretch, in periods.
    most
        Requests to take out at most, >= 2.
    """
    chosen = np.empty(most, np.int64)
    old = np.empty((2, most), np.int64)
    rank = np.empty(most)
    gain = 0.0
    for _ in range(rounds):
        size, begin = choose(starts, device, start, len(slots), reach, chosen, rng)
        before, after = 0.0, 0.0
        way = rng.random()
        noise = 2 * reach * rng.random()
        for i in range(size):
            j = chosen[i]
            old[0, i], old[1, i] = device[j], start[j]
            before += remove(starts, slots, room, j, device, start)
            u = rng.random()
            area = starts.active[j] * (starts.tokens[j] + 0.5 * starts.active[j]) * (0.5 + u)
            rank[i] = u
            if way < 0.4:
                rank[i] = key[j] + noise * u
            elif way < 0.6:
                rank[i] = area
            elif way < 0.8:
                rank[i] = -area
        for i in np.argsort(rank[:size]):
            after += insert(starts, kind, slots, room, chosen[i], begin, device, start)
        if after >= before:
            gain += after - before
            continue
        for i in range(size):
            remove(starts, slots, room, chosen[i], device, start)
        for i in range(size):
            j = chosen[i]
            device[j], start[j] = old[0, i], old[1, i]
            if old[0, i] >= 0:
                g, k = device[j], start[j]
                take(slots[g], room[g], starts.tokens[j], starts.active[j], k, 1)
    return gain
