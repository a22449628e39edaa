"""Compiled FCFS policies: the earliest waiting request goes to a worker that the policy picks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.policies.parameters import JSQ, POWER_OF_TWO, RANDOM, ROUND_ROBIN

if TYPE_CHECKING:
    from olprouting.policies.view import View


@kernel
def route_fcfs(
    policy: int | None,
    random_ties: bool,
    view: View,
    memory: Ints,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Admit the first U requests and fill `position` and `worker`, shape (U,), with the pairs.

    Loads, counts and free slots are updated after every assignment (balance paper, EC.2).
    `memory` holds the next worker of round robin, shape (1,), kept across iterations.

    Under KV limits the policy chooses among the workers with a free slot and room for the KV tokens
    that the earliest request needs in its first iteration. If there is none, no later request
    overtakes it: admission stops. On arrival every worker's queue has room. Returns the number of
    pairs: 0 if `policy` is None.
    """
    if policy is None:
        return 0
    workers = len(view.free_slots)
    limited = len(view.kv_free_tokens) > 0 and len(view.queued_requests) == 0
    free = np.empty(workers, np.int64)
    kv_free = np.empty(workers, np.int64)
    open_slots = np.empty(workers, np.int64) if limited else free
    active = np.empty(workers)
    load = np.empty(workers)
    for g in range(workers):
        free[g] = view.free_slots[g]
        kv_free[g] = view.kv_free_tokens[g] if limited else 0
        active[g] = view.active_requests[g]
        load[g] = view.projected_load_tokens[g, 0]
    for u in range(view.admissions):
        if limited and not open_workers(free, kv_free, view.waiting_kv_tokens[u], open_slots):
            return u
        if policy == RANDOM:
            g = pick_free(open_slots, rng)
        elif policy == ROUND_ROBIN:
            g = next_free(open_slots, memory)
        elif policy == POWER_OF_TWO:
            g = fewer_of_two(open_slots, active, random_ties, rng)
        elif policy == JSQ:
            g = smallest_free(open_slots, 1, active, random_ties, rng)
        else:
            g = smallest_free(open_slots, 1, load, random_ties, rng)
        position[u] = u
        worker[u] = g
        free[g] -= 1
        active[g] += 1
        load[g] += view.waiting_prompt_tokens[u]
        if limited:
            kv_free[g] -= view.waiting_kv_tokens[u]
    return view.admissions


@kernel
def open_workers(free: Ints, kv_free: Ints, kv_tokens: int, open_slots: Ints) -> bool:
    """Copy the free slots of workers with room for `kv_tokens`, 0 of others; return if any."""
    some = False
    for g in range(len(free)):
        open_slots[g] = free[g] if kv_free[g] >= kv_tokens else 0
        some = some or open_slots[g] > 0
    return some


@kernel
def pick_free(free: Ints, rng: np.random.Generator) -> int:
    """Draw a worker uniformly among those with a free slot."""
    eligible = 0
    for g in range(len(free)):
        if free[g] > 0:
            eligible += 1
    skip = int(rng.random() * eligible) if eligible > 1 else 0
    for g in range(len(free)):
        if free[g] > 0:
            if skip == 0:
                return g
            skip -= 1
    return -1


@compiled
def next_free(free: Ints, pointer: Ints) -> int:
    """Return the next worker in cyclic order with a free slot and move the pointer past it."""
    g = pointer[0] % len(free)
    while free[g] == 0:
        g = (g + 1) % len(free)
    pointer[0] = (g + 1) % len(free)
    return int(g)


@kernel
def fewer_of_two(free: Ints, active: Floats, random_ties: bool, rng: np.random.Generator) -> int:
    """Draw two workers with replacement among those with a free slot; fewer active wins."""
    first = pick_free(free, rng)
    second = pick_free(free, rng)
    if active[first] == active[second] and first != second:
        if random_ties:
            return first if rng.random() < 0.5 else second
        return min(first, second)
    return first if active[first] <= active[second] else second


@kernel
def smallest_free(
    free: Ints, at_least: int, measure: Floats, random_ties: bool, rng: np.random.Generator
) -> int:
    """Return the worker with `at_least` free slots whose `measure` is smallest.

    A random number is drawn only when there is a tie and `random_ties` holds.
    """
    best = -1
    tied = 0
    for g in range(len(free)):
        if free[g] < at_least:
            continue
        if best < 0 or measure[g] < measure[best]:
            best = g
            tied = 1
        elif measure[g] == measure[best]:
            tied += 1
    if tied == 1 or not random_ties:
        return best
    skip = int(rng.random() * tied)
    for g in range(best, len(free)):
        if free[g] >= at_least and measure[g] == measure[best]:
            if skip == 0:
                return g
            skip -= 1
    return best
