"""The steepest set of many workers, by a maximum flow.

Looking at all 2^k sets is out of the question for large k. But the set X whose move by one token
lowers phi most is a closure of greatest profit: upwards each worker of X brings its price and costs
every peak that it sets, downwards each peak that X alone sets brings its weight and costs the
prices of X. Send as much as possible from what brings to what costs: what stays unsent is the
profit, and what it still reaches is the set (Picard, Maximal closure of a graph, 1976).
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, compiled, inlined

TOLERANCE = 1e-15
"""Amounts below this, relative to all that is to be sent, are nothing."""

UNREACHED = -2
BEGINNING = -1


@compiled
def peak_setters(
    base: Floats, floor: Floats, weights: Floats, point: Floats
) -> tuple[Bools, Bools, Floats]:
    """Return which workers set the peaks, shape (m, k), whether the floor does, and the weights.

    Offsets whose peaks the same workers set are put together; peaks of the floor alone are left.
    """
    workers, offsets = base.shape
    setters = np.zeros((offsets + 1, workers), np.bool_)
    fixed = np.zeros(offsets + 1, np.bool_)
    weight = np.zeros(offsets + 1)
    kinds = 0
    for h in range(offsets):
        peak = floor[h]
        for g in range(workers):
            peak = max(peak, base[g, h] + point[g])
        anyone = False
        for g in range(workers):
            setters[kinds, g] = base[g, h] + point[g] == peak
            anyone = anyone or setters[kinds, g]
        fixed[kinds] = floor[h] == peak
        if not anyone:
            continue
        kind = 0
        while fixed[kind] != fixed[kinds] or (setters[kind] != setters[kinds]).any():
            kind += 1
        weight[kind] += weights[h]
        if kind == kinds:
            kinds += 1
    return setters[:kinds], fixed[:kinds], weight[:kinds]


@compiled
def steepest_rise(
    setters: Bools, weight: Floats, prices: Floats, can_rise: Bools, chosen: Bools
) -> float:
    """Set `chosen` to the workers that gain most by rising together, and return their slope."""
    kinds, workers = setters.shape
    links = np.zeros((workers, kinds), np.bool_)
    supply = np.zeros(workers)
    for g in range(workers):
        if can_rise[g]:
            supply[g] = prices[g]
            links[g] = setters[:, g]
    return -_unsent(links, supply, weight.copy(), chosen, np.empty(kinds, np.bool_))


@compiled
def steepest_fall(
    setters: Bools,
    fixed: Bools,
    weight: Floats,
    prices: Floats,
    can_fall: Bools,
    chosen: Bools,
) -> float:
    """Set `chosen` to the workers that gain most by falling together, and return their slope."""
    kinds = len(weight)
    supply = np.zeros(kinds)
    for kind in range(kinds):
        if not (fixed[kind] or (setters[kind] & ~can_fall).any()):
            supply[kind] = weight[kind]
    return -_unsent(setters, supply, prices.copy(), np.empty(kinds, np.bool_), chosen)


@compiled
def _unsent(
    links: Bools, left: Floats, room: Floats, reached_senders: Bools, reached_receivers: Bools
) -> float:
    """Send as much as possible along links; return the rest, and what it reaches.

    `left` is what senders have and `room` what receivers take; both change.
    """
    senders, receivers = links.shape
    tiny = TOLERANCE * left.sum()
    flow = np.zeros((senders, receivers))
    by_receiver = np.empty(senders, np.int64)
    by_sender = np.empty(receivers, np.int64)
    queue = np.empty(senders, np.int64)
    while True:
        end = _augmenting_path(links, left, room, flow, tiny, by_receiver, by_sender, queue)
        if end < 0:
            break
        amount = room[end]
        receiver = end
        while by_receiver[by_sender[receiver]] != BEGINNING:
            sender = by_sender[receiver]
            receiver = by_receiver[sender]
            amount = min(amount, flow[sender, receiver])
        amount = min(amount, left[by_sender[receiver]])
        room[end] -= amount
        left[by_sender[receiver]] -= amount
        receiver = end
        while True:
            sender = by_sender[receiver]
            flow[sender, receiver] += amount
            if by_receiver[sender] == BEGINNING:
                break
            receiver = by_receiver[sender]
            flow[sender, receiver] -= amount
    reached_senders[:] = by_receiver != UNREACHED
    reached_receivers[:] = by_sender != UNREACHED
    rest = 0.0
    for sender in range(senders):
        if left[sender] > tiny:
            rest += left[sender]
    return rest


@inlined
def _augmenting_path(
    links: Bools,
    left: Floats,
    room: Floats,
    flow: Floats,
    tiny: float,
    by_receiver: Ints,
    by_sender: Ints,
    queue: Ints,
) -> int:
    """Return a receiver with room at the end of a shortest path from what is left, or -1."""
    senders, receivers = links.shape
    by_receiver[:] = UNREACHED
    by_sender[:] = UNREACHED
    stop = 0
    for sender in range(senders):
        if left[sender] > tiny:
            by_receiver[sender] = BEGINNING
            queue[stop] = sender
            stop += 1
    start = 0
    end = -1
    while start < stop and end < 0:
        sender = queue[start]
        start += 1
        for receiver in range(receivers):
            if not links[sender, receiver] or by_sender[receiver] != UNREACHED:
                continue
            by_sender[receiver] = sender
            if room[receiver] > tiny:
                end = receiver
                break
            for other in range(senders):
                if by_receiver[other] == UNREACHED and flow[other, receiver] > tiny:
                    by_receiver[other] = receiver
                    queue[stop] = other
                    stop += 1
    return end
