"""SGLang's router where no prefix matches: by what it has sent where, unless counts differ much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Ints, kernel
from olprouting.policies.fcfs_kernels import open_workers, smallest_free

if TYPE_CHECKING:
    from olprouting.policies.parameters import BalanceThresholds
    from olprouting.policies.view import View


@kernel
def route_by_record(
    thresholds: BalanceThresholds | None,
    random_ties: bool,
    view: View,
    sent_tokens: Ints,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Give the first U requests, one by one, to the worker with the smallest record.

    Its record is what it was sent in the run, in prompt tokens: `sent_tokens`, shape (G,), to which
    this adds. If the busiest worker has too many requests over the idlest (`BalanceThresholds`),
    the request goes to the one with the fewest instead. Fills `position` and `worker`, shape (U,),
    and returns U, or how many found room for their first KV tokens; 0 without thresholds.
    """
    if thresholds is None:
        return 0
    limited = len(view.kv_free_tokens) > 0 and len(view.queued_requests) == 0
    free = view.free_slots.copy()
    kv_free = view.kv_free_tokens.copy()
    open_slots = np.empty(len(free), np.int64) if limited else free
    active = view.active_requests.astype(np.float64)
    record = sent_tokens.astype(np.float64)
    for u in range(view.admissions):
        if limited and not open_workers(free, kv_free, view.waiting_kv_tokens[u], open_slots):
            return u
        fewest, most = active.min(), active.max()
        by_count = most - fewest > thresholds.absolute and most > thresholds.relative * fewest
        measure = active if by_count else record
        g = smallest_free(open_slots, 1, measure, random_ties, rng)
        position[u] = u
        worker[u] = g
        free[g] -= 1
        active[g] += 1
        record[g] += view.waiting_prompt_tokens[u]
        sent_tokens[g] += view.waiting_prompt_tokens[u]
        if limited:
            kv_free[g] -= view.waiting_kv_tokens[u]
    return view.admissions
