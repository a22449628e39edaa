"""All requests onto the workers with nobody above a given load: number partitioning by chance.

Where all waiting requests are admitted, the myopic optimum usually is a division that is even to
the token. Such divisions are few among all, but many in number. Workers are filled exactly, one
after another, with random requests; for the last four workers and sixteen requests everything is
tried. A failed trial takes a fraction of a millisecond.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, inlined

LAST_WORKERS = 4
LAST_REQUESTS = 16
MORE = 6
"""An exact filling is sought among so many more random requests than it needs, about."""

MOST_KEPT = 9
"""Up to so many of the smallest requests, less one, are kept for the last workers."""

MOST_WAYS = 1_000_000
"""Ways tried to fill the last workers: where much room stays free, there are more."""

DRAWS = 60
"""Random sets tried for one worker."""


@compiled
def split_evenly(
    sizes: Floats, room: Floats, slots: Ints, effort: int, rng: np.random.Generator, owner: Ints
) -> bool:
    """Give every request a worker with room and a slot for it; return whether that was found.

    Parameters
    ----------
    sizes
        Of the requests, whole, ascending, shape (W,).
    room, slots
        Tokens and requests that each worker can take, shape (k,).
    effort
        Begin anew until about so many sets of requests have been looked at.
    rng
        For the random choices.
    owner
        Filled with the worker of each request, shape (W,).
    """
    workers, requests = len(room), len(sizes)
    free = np.empty(requests, np.int64)
    order = np.empty(workers, np.int64)
    sums = np.zeros(1 << LAST_REQUESTS)
    while effort > 0:
        effort -= requests
        for g in range(workers):
            order[g] = g
        _shuffle_first(order, workers, workers, rng)
        left = requests
        for i in range(requests):
            free[i] = i
        begun = 0
        kept = int(rng.random() * MOST_KEPT)
        while left > LAST_REQUESTS or workers - begun > LAST_WORKERS:
            if workers - begun < 2:
                break
            left, tried = _fill_one(
                sizes, room, slots, order[begun:], free, left, kept, sums, rng, owner
            )
            effort -= tried
            if left < 0:
                break
            begun += 1
        if 0 <= left <= LAST_REQUESTS and workers - begun <= LAST_WORKERS:
            effort -= 1 << left
            _sum_subsets(sizes, free, left, sums)
            filled, tried = _fill_last(
                room, slots, order[begun:], free, (1 << left) - 1, sums, owner
            )
            effort -= tried
            if filled:
                return True
    return False


@inlined
def _shuffle_first(items: Ints, drawn: int, count: int, rng: np.random.Generator) -> None:
    """Draw the first `drawn` items at random from the first `count`."""
    for i in range(drawn):
        other = i + int(rng.random() * (count - i))
        items[i], items[other] = items[other], items[i]


@inlined
def _sum_subsets(sizes: Floats, free: Ints, count: int, sums: Floats) -> None:
    """Fill sums[mask] with the size of the subset of the first `count` free requests."""
    for i in range(count):
        bit = 1 << i
        for mask in range(bit):
            sums[bit + mask] = sums[mask] + sizes[free[i]]


@inlined
def _bits(mask: int) -> int:
    """Return how many bits are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@compiled
def _fill_one(
    sizes: Floats,
    room: Floats,
    slots: Ints,
    order: Ints,
    free: Ints,
    left: int,
    kept: int,
    sums: Floats,
    rng: np.random.Generator,
    owner: Ints,
) -> tuple[int, int]:
    """Fill the first worker of an order exactly; return how many requests are left, or -1.

    The second number is how many sets were looked at. The first `kept` free requests are not used.
    """
    worker = order[0]
    total = 0.0
    for i in range(left):
        total += sizes[free[i]]
    usual = int(np.rint(room[worker] * left / total)) if total > 0.0 else 0
    kept = min(kept, left)
    drawn = min(left - kept, usual + MORE, LAST_REQUESTS)
    for draw in range(DRAWS):
        _shuffle_first(free[kept:], drawn, left - kept, rng)
        _sum_subsets(sizes, free[kept:], drawn, sums)
        for mask in range(1 << drawn):
            if sums[mask] != room[worker] or _bits(mask) > slots[worker]:
                continue
            rest = 0
            for i in range(left):
                if 0 <= i - kept < drawn and mask >> (i - kept) & 1:
                    owner[free[i]] = worker
                else:
                    free[rest] = free[i]
                    rest += 1
            return rest, (draw + 1) << drawn
    return -1, DRAWS << drawn


@compiled
def _fill_last(
    room: Floats, slots: Ints, order: Ints, free: Ints, everything: int, sums: Floats, owner: Ints
) -> tuple[bool, int]:
    """Divide the requests of a mask among the workers of an order; return whether that was done.

    Tries all ways, but no more than `MOST_WAYS`; the second number is how many.
    """
    count = len(order)
    others = np.zeros(count)  # room of the workers after each
    for i in range(count - 2, -1, -1):
        others[i] = others[i + 1] + room[order[i + 1]]
    rest = np.zeros(count, np.int64)  # requests for this worker and those after it
    mine = np.zeros(count, np.int64)
    rest[0] = everything
    mine[0] = everything + 1
    depth = 0
    tried = 0
    while depth >= 0 and tried < MOST_WAYS:
        tried += 1
        if mine[depth] == 0:
            depth -= 1
            continue
        mine[depth] = (mine[depth] - 1) & rest[depth]
        left = rest[depth] ^ mine[depth]
        worker = order[depth]
        if sums[mine[depth]] > room[worker] or sums[left] > others[depth]:
            continue
        if _bits(mine[depth]) > slots[worker] or (depth + 1 == count and left):
            continue
        if depth + 1 < count:
            depth += 1
            rest[depth] = left
            mine[depth] = left + 1
            continue
        for j in range(count):
            for i in range(LAST_REQUESTS):
                if mine[j] >> i & 1:
                    owner[free[i]] = order[j]
        return True, tried
    return False, tried
