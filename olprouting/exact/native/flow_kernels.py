"""The steepest set of many workers, by a maximum flow.

Looking at all 2^k sets is out of the question for large k. But the set X whose move by one token
lowers phi most is a closure of greatest profit: upwards each worker of X brings its price and costs
every peak that it sets, downwards each peak that X alone sets brings its weight and costs the
prices of X. Send as much as possible from what brings to what costs: what stays unsent is the
profit, and what it still reaches is the set (Picard, Maximal closure of a graph, 1976).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, kernel

if TYPE_CHECKING:
    from olprouting.exact.native.relaxation import Relaxation

TOLERANCE = 1e-15
"""Amounts below this, relative to all that is to be sent, are nothing."""

UNREACHED = -2
BEGINNING = -1


@kernel
def steepest_by_flow(r: Relaxation, size: int) -> tuple[float, int]:
    """Choose the set of members whose move by one lowers phi most; return slope and direction."""
    offsets = len(r.weights)
    setters = np.empty((offsets, size), np.bool_)
    fixed = np.empty(offsets, np.bool_)
    weight = np.empty(offsets)
    kinds = _gather_peaks(r, size, setters, fixed, weight)
    from_kind = np.empty(size, np.int64)
    up = _rise(r, setters, weight, kinds, from_kind)
    for i in range(size):
        r.chosen[i] = from_kind[i] != UNREACHED
    down = _fall(r, setters, fixed, weight, kinds, from_kind)
    if down > up:
        return up, 1
    for i in range(size):
        r.chosen[i] = from_kind[i] != UNREACHED
    return down, -1


@kernel
def _gather_peaks(r: Relaxation, size: int, setters: Bools, fixed: Bools, weight: Floats) -> int:
    """Fill in which members set the peaks, whether the floor does, and the weights.

    Offsets whose peaks the same workers set are put together; peaks of the floor alone are left.
    Returns how many kinds there are.
    """
    base, floor, point, members = r.base, r.floor, r.point, r.members
    kinds = 0
    for h in range(len(floor)):
        peak = floor[h]
        for i in range(size):
            peak = max(peak, base[members[i], h] + point[members[i]])
        anyone = False
        for i in range(size):
            setters[kinds, i] = base[members[i], h] + point[members[i]] == peak
            anyone = anyone or setters[kinds, i]
        if not anyone:
            continue
        fixed[kinds] = floor[h] == peak
        weight[kinds] = 0.0
        kind = -1
        equal = False
        while not equal:
            kind += 1
            equal = fixed[kind] == fixed[kinds]
            for i in range(size):
                equal = equal and setters[kind, i] == setters[kinds, i]
        weight[kind] += r.weights[h]
        if kind == kinds:
            kinds += 1
    return kinds


@kernel
def _rise(r: Relaxation, setters: Bools, weight: Floats, kinds: int, from_kind: Ints) -> float:
    """Find the members that gain most by rising together, reached in `from_kind`; return slope."""
    size = len(from_kind)
    links = np.empty((size, kinds), np.bool_)
    gains = np.empty(size)
    costs = np.empty(kinds)
    for kind in range(kinds):
        costs[kind] = weight[kind]
    for i in range(size):
        g = r.members[i]
        may_rise = r.point[g] < r.high[g]
        gains[i] = r.prices[g] if may_rise else 0.0
        for kind in range(kinds):
            links[i, kind] = may_rise and setters[kind, i]
    return -_unsent(links, gains, costs, from_kind, np.empty(kinds, np.int64))


@kernel
def _fall(
    r: Relaxation, setters: Bools, fixed: Bools, weight: Floats, kinds: int, from_kind: Ints
) -> float:
    """Find the members that gain most by falling together, reached in `from_kind`; return slope."""
    size = len(from_kind)
    gains = np.empty(kinds)
    costs = np.empty(size)
    for kind in range(kinds):
        gains[kind] = 0.0 if fixed[kind] else weight[kind]
    for i in range(size):
        g = r.members[i]
        costs[i] = r.prices[g]
        for kind in range(kinds):
            if setters[kind, i] and r.point[g] <= r.low[g]:
                gains[kind] = 0.0
    return -_unsent(setters, gains, costs, np.empty(kinds, np.int64), from_kind)


@kernel
def _unsent(
    links: Bools, left: Floats, room: Floats, from_receiver: Ints, from_sender: Ints
) -> float:
    """Send as much as possible along links, and return what stays.

    `left` is what senders have and `room` what receivers take; both change. `from_receiver` becomes
    whence what stays reaches each sender, `from_sender` likewise for receivers, or UNREACHED.
    """
    senders, receivers = len(left), len(room)
    tiny = 0.0
    for sender in range(senders):
        tiny += TOLERANCE * left[sender]
    flow = np.empty((senders, receivers))
    for sender in range(senders):
        for receiver in range(receivers):
            flow[sender, receiver] = 0.0
    while True:
        end = _augmenting_path(links, left, room, flow, tiny, from_receiver, from_sender)
        if end < 0:
            break
        amount = room[end]
        receiver = end
        while from_receiver[from_sender[receiver]] != BEGINNING:
            sender = from_sender[receiver]
            receiver = from_receiver[sender]
            amount = min(amount, flow[sender, receiver])
        amount = min(amount, left[from_sender[receiver]])
        room[end] -= amount
        left[from_sender[receiver]] -= amount
        receiver = end
        while True:
            sender = from_sender[receiver]
            flow[sender, receiver] += amount
            if from_receiver[sender] == BEGINNING:
                break
            receiver = from_receiver[sender]
            flow[sender, receiver] -= amount
    rest = 0.0
    for sender in range(senders):
        if left[sender] > tiny:
            rest += left[sender]
    return rest


@kernel
def _augmenting_path(
    links: Bools,
    left: Floats,
    room: Floats,
    flow: Floats,
    tiny: float,
    from_receiver: Ints,
    from_sender: Ints,
) -> int:
    """Return a receiver with room at the end of a shortest path from what is left, or -1."""
    senders, receivers = len(left), len(room)
    queue = np.empty(senders, np.int64)
    for receiver in range(receivers):
        from_sender[receiver] = UNREACHED
    stop = 0
    for sender in range(senders):
        from_receiver[sender] = UNREACHED
        if left[sender] > tiny:
            from_receiver[sender] = BEGINNING
            queue[stop] = sender
            stop += 1
    start = 0
    while start < stop:
        sender = queue[start]
        start += 1
        for receiver in range(receivers):
            if not links[sender, receiver] or from_sender[receiver] != UNREACHED:
                continue
            from_sender[receiver] = sender
            if room[receiver] > tiny:
                return receiver
            for other in range(senders):
                if from_receiver[other] == UNREACHED and flow[other, receiver] > tiny:
                    from_receiver[other] = receiver
                    queue[stop] = other
                    stop += 1
    return -1
