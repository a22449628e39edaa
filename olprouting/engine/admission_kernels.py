"""What becomes of the requests that a policy chose, compiled.

Under a central queue they start on their workers. Under dispatch on arrival they join the queue
of their worker, and every worker that is between steps starts requests from its own queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import kernel
from olprouting.engine.lookahead_kernels import welcome
from olprouting.engine.queue_kernels import enqueue, take_first
from olprouting.engine.worker_kernels import enlist, kv_use

if TYPE_CHECKING:
    from olprouting.engine.state import Settings, State, WorkerQueues


@kernel
def send(
    settings: Settings, state: State, queues: WorkerQueues | None, slot: int, worker: int
) -> None:
    """Send the request in queue slot `slot` to a worker: into service, or into its queue."""
    if queues is None:
        admit(settings, state, state.queue[slot], worker)
    else:
        enqueue(state, queues, slot, worker)
    state.queue[slot] = -1
    state.offered[worker] -= 1


@kernel
def admit(settings: Settings, state: State, request: int, worker: int) -> None:
    """Move a request into service."""
    now = state.now[0]
    state.requests[request].worker = worker
    state.requests[request].admission = now.iteration
    if np.isnan(state.requests[request].admission_s):
        state.requests[request].admission_s = now.clock_s
    state.requests[request].began = state.workers[worker].own_iteration
    state.workers[worker].load += state.requests[request].prompt
    state.workers[worker].active += 1
    state.workers[worker].free -= 1
    now.active += 1
    enlist(state.requests, state.workers, state.calendar, settings.prefill_steps, request)
    welcome(state, state.lookahead, request)


@kernel
def start_queued(
    settings: Settings, state: State, queues: WorkerQueues | None, admitted: int
) -> int:
    """Start what the workers' queues hold and slots allow, in order; return how many started.

    Under KV limits nobody overtakes a request for which there is no room yet. Without queues,
    `admitted` is how many.
    """
    if queues is None:
        return admitted
    started = 0
    for g in range(len(state.workers)):
        worker = state.workers[g]
        if worker.ends_s < np.inf or queues.first[g] < 0:
            continue
        room = 0
        if settings.kv_limited:
            room = worker.kv_limit - kv_use(settings, state.requests, state.workers, g)
        while worker.free > 0 and queues.first[g] >= 0:
            if settings.kv_limited:
                room -= queues.kv_tokens[queues.first[g]]
                if room < 0:
                    break
            admit(settings, state, take_first(state, queues, g), g)
            started += 1
    return started


@kernel
def reject(state: State, slot: int) -> None:
    """Turn the request in queue slot `slot` away."""
    now = state.now[0]
    state.requests[state.queue[slot]].rejection = now.iteration
    state.queue[slot] = -1
    now.rejected += 1
    now.stalled = -1  # should the coming iteration be idle, it has changed something


@kernel
def close_gaps(settings: Settings, state: State, last: int) -> None:
    """Move the requests left between the head and slot `last` up to `last`, in order."""
    now = state.now[0]
    target = last
    for slot in range(last, now.head - 1, -1):
        if state.queue[slot] >= 0:
            state.queue[target] = state.queue[slot]
            state.queue_prompt[target] = state.queue_prompt[slot]
            if settings.kv_limited:
                state.queue_kv[target] = state.queue_kv[slot]
            target -= 1
    now.head = target + 1
