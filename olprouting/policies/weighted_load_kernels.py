"""Policies that send a request to the worker with the least weighted load, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Ints, kernel
from olprouting.policies.fcfs_kernels import open_workers, smallest_free

if TYPE_CHECKING:
    from olprouting.policies.parameters import LoadWeights
    from olprouting.policies.view import View


@kernel
def route_weighted_load(
    weights: LoadWeights | None,
    random_ties: bool,
    view: View,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Give the first U requests, one by one, to the worker with the least score.

    The score of a worker is the sum of its queued and running requests and tokens, each times its
    weight (`LoadWeights`); what a request adds counts for the next one. A relative score takes
    queued requests between the fewest (0) and the most (1) of all workers, and tokens as shares of
    the KV tokens that a worker has. Fills `position` and `worker`, shape (U,), and returns U, or
    how many found room for their first KV tokens; 0 if there are no weights.
    """
    if weights is None:
        return 0
    workers = len(view.free_slots)
    on_arrival = len(view.queued_requests) > 0
    limited = len(view.kv_free_tokens) > 0 and not on_arrival
    free = view.free_slots.copy()
    kv_free = view.kv_free_tokens.copy()
    open_slots = np.empty(workers, np.int64) if limited else free
    queued = np.zeros(workers)
    queued_tokens = np.zeros(workers)
    running = np.empty(workers)
    running_tokens = np.empty(workers)
    capacity = np.ones(workers)
    for g in range(workers):
        if on_arrival:
            queued[g] = view.queued_requests[g]
            queued_tokens[g] = view.queued_tokens[g]
        running[g] = view.active_requests[g] - queued[g]
        running_tokens[g] = view.projected_load_tokens[g, 0] - queued_tokens[g]
        if weights.relative:
            capacity[g] = running_tokens[g] + view.kv_free_tokens[g]
    score = np.empty(workers)
    for u in range(view.admissions):
        if limited and not open_workers(free, kv_free, view.waiting_kv_tokens[u], open_slots):
            return u
        fewest = queued.min() if weights.relative else 0.0
        spread = max(1.0, queued.max() - fewest) if weights.relative else 1.0
        for g in range(workers):
            score[g] = (
                weights.queued_requests * (queued[g] - fewest) / spread
                + weights.running_requests * running[g]
                + weights.queued_tokens * queued_tokens[g]
                + weights.running_tokens * running_tokens[g] / capacity[g]
            )
        g = smallest_free(open_slots, 1, score, random_ties, rng)
        position[u] = u
        worker[u] = g
        free[g] -= 1
        if on_arrival:
            queued[g] += 1
            queued_tokens[g] += view.waiting_prompt_tokens[u]
        else:
            running[g] += 1
            running_tokens[g] += view.waiting_prompt_tokens[u]
        if limited:
            kv_free[g] -= view.waiting_kv_tokens[u]
    return view.admissions
