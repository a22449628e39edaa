"""Compiled large neighbourhood search: take some requests of a schedule out, put them back better.

A round costs what its neighbourhood does, not what the trace does: admitted requests are found
through an index by period, others through lists of those that the dual would start at about that
time, and a round ends as soon as it can no longer gain.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.hindsight.reward.dual_kernels import Starts, first_start, start_reward
from olprouting.hindsight.reward.schedule_kernels import earliest_fit, insert, remove, take
from olprouting.prices.pricing_kernels import prefix_sums, price_between


@compiled
def list_wishes(starts: Starts, prices: Floats, block: int, wishes: Ints) -> None:
    """List, for every `block` periods, the requests that lose least by starting there.

    The loss is the largest margin at any block, or 0, less the margin at this one.

    Parameters
    ----------
    prices
        Shape (2, C, T).
    wishes
        Filled with requests, shape (blocks, W); -1 where there are fewer.
    """
    classes, periods, count = prices.shape[1], starts.periods, len(starts.tokens)
    sums = np.empty((3, classes, periods + 1))
    prefix_sums(prices[0], prices[1], 0, periods, sums)
    best, losses = np.zeros(count), np.empty(count)
    blocks, most = wishes.shape
    smallest = np.empty(most)
    wishes.fill(-1)
    for sweep in range(2):
        for b in range(blocks):
            known = 0
            while known < count and starts.arrival[known] < min((b + 1) * block, periods):
                j = known
                known += 1
                k = max(b * block, starts.arrival[j])
                end = min(k + starts.active[j], periods)
                worth, margin = start_reward(starts, j, k), -np.inf
                for c in range(classes):
                    if k >= first_start(starts, j, c):
                        cost = price_between(sums, c, k, end, starts.tokens[j], 1.0)
                        margin = max(margin, worth - cost)
                best[j] = max(best[j], margin)
                losses[j] = best[j] - margin
            if sweep == 0 or known == 0:
                continue
            limit = nth_smallest(losses, known, smallest)
            size = 0
            for tie in (False, True):
                for j in range(known):
                    wanted = losses[j] == limit if tie else losses[j] < limit
                    if wanted and size < most and losses[j] < np.inf:
                        wishes[b, size] = j
                        size += 1


@kernel
def nth_smallest(numbers: Floats, count: int, smallest: Floats) -> float:
    """Return the n-th smallest of the first `count` numbers, or the largest if they are fewer.

    `smallest`, shape (n,), is space.
    """
    smallest.fill(np.inf)
    for i in range(count):
        insert_ascending(smallest, numbers[i])
    return float(smallest[min(count, len(smallest)) - 1])


@kernel
def insert_ascending(ascending: Floats, number: float) -> None:
    """Put a number where it belongs; the last one falls out, which may be itself."""
    i = len(ascending)
    while i > 0 and ascending[i - 1] > number:
        if i < len(ascending):
            ascending[i] = ascending[i - 1]
        i -= 1
    if i < len(ascending):
        ascending[i] = number


@kernel
def sort_by_rank(rank: Floats, size: int, order: Ints) -> None:
    """Fill `order` with 0..size-1 by ascending rank: so few that insertion is fastest."""
    for i in range(size):
        at = i
        while at > 0 and rank[order[at - 1]] > rank[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@compiled
def index_starts(start: Ints, first: Ints) -> Ints:
    """Return the admitted requests in order of their starts; those at k are first[k]..first[k+1]-1.

    `first` is filled, shape (T+1,).
    """
    first.fill(0)
    for k in start:
        if k >= 0:
            first[k + 1] += 1
    for k in range(len(first) - 1):
        first[k + 1] += first[k]
    index = np.empty(first[-1], np.int64)
    for j in range(len(start) - 1, -1, -1):
        if start[j] >= 0:  # from the last place of its period down, and the places back afterwards
            first[start[j] + 1] -= 1
            index[first[start[j] + 1]] = j
    for k in range(len(first) - 1):
        first[k] = first[k + 1]
    first[-1] = len(index)
    return index


@kernel
def choose(
    starts: Starts,
    worker: Ints,
    start: Ints,
    workers: int,
    index: Ints,
    first: Ints,
    wishes: Ints,
    block: int,
    reach: int,
    chosen: Ints,
    taken: Ints,
    rng: np.random.Generator,
) -> tuple[int, int, int]:
    """Fill `chosen` with requests to take out; return how many, and their stretch, first and last.

    Around a random moment, on one worker or two: some that start there, and some that would like
    to and start later, elsewhere or never. `index` may be older than the schedule: what no longer
    starts there is passed over. `taken`, shape (J,), is 0 before and after.
    """
    most, periods = len(chosen), starts.periods
    centre = int(rng.random() * periods)
    some = int(rng.random() * len(start))
    if start[some] >= 0 and rng.random() < 0.5:
        centre = start[some]
    one = other = int(rng.random() * workers)
    if rng.random() < 0.5:
        other = int(rng.random() * workers)
    half = 1 + int(reach * rng.random())
    low, high = max(0, centre - half), min(periods - 1, centre + half)
    size = 0
    wish = 1 + int(rng.random() * (most // 2))
    begin, span = first[low], first[high + 1] - first[low]
    offset = int(rng.random() * span)
    for step in range(span):
        if size >= wish:
            break
        j = index[begin + (offset + step) % span]
        if (worker[j] == one or worker[j] == other) and low <= start[j] <= high:
            chosen[size], taken[j] = j, 1
            size += 1
    wish = size + 1 + int(rng.random() * (most - size - 1))
    for _ in range(2 * most):
        if size >= wish:
            break
        b = (low + int(rng.random() * (high - low + 1))) // block
        j = wishes[b, int(rng.random() * wishes.shape[1])]
        if j < 0 or taken[j] or 0 <= start[j] < low or starts.arrival[j] > high:
            continue
        chosen[size], taken[j] = j, 1
        size += 1
    for i in range(size):
        taken[chosen[i]] = 0
    return size, low, high


@compiled
def improve(
    starts: Starts,
    kind: Ints,
    key: Floats,
    slots: Ints,
    room: Ints,
    worker: Ints,
    start: Ints,
    wishes: Ints,
    block: int,
    rounds: int,
    reach: int,
    most: int,
    rng: np.random.Generator,
) -> float:
    """Take some requests out and put them back, `rounds` times; return the gain in reward, >= 0.

    The new order is by `key` and noise, at random, or by size, smallest or largest first. Requests
    are put back in their stretch or a little later; where that fails, one that admitted after it
    returns to its place, if that is still free.

    Parameters
    ----------
    key
        When each request should start, about, shape (J,).
    slots, room, worker, start
        As `schedule_kernels.build` left them.
    wishes, block
        As `list_wishes` filled them.
    reach
        Longest half of a stretch, in periods.
    most
        Requests to take out at most, >= 2.
    """
    first = np.empty(starts.periods + 1, np.int64)
    index = index_starts(start, first)
    chosen, taken = np.empty(most, np.int64), np.zeros(len(start), np.int64)
    old = np.empty((2, most), np.int64)
    rank, top, order = np.empty(most), np.empty(most), np.empty(most, np.int64)
    gain = 0.0
    for _ in range(rounds):
        size, low, high = choose(
            starts,
            worker,
            start,
            len(slots),
            index,
            first,
            wishes,
            block,
            reach,
            chosen,
            taken,
            rng,
        )
        latest = min(2 * high - low, starts.periods - 1)
        before, after, hope = 0.0, 0.0, 0.0
        way = rng.random()
        noise = 2 * reach * rng.random()
        for i in range(size):
            j = chosen[i]
            old[0, i], old[1, i] = worker[j], start[j]
            before += remove(starts, slots, room, j, worker, start)
            u = rng.random()
            area = starts.active[j] * (starts.tokens[j] + 0.5 * starts.active[j]) * (0.5 + u)
            rank[i] = u
            if way < 0.4:
                rank[i] = key[j] + noise * u
            elif way < 0.6:
                rank[i] = area
            elif way < 0.8:
                rank[i] = -area
            top[i] = start_reward(starts, j, max(low, starts.arrival[j]))
            hope += top[i]
        # a round hopeless by less than that is rounding
        least = before - 1e-12 * hope
        sort_by_rank(rank, size, order)
        for place in range(size):
            i = order[place]
            j = chosen[i]
            worth = insert(starts, kind, slots, room, j, low, latest, worker, start)
            g, k = old[0, i], old[1, i]
            if start[j] < 0 and k > latest:
                tokens, active = starts.tokens[j], starts.active[j]
                if earliest_fit(slots[g], room[g], tokens, active, k, k) == k:
                    worker[j], start[j] = g, k
                    take(slots[g], room[g], tokens, active, k, 1)
                    worth = start_reward(starts, j, k)
            after += worth
            hope += worth - top[i]
            if hope < least:
                break
        if hope >= least and after >= before:
            gain += after - before
            continue
        for i in range(size):
            remove(starts, slots, room, chosen[i], worker, start)
        for i in range(size):
            j, g, k = chosen[i], old[0, i], old[1, i]
            worker[j], start[j] = g, k
            if g >= 0:
                take(slots[g], room[g], starts.tokens[j], starts.active[j], k, 1)
    return gain
