"""One iteration, compiled (balance paper, section 2).

The iteration is `advance` (releases join the queue), `observe` (what the policy sees), the
policy's choice, and `commit`: admissions (or dispatch, and what workers admit from their queues)
and rejections, preemption where KV tokens would overflow, the step itself, in which every active
request generates a token, and its end, at which those that generated their last one leave and the
others grow (`worker_kernels`). Both the compiled loop `run_iterations` and the plain Python loop
consist of these calls and nothing else.

With the independent clock an iteration is what happens at one moment at which a worker is between
steps; only such workers are offered to the policy. Under dispatch on arrival it may also be an
arrival, and all workers are offered. The barrier clock is the case in which all workers always are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.compiling import Ints, compiled, kernel
from olprouting.engine.admission_kernels import close_gaps, reject, send, start_queued
from olprouting.engine.lookahead_kernels import forget_all, project, update_forecast
from olprouting.engine.queue_kernels import observe_queues, sum_up_queues, waiting_requests
from olprouting.engine.state import BACKLOG, BY_ITERATION, BY_TIME, IN_FLIGHT
from olprouting.engine.worker_kernels import (
    kv_held,
    observe_kv,
    pass_idle,
    preempt,
    run_barrier_step,
    run_to_next_event,
)
from olprouting.policies.policy import REJECT
from olprouting.policies.route_kernels import route_compiled
from olprouting.policies.view import View

if TYPE_CHECKING:
    from olprouting.engine.state import Settings, State, WorkerQueues
    from olprouting.policies.parameters import PolicyParameters

COMMITTED: Final = 0
WRONG_NUMBER: Final = 1
NO_SUCH_POSITION: Final = 2
TWICE: Final = 3
NO_SUCH_WORKER: Final = 4
WORKER_FULL: Final = 5
WORKER_TOO_SMALL: Final = 6
MAY_NOT_REJECT: Final = 7


@compiled
def run_iterations(
    settings: Settings,
    state: State,
    parameters: PolicyParameters,
    memory: Ints,
    rng: np.random.Generator,
    iterations: int,
) -> bool:
    """Run up to `iterations` iterations; return False when nothing more will happen."""
    most = most_chosen(state, state.queues)
    position = np.empty(most, np.int64)
    worker = np.empty(most, np.int64)
    for _ in range(iterations):
        if not advance(settings, state):
            return False
        view = observe(settings, state)
        admitted = 0
        if view.admissions > 0:
            admitted = route_compiled(parameters, view, memory, rng, position, worker)
        commit(settings, state, position[:admitted], worker[:admitted])
    return True


@kernel
def most_chosen(state: State, queues: WorkerQueues | None) -> int:
    """Return the largest number of requests that a decision can choose."""
    if queues is not None:
        return len(state.requests)
    slots = 0
    for g in range(len(state.workers)):
        slots += state.workers[g].slots
    return slots


@compiled
def advance(settings: Settings, state: State) -> bool:
    """Begin the next iteration; return False when nothing more will happen."""
    now = state.now[0]
    if now.iteration >= settings.last_iteration:
        return False
    now.iteration += 1
    release(settings, state)
    if is_stuck(settings, state) or now.iteration > settings.last_iteration:
        now.iteration -= 1
        return False
    update_forecast(settings, state, state.lookahead)
    return True


@compiled
def observe(settings: Settings, state: State) -> View:
    """Return what the policy sees at this iteration."""
    now = state.now[0]
    workers = len(state.workers)
    width = now.window_end - now.iteration + 1 if settings.horizon > 0 else 1
    project(state, state.lookahead, width)
    slot = now.busy_iterations % (settings.signal_delay + 1)
    oldest = (now.busy_iterations + 1) % (settings.signal_delay + 1)
    free = offer(state, state.queues)
    for g in range(workers):
        state.seen_load[slot, g] = state.workers[g].load
        state.seen_active[slot, g] = state.workers[g].active
    observe_queues(state, state.queues, slot, width)
    if settings.signal_delay > 0:
        for g in range(workers):
            state.projected[g] = state.seen_load[oldest, g]
    first_kv, last_kv = 0, 0
    if settings.kv_limited:
        observe_kv(settings, state)
        first_kv, last_kv = now.head, now.tail
    return View(
        state.projected[: workers * width].reshape((workers, width)),
        state.seen_active[oldest],
        state.offered,
        state.queue_prompt[now.head : now.tail],
        state.queue[now.head : now.tail],
        min(now.tail - now.head, free),
        now.iteration,
        state.kv_free,
        state.queue_kv[first_kv:last_kv],
        state.seen_queued_requests[oldest],
        state.seen_queued_tokens[oldest],
        None,
    )


@kernel
def offer(state: State, queues: WorkerQueues | None) -> int:
    """Note how many requests each worker can be given now; return the sum."""
    now = state.now[0]
    total = 0
    for g in range(len(state.workers)):
        if queues is None:
            state.offered[g] = state.workers[g].free if state.workers[g].ends_s == np.inf else 0
        else:
            state.offered[g] = now.tail - now.head
        total += state.offered[g]
    return total


@compiled
def commit(settings: Settings, state: State, position: Ints, worker: Ints) -> int:
    """Admit, dispatch or reject as chosen and run the step; return COMMITTED or what is wrong."""
    now = state.now[0]
    waiting = now.tail - now.head
    free = 0
    for count in state.offered:
        free += count
    most = min(waiting, free)
    chosen = len(position)
    rejected = 0
    for g in worker:
        rejected += g == REJECT
    if rejected > 0 and not settings.may_reject:
        return MAY_NOT_REJECT
    admitted = chosen - rejected
    if chosen != len(worker) or admitted > most or (settings.exact_number and admitted < most):
        return WRONG_NUMBER
    first_slot = now.head
    furthest = -1
    for index in range(chosen):
        if not 0 <= position[index] < waiting:
            return NO_SUCH_POSITION
        slot = first_slot + position[index]
        if state.queue[slot] < 0:
            return TWICE
        furthest = max(furthest, position[index])
        g = worker[index]
        if g == REJECT:
            reject(state, slot)
            continue
        if not 0 <= g < len(state.workers):
            return NO_SUCH_WORKER
        if state.offered[g] == 0:
            return WORKER_FULL
        if settings.kv_limited and state.queue_kv[slot] > state.workers[g].kv_limit:
            return WORKER_TOO_SMALL
        send(settings, state, state.queues, slot, g)
    close_gaps(settings, state, first_slot + furthest)
    admitted = start_queued(settings, state, state.queues, admitted)
    if settings.kv_limited:
        preempt(settings, state)
    if now.active == 0:
        pass_idle(settings, state)
        return COMMITTED
    now.stalled = 0
    sum_up_queues(state, state.queues)
    if settings.barrier:
        run_barrier_step(settings, state, admitted)
    else:
        run_to_next_event(settings, state, admitted)
    return COMMITTED


@kernel
def is_stuck(settings: Settings, state: State) -> bool:
    """Whether nothing will happen until another request is released."""
    now = state.now[0]
    waiting = waiting_requests(state, state.queues)
    return bool(now.active == 0 and (waiting == 0 or now.stalled >= settings.max_stalled))


@kernel
def release(settings: Settings, state: State) -> None:
    """Let released requests join the queue; skip time in which nothing could happen."""
    now = state.now[0]
    last = len(state.requests)
    released = -1
    while released != now.released:  # again if all that came was rejected
        released = now.released
        stuck = is_stuck(settings, state)
        if settings.release_mode == BACKLOG:
            while now.released < last and now.tail - now.head < settings.backlog:
                join_queue(settings, state)
        elif settings.release_mode == IN_FLIGHT:
            left = now.finished + now.rejected
            while now.released < last and now.released - left < settings.in_flight:
                join_queue(settings, state)
        elif settings.release_mode == BY_TIME:
            if stuck and now.released < last:
                now.clock_s = max(now.clock_s, state.requests[now.released].arrival_s)
            while now.released < last and state.requests[now.released].arrival_s <= now.clock_s:
                join_queue(settings, state)
        elif settings.release_mode == BY_ITERATION:
            if stuck and now.released < last:
                skip_to(settings, state, state.requests[now.released].arrival_iteration)
            until = min(now.iteration, settings.last_iteration)
            while now.released < last and state.requests[now.released].arrival_iteration <= until:
                join_queue(settings, state)


@kernel
def skip_to(settings: Settings, state: State, iteration: int) -> None:
    """Pass idle iterations, each the time of a step of empty workers."""
    now = state.now[0]
    iteration = min(iteration, settings.last_iteration + 1)
    skipped = iteration - now.iteration
    if skipped <= 0:
        return
    now.idle_iterations += skipped
    now.clock_s += skipped * settings.fixed_s
    now.iteration = iteration
    forget_all(state, state.lookahead)


@kernel
def join_queue(settings: Settings, state: State) -> None:
    """Put the next request of the trace at the end of the queue, or turn it away."""
    now = state.now[0]
    request = now.released
    state.requests[request].release = now.iteration
    state.requests[request].release_s = now.clock_s
    now.released += 1
    if state.requests[request].oversize:
        now.rejected += 1
        state.requests[request].rejection = now.iteration
        return
    state.queue[now.tail] = request
    state.queue_prompt[now.tail] = state.requests[request].prompt
    if settings.kv_limited:
        state.queue_kv[now.tail] = kv_held(settings, state.requests[request], 0)
    now.tail += 1
    now.stalled = 0
