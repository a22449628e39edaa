"""The queues of workers under dispatch on arrival, compiled; nothing under a central queue.

A queue is a list linked from its first request to its last. Where `queues` is None, what follows
the test is left out when the kernel is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import kernel

if TYPE_CHECKING:
    from olprouting.engine.state import State, WorkerQueues


@kernel
def enqueue(state: State, queues: WorkerQueues, slot: int, worker: int) -> None:
    """Put the request in slot `slot` of the central queue at the end of a worker's queue."""
    request = state.queue[slot]
    queues.following[request] = -1
    if queues.first[worker] < 0:
        queues.first[worker] = request
    else:
        queues.following[queues.last[worker]] = request
    queues.last[worker] = request
    state.requests[request].worker = worker
    count(queues, worker, 1, state.requests[request].prompt)
    if len(queues.kv_tokens) > 0:
        queues.kv_tokens[request] = state.queue_kv[slot]


@kernel
def put_first(
    state: State, queues: WorkerQueues, request: int, worker: int, kv_tokens: int
) -> None:
    """Put a preempted request, which now needs room for `kv_tokens`, before all of its worker."""
    if queues.first[worker] < 0:
        queues.last[worker] = request
    queues.following[request] = queues.first[worker]
    queues.first[worker] = request
    queues.kv_tokens[request] = kv_tokens
    state.requests[request].worker = worker
    count(queues, worker, 1, state.requests[request].prompt)


@kernel
def take_first(state: State, queues: WorkerQueues, worker: int) -> int:
    """Take the first request off a worker's queue and return it."""
    request = queues.first[worker]
    queues.first[worker] = queues.following[request]
    if queues.first[worker] < 0:
        queues.last[worker] = -1
    count(queues, worker, -1, -state.requests[request].prompt)
    return int(request)


@kernel
def count(queues: WorkerQueues, worker: int, requests: int, tokens: int) -> None:
    """Keep the sums of a worker's queue."""
    queues.requests[worker] += requests
    queues.tokens[worker] += tokens
    queues.total[0] += requests


@kernel
def waiting_requests(state: State, queues: WorkerQueues | None) -> int:
    """Return how many requests wait, wherever."""
    now = state.now[0]
    if queues is None:
        return int(now.tail - now.head)
    return int(now.tail - now.head + queues.total[0])


@kernel
def observe_queues(state: State, queues: WorkerQueues | None, slot: int, width: int) -> None:
    """Count what is queued at a worker among what it has been given.

    How long it will stay is not known: its prompts count at every offset of the window.
    """
    if queues is None:
        return
    for g in range(len(state.workers)):
        for h in range(width):
            state.projected[g * width + h] += queues.tokens[g]
        state.seen_load[slot, g] += queues.tokens[g]
        state.seen_active[slot, g] += queues.requests[g]
        state.seen_queued_requests[slot, g] = queues.requests[g]
        state.seen_queued_tokens[slot, g] = queues.tokens[g]


@kernel
def sum_up_queues(state: State, queues: WorkerQueues | None) -> None:
    """Add up how many requests are queued while a step runs, and for how many slots are free."""
    if queues is None:
        return
    free = 0
    for g in range(len(state.workers)):
        free += state.workers[g].free
    queues.sums[0] += queues.total[0]
    queues.sums[1] += min(free, queues.total[0])
