"""Compiled releases: requests join the queue by time, by iteration, or as it empties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import inlined
from olprouting.engine.kv_kernels import kv_held
from olprouting.engine.projection_kernels import forget_all
from olprouting.engine.state import BACKLOG, BY_ITERATION, BY_TIME

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State


@inlined
def is_stuck(rules: Rules, state: State) -> bool:
    """Whether nothing will happen until another request is released."""
    now = state.now[0]
    return bool(now.active == 0 and (now.head == now.tail or now.stalled >= rules.max_stalled))


@inlined
def release(rules: Rules, state: State) -> None:
    """Let released requests join the queue; skip time in which nothing could happen."""
    now = state.now[0]
    last = len(state.requests)
    released = -1
    while released != now.released:  # again if all that came was rejected
        released = now.released
        stuck = is_stuck(rules, state)
        if rules.release_mode == BACKLOG:
            while now.released < last and now.tail - now.head < rules.backlog:
                join_queue(rules, state)
        elif rules.release_mode == BY_TIME:
            if stuck and now.released < last:
                now.clock_s = max(now.clock_s, state.requests[now.released].arrival_s)
            while now.released < last and state.requests[now.released].arrival_s <= now.clock_s:
                join_queue(rules, state)
        elif rules.release_mode == BY_ITERATION:
            if stuck and now.released < last:
                skip_to(rules, state, state.requests[now.released].arrival_iteration)
            until = min(now.iteration, rules.last_iteration)
            while now.released < last and state.requests[now.released].arrival_iteration <= until:
                join_queue(rules, state)


@inlined
def skip_to(rules: Rules, state: State, iteration: int) -> None:
    """Pass idle iterations, each the time of a step of empty workers."""
    now = state.now[0]
    iteration = min(iteration, rules.last_iteration + 1)
    skipped = iteration - now.iteration
    if skipped <= 0:
        return
    now.idle_iterations += skipped
    now.clock_s += skipped * rules.fixed_s
    now.iteration = iteration
    if rules.horizon > 0:
        forget_all(state)


@inlined
def join_queue(rules: Rules, state: State) -> None:
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
    if rules.kv_limited:
        state.queue_kv[now.tail] = kv_held(rules, state.requests[request], 0)
    now.tail += 1
    now.stalled = 0
