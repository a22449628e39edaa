"""Compiled annealing of a schedule that may overload workers, at a cost.

The cost of an overload is a rate per slot and period, and per KV token and period, times a factor
that a pass raises until overloads do not pay. So requests can trade places through states in which
a few tokens are missing for a few periods, which no search among feasible schedules can cross.

Every proposal is judged by what it changes: rewards, and the overload of the periods it touches. A
sum ends as soon as the proposal is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel, summing_kernel
from olprouting.hindsight.reward.dual_kernels import Starts, first_start, start_reward
from olprouting.hindsight.reward.schedule_kernels import earliest_fit, insert, take
from olprouting.structs import Struct

CHUNK = 48
"""Periods after which a sum is compared with its limit."""

LONGEST_CHAIN = 8
"""Requests shifted together at most, >= 2."""

TRIES = 8
"""Moments looked at for one at which a slot is free."""


@dataclass(frozen=True, eq=False)
class Soft(Struct):
    """A schedule that may overload workers.

    Attributes
    ----------
    kind
        Class of each worker, shape (G,).
    slots, room
        Free slots and KV tokens, negative where they are overloaded, shape (G, T).
    slot_rate, token_rate
        What an overload by one costs in a period, shape (C, T).
    ages
        0, 1, 2, ..., as many as the longest request is active.
    worker, start
        The starts, shape (J,), periods from 0; -1 where there is none.
    latest
        The request that was last put on a worker at a period, shape (G, T); it may have left.
    """

    kind: Ints
    slots: Floats
    room: Floats
    slot_rate: Floats
    token_rate: Floats
    ages: Floats
    worker: Ints
    start: Ints
    latest: Ints


@summing_kernel
def cost_of_use(
    slots: Floats,
    room: Floats,
    rate: Floats,
    token_rate: Floats,
    ages: Floats,
    held: float,
    sign: float,
) -> float:
    """Return what it costs more to use a slot, and `held` tokens and one more in each period.

    With sign -1, what it costs more, <= 0, to give them back.
    """
    total = 0.0
    for i in range(len(slots)):
        total += rate[i] * (min(0.0, slots[i]) - min(0.0, slots[i] - sign))
        tokens = sign * (held + ages[i])
        total += token_rate[i] * (min(0.0, room[i]) - min(0.0, room[i] - tokens))
    return total


@summing_kernel
def more_tokens(room: Floats, token_rate: Floats, tokens: float) -> float:
    """Return what it costs more to hold so many tokens more in every period."""
    total = 0.0
    for i in range(len(room)):
        total += token_rate[i] * (min(0.0, room[i]) - min(0.0, room[i] - tokens))
    return total


@summing_kernel
def use(slots: Floats, room: Floats, ages: Floats, held: float, sign: float) -> None:
    """Use a slot and tokens, or, with sign -1, give them back."""
    for i in range(len(slots)):
        slots[i] -= sign
        room[i] -= sign * (held + ages[i])


@kernel
def given_back(soft: Soft, g: int, k: int, end: int, held: float) -> float:
    """Return what it costs more, <= 0, if a request leaves worker g in periods k..end-1."""
    c = soft.kind[g]
    return cost_of_use(
        soft.slots[g, k:end],
        soft.room[g, k:end],
        soft.slot_rate[c, k:end],
        soft.token_rate[c, k:end],
        soft.ages,
        held,
        -1.0,
    )


@kernel
def taken(soft: Soft, g: int, k: int, end: int, held: float, limit: float) -> float:
    """Return what it costs more if a request uses worker g; above `limit` only part of it."""
    c, total, i = soft.kind[g], 0.0, k
    while i < end and total <= limit:
        stop = min(i + CHUNK, end)
        total += cost_of_use(
            soft.slots[g, i:stop],
            soft.room[g, i:stop],
            soft.slot_rate[c, i:stop],
            soft.token_rate[c, i:stop],
            soft.ages,
            held + (i - k),
            1.0,
        )
        i = stop
    return total


@compiled
def exchanged(
    starts: Starts, soft: Soft, g: int, j: int, k: int, i: int, p: int, limit: float
) -> float:
    """Return what it costs more if i at p replaces j, which starts at k, on worker g.

    `i` may be `j`. Above `limit` the result may be only part of it, but is above it too.
    """
    end = min(k + starts.active[j], starts.periods)
    stop = min(p + starts.active[i], starts.periods)
    held, new = float(starts.tokens[j]), float(starts.tokens[i])
    low, high = max(k, p), min(end, stop)
    if high <= low:
        total = given_back(soft, g, k, end, held)
        return total + taken(soft, g, p, stop, new, limit - total)
    total = 0.0
    if k < low:
        total += given_back(soft, g, k, low, held)
    if high < end:
        total += given_back(soft, g, high, end, held + (high - k))
    difference = (new - p) - (held - k)
    total += more_tokens(
        soft.room[g, low:high], soft.token_rate[soft.kind[g], low:high], difference
    )
    if high < stop and total <= limit:
        total += taken(soft, g, high, stop, new + (high - p), limit - total)
    if p < low and total <= limit:
        total += taken(soft, g, p, low, new, limit - total)
    return total


@compiled
def lift(starts: Starts, soft: Soft, j: int) -> None:
    """Undo the start of request j, if it has one."""
    g, k = soft.worker[j], soft.start[j]
    if g >= 0:
        end = min(k + starts.active[j], starts.periods)
        held = float(starts.tokens[j])
        use(soft.slots[g, k:end], soft.room[g, k:end], soft.ages, held, -1.0)
    soft.worker[j], soft.start[j] = -1, -1


@compiled
def put(starts: Starts, soft: Soft, j: int, g: int, k: int) -> None:
    """Start request j on worker g at k, and undo its present start."""
    lift(starts, soft, j)
    end = min(k + starts.active[j], starts.periods)
    held = float(starts.tokens[j])
    use(soft.slots[g, k:end], soft.room[g, k:end], soft.ages, held, 1.0)
    soft.worker[j], soft.start[j] = g, k
    soft.latest[g, k] = j


@kernel
def moved(
    starts: Starts,
    soft: Soft,
    j: int,
    reach: int,
    factor: float,
    slack: float,
    rng: np.random.Generator,
) -> None:
    """Propose another moment, another worker, or both for request j, which has admitted."""
    g, k = soft.worker[j], soft.start[j]
    h = int(rng.random() * len(soft.kind))
    p = k
    if h == g or rng.random() < 0.7:
        away = 1 + int(reach * rng.random() ** 3)
        p += away if rng.random() < 0.5 else -away
    p = max(p, first_start(starts, j, soft.kind[h]))
    if p >= starts.periods or (p == k and h == g):
        return
    gain = start_reward(starts, j, p) - start_reward(starts, j, k) + slack
    if h == g:
        cost = exchanged(starts, soft, g, j, k, j, p, gain / factor)
    else:
        end = min(k + starts.active[j], starts.periods)
        stop = min(p + starts.active[j], starts.periods)
        held = float(starts.tokens[j])
        cost = given_back(soft, g, k, end, held)
        cost += taken(soft, h, p, stop, held, gain / factor - cost)
    if factor * cost <= gain:
        put(starts, soft, j, h, p)


@kernel
def swapped(
    starts: Starts,
    soft: Soft,
    j: int,
    i: int,
    reach: int,
    factor: float,
    slack: float,
    rng: np.random.Generator,
) -> None:
    """Propose that i starts in place of j, about when j did or so that it ends when j did.

    If i has admitted on another worker, j takes its place there.
    """
    g, k, h, p = soft.worker[j], soft.start[j], soft.worker[i], soft.start[i]
    if h == g:
        return
    q = k
    if rng.random() < 0.5:
        q += starts.active[j] - starts.active[i]
    q += int(reach * (rng.random() - 0.5) * rng.random() ** 2)
    q = max(q, first_start(starts, i, soft.kind[g]))
    if q >= starts.periods:
        return
    gain = start_reward(starts, i, q) - start_reward(starts, j, k) + slack
    if h < 0:
        if factor * exchanged(starts, soft, g, j, k, i, q, gain / factor) <= gain:
            lift(starts, soft, j)
            put(starts, soft, i, g, q)
        return
    r = p + int(reach * (rng.random() - 0.5) * rng.random() ** 2)
    r = max(r, first_start(starts, j, soft.kind[h]))
    if r >= starts.periods:
        return
    gain += start_reward(starts, j, r) - start_reward(starts, i, p)
    cost = exchanged(starts, soft, g, j, k, i, q, np.inf)
    cost += exchanged(starts, soft, h, i, p, j, r, gain / factor - cost)
    if factor * cost <= gain:
        put(starts, soft, j, h, r)
        put(starts, soft, i, g, q)


@kernel
def shifted(
    starts: Starts,
    soft: Soft,
    j: int,
    reach: int,
    factor: float,
    slack: float,
    chain: Ints,
    rng: np.random.Generator,
) -> None:
    """Propose to shift request j, one that starts where it ends, one that starts there, and so on.

    By the same number of periods, so that what ends and what starts stay together. `chain` is
    space, for as many as are shifted at most.
    """
    g = soft.worker[j]
    away = 1 + int(reach * rng.random() ** 3)
    if rng.random() < 0.5:
        away = -away
    gain, size, most = slack, 0, 2 + int(rng.random() * (len(chain) - 1))
    while size < most:
        k = soft.start[j]
        p = k + away
        if p < first_start(starts, j, soft.kind[g]) or p >= starts.periods:
            break
        gain += start_reward(starts, j, p) - start_reward(starts, j, k)
        gain -= factor * exchanged(starts, soft, g, j, k, j, p, np.inf)
        put(starts, soft, j, g, p)
        chain[size] = j
        size += 1
        end = k + starts.active[j]
        stop = min(end + 1 + abs(away), starts.periods)
        follower = -1
        for q in range(end, stop):
            i = soft.latest[g, q]
            if i >= 0 and soft.worker[i] == g and soft.start[i] == q:
                follower = i
                break
        if follower < 0:
            break
        j = follower
    if gain >= 0:
        return
    for i in range(size - 1, -1, -1):
        j = chain[i]
        put(starts, soft, j, g, soft.start[j] - away)


@kernel
def inserted(
    starts: Starts,
    soft: Soft,
    wishes: Ints,
    block: int,
    factor: float,
    slack: float,
    rng: np.random.Generator,
) -> None:
    """Propose to start a request where a slot is free, if one is found soon."""
    periods, workers = starts.periods, len(soft.kind)
    g, k = int(rng.random() * workers), int(rng.random() * periods)
    for _ in range(TRIES):
        if soft.slots[g, k] >= 1:
            break
        g, k = int(rng.random() * workers), int(rng.random() * periods)
    i = wishes[k // block, int(rng.random() * wishes.shape[1])]
    if i < 0 or soft.worker[i] >= 0:
        return
    while k > 0 and soft.slots[g, k] >= 1 and soft.slots[g, k - 1] >= 1 and rng.random() < 0.9:
        k -= 1
    k = max(k, first_start(starts, i, soft.kind[g]))
    if k >= periods:
        return
    gain = start_reward(starts, i, k) + slack
    end = min(k + starts.active[i], periods)
    if factor * taken(soft, g, k, end, float(starts.tokens[i]), gain / factor) <= gain:
        put(starts, soft, i, g, k)


@compiled
def anneal(
    starts: Starts,
    soft: Soft,
    wishes: Ints,
    block: int,
    reach: int,
    factor: float,
    temperature: float,
    rounds: int,
    rng: np.random.Generator,
) -> None:
    """Propose a change `rounds` times, and make those that lose little enough.

    Parameters
    ----------
    soft
        Changed in place.
    wishes, block
        As `neighbourhood_kernels.list_wishes` filled them.
    reach
        How far a request moves at most, in periods.
    factor
        Of the cost of overloads.
    temperature
        Mean of the loss that is accepted, in reward; losses are drawn from its exponential
        distribution (Metropolis).
    """
    chain = np.empty(LONGEST_CHAIN, np.int64)
    for _ in range(rounds):
        j = int(rng.random() * len(soft.worker))
        slack = -temperature * np.log(1.0 - rng.random())
        if soft.worker[j] < 0:
            inserted(starts, soft, wishes, block, factor, slack, rng)
            continue
        g, k, way = soft.worker[j], soft.start[j], rng.random()
        if way < 0.45:
            i = wishes[k // block, int(rng.random() * wishes.shape[1])]
            if i >= 0 and i != j:
                swapped(starts, soft, j, i, reach, factor, slack, rng)
        elif way < 0.55:
            shifted(starts, soft, j, reach, factor, slack, chain, rng)
        elif way < 0.995:
            moved(starts, soft, j, reach, factor, slack, rng)
        else:
            end = min(k + starts.active[j], starts.periods)
            saved = -factor * given_back(soft, g, k, end, float(starts.tokens[j]))
            if start_reward(starts, j, k) - saved <= slack:
                lift(starts, soft, j)


@compiled
def settle(
    starts: Starts,
    kind: Ints,
    order: Ints,
    reach: int,
    slots: Ints,
    room: Ints,
    worker: Ints,
    start: Ints,
) -> float:
    """Make a schedule feasible; return its reward.

    Requests that fit keep their starts; the others start where they fit earliest at most `reach`
    periods away, or not at all.

    Parameters
    ----------
    order
        The requests, shape (J,): who comes first keeps its place.
    slots, room
        Free slots and KV tokens of empty workers, shape (G, T); what is used is taken off.
    worker, start
        Changed in place.
    """
    value = 0.0
    late = np.full(len(order), -1)
    for j in order:
        g, k = worker[j], start[j]
        if g < 0:
            continue
        tokens, active = starts.tokens[j], starts.active[j]
        if earliest_fit(slots[g], room[g], tokens, active, k, k) == k:
            take(slots[g], room[g], tokens, active, k, 1)
            value += start_reward(starts, j, k)
        else:
            late[j] = k
    for j in order:
        if late[j] >= 0:
            latest = min(late[j] + reach, starts.periods - 1)
            value += insert(starts, kind, slots, room, j, late[j] - reach, latest, worker, start)
    return value
