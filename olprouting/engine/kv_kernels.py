"""Compiled KV accounting and preemption (bid-price paper, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.compiling import compiled, inlined
from olprouting.engine.calendar_kernels import delist

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.engine.state import Rules, State


@inlined
def kv_held(rules: Rules, request: Any, age: int) -> int:
    """Return the KV tokens that the request of this record is charged at `age`."""
    tokens = max(request.prompt + age + rules.age_offset, request.reserved)
    return int((tokens + rules.block_tokens - 1) // rules.block_tokens * rules.block_tokens)


@inlined
def kv_use(
    rules: Rules, requests: npt.NDArray[np.void], workers: npt.NDArray[np.void], g: int
) -> int:
    """Return the KV tokens that the residents of worker g are charged."""
    worker = workers[g]
    if rules.kv_counts_tokens:
        return int(worker.load + worker.active * rules.age_offset)
    total = 0
    place = worker.newest
    while place >= 0:
        resident = requests[place]
        total += kv_held(rules, resident, worker.own_iteration - resident.began)
        place = resident.older
    return total


@inlined
def observe_kv(rules: Rules, state: State) -> None:
    """Note the KV tokens that are free on every worker; none where it is too full already."""
    requests, workers = state.requests, state.workers
    for g in range(len(workers)):
        state.kv_free[g] = max(0, workers[g].kv_limit - kv_use(rules, requests, workers, g))


@inlined
def preempt(rules: Rules, state: State) -> None:
    """Send back the newest residents of workers about to run a step that would overflow.

    Who was admitted first ends up nearest to the head of the queue, within a worker; the workers
    are gone through in order.
    """
    now = state.now[0]
    requests, workers = state.requests, state.workers
    before_all = now.preemptions
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s < np.inf:
            continue
        before = now.preemptions
        use = kv_use(rules, requests, workers, g)
        while use > worker.kv_limit:
            send_back(rules, state, g)
            use = kv_use(rules, requests, workers, g)
        worker.kv_peak = max(worker.kv_peak, use)
        if not rules.barrier and now.preemptions > before:
            now.preempting_steps += 1
    if rules.barrier and now.preemptions > before_all:
        now.preempting_steps += 1


@compiled
def send_back(rules: Rules, state: State, g: int) -> None:
    """Put the newest resident of worker g at the head of the queue, with what it has generated.

    It waits for as many KV tokens as it was denied: where a prefill step comes first, asking for
    its footprint alone could bring it back to the same lack of room for ever.
    """
    now = state.now[0]
    worker = state.workers[g]
    place = worker.newest
    request = state.requests[place]
    age = worker.own_iteration - request.began
    held = kv_held(rules, request, age)
    generated = max(0, age - rules.prefill_steps)
    delist(state.requests, state.workers, state.complete_head, rules.prefill_steps, place)
    worker.load -= request.prompt + age
    worker.active -= 1
    worker.free += 1
    now.active -= 1
    request.prompt += generated
    request.decode -= generated
    request.forecast = max(1 + rules.prefill_steps, request.forecast - generated)
    request.worker = -1
    request.admission = -1
    request.preempted += 1
    now.preemptions += 1
    now.stalled = -1  # should the coming iteration be idle, no rule has chosen to wait
    if age > 0:  # else it has not run a step
        now.recomputed_tokens += request.prompt
    now.head -= 1  # there is room: it once was taken from the queue
    state.queue[now.head] = place
    state.queue_prompt[now.head] = request.prompt
    state.queue_kv[now.head] = held
