"""All requests onto the workers with no worker above a given load: by exhaustion.

If all waiting requests are admitted, the room below a peak exceeds their total by a slack that no
worker may waste. The largest request is tried on each worker, which then is filled up to the
slack: bin completion (Korf, A new algorithm for optimal bin packing, 2002). Only fillings to which
nothing can be added count, since any request moved there leaves the others more room. Workers that
take a request of nearly their room can be filled in few ways, so that a division often is found
impossible at once. And of many requests of about one size some workers get one more than others,
for which they may lack the room.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, compiled, kernel

IMPOSSIBLE = 0
FOUND = 1
UNFINISHED = 2

OPEN = 0
FILL = 1
BACK = 2


@compiled
def fill_completely(sizes: Floats, room: Floats, slots: Ints, steps: int, owner: Ints) -> int:
    """Give every request a worker with room and a slot for it, or show that this is impossible.

    Parameters
    ----------
    sizes
        Of the requests, descending, shape (W,).
    room, slots
        Tokens and requests that each worker can take, shape (k,).
    steps
        How many to make at most.
    owner
        Filled with the worker of each request, shape (W,).

    Returns
    -------
    int
        FOUND, IMPOSSIBLE, or UNFINISHED after so many steps.
    """
    requests, workers = len(sizes), len(room)
    free = np.empty(workers)
    seats = slots.copy()
    placed = np.empty(requests, np.int64)  # requests in the order in which they were placed
    order = np.empty(workers + 1, np.int64)  # workers in the order in which they were filled
    begun = np.empty(workers + 1, np.int64)  # requests placed before each
    begun_with = np.empty(workers, np.bool_)  # workers that got their first request
    filled = np.empty(workers + 1, np.bool_)  # whether a worker in the order is left as it is
    slack = 0.0
    for g in range(workers):
        free[g] = min(room[g], _largest_total(sizes, room[g], slots[g]))
        begun_with[g] = False
        slack += free[g]
    for i in range(requests):
        owner[i] = -1
        slack -= sizes[i]
    count = 0
    level = 0
    cursor: int = np.int64(0)  # type: ignore[assignment]  # literals are compiled apart
    mode = OPEN if slack >= 0.0 else BACK
    for _ in range(steps):
        if mode == OPEN:
            if count == requests:
                return FOUND
            if cursor == 0 and _too_many(sizes, owner, free, begun_with):
                mode = BACK
                continue
            first = 0
            while owner[first] >= 0:
                first += 1
            worker = _next_worker(free, seats, begun_with, sizes[first], cursor)
            if worker < 0:
                mode = BACK
                continue
            order[level] = worker
            begun[level] = count
            filled[level] = False
            begun_with[worker] = True
            level += 1
            request = first
        elif mode == FILL:
            worker = order[level - 1]
            request = _next_request(sizes, owner, free[worker], seats[worker], slack, cursor)
            if request < 0:
                mode = BACK
                if free[worker] <= slack and _is_full(sizes, owner, free[worker], seats[worker]):
                    slack -= free[worker]
                    filled[level - 1] = True
                    cursor = 0
                    mode = OPEN
                continue
        else:
            if level == 0:
                return IMPOSSIBLE
            worker = order[level - 1]
            if filled[level - 1]:
                filled[level - 1] = False
                slack += free[worker]
            count -= 1
            request = placed[count]
            owner[request] = -1
            free[worker] += sizes[request]
            seats[worker] += 1
            if count == begun[level - 1]:
                level -= 1
                begun_with[worker] = False
                cursor = worker + 1
                mode = OPEN
                continue
            cursor = request + 1
            while cursor < requests and sizes[cursor] == sizes[request]:
                cursor += 1
            mode = FILL
            continue
        owner[request] = worker
        free[worker] -= sizes[request]
        seats[worker] -= 1
        placed[count] = request
        count += 1
        cursor = request + 1
        mode = FILL
    return UNFINISHED


@kernel
def _largest_total(sizes: Floats, room: float, slots: int) -> float:
    """Return the total of the largest requests that fit in by themselves, one in each slot."""
    total = 0.0
    taken = 0
    for i in range(len(sizes)):
        if sizes[i] <= room and taken < slots:
            total += sizes[i]
            taken += 1
    return total


@kernel
def _too_many(sizes: Floats, owner: Ints, free: Floats, begun_with: Bools) -> bool:
    """Whether the largest remaining requests are too many for the workers not begun with.

    Of the q largest some b workers get r b + e or more, with r = q // k and e = q - r k > 0, and
    have no more room for them than the b with most room have.
    """
    rooms = np.empty(len(free))  # of those workers, descending
    workers = 0
    for g in range(len(free)):
        if begun_with[g]:
            continue
        place = workers
        while place > 0 and rooms[place - 1] < free[g]:
            rooms[place] = rooms[place - 1]
            place -= 1
        rooms[place] = free[g]
        workers += 1
    tokens = np.empty(len(sizes) + 1)
    tokens[0] = 0.0
    q = 0
    for i in range(len(sizes)):
        if owner[i] >= 0:
            continue
        q += 1
        tokens[q] = tokens[q - 1] + sizes[i]
        if workers == 0:
            return True
        evenly = q // workers
        excess = q - evenly * workers
        room = 0.0
        possible = excess == 0
        for b in range(1, excess + 1):
            room += rooms[b - 1]
            number = evenly * b + excess
            possible = possible or tokens[q] - tokens[q - number] <= room
        if not possible:
            return True
    return False


@kernel
def _next_worker(free: Floats, seats: Ints, begun_with: Bools, size: float, start: int) -> int:
    """Return the next worker, from `start` on, that may take a request as its first, or -1."""
    for g in range(start, len(free)):
        if begun_with[g] or free[g] < size or seats[g] == 0:
            continue
        twin = False
        for other in range(g):
            twin = twin or (
                not begun_with[other] and free[other] == free[g] and seats[other] == seats[g]
            )
        if not twin:
            return g
    return -1


@kernel
def _next_request(
    sizes: Floats, owner: Ints, free: float, seats: int, slack: float, start: int
) -> int:
    """Return the next request, from `start` on, for a worker with so much room, or -1.

    None if even the largest requests from there on would leave more than the slack.
    """
    missing = free - slack
    unused = seats
    found = -1
    for i in range(start, len(sizes)):
        if owner[i] >= 0 or sizes[i] > free:
            continue
        if unused == 0 or missing <= 0.0:
            break
        if found < 0:
            found = i
        missing -= sizes[i]
        unused -= 1
    if missing > 0.0:
        return -1
    if found < 0 and seats > 0:
        for i in range(start, len(sizes)):
            if owner[i] < 0 and sizes[i] <= free:
                return i
    return found


@kernel
def _is_full(sizes: Floats, owner: Ints, free: float, seats: int) -> bool:
    """Whether nothing that is left fits in."""
    full = True
    for i in range(len(sizes)):
        full = full and (seats == 0 or owner[i] >= 0 or sizes[i] > free)
    return full
