"""One iteration of the barrier model, compiled (balance paper, section 2).

The iteration is `advance` (1: survivors grow; 2: releases join the queue), `observe` (what the
policy sees), the policy's choice (3), and `commit` (3: admissions; 4: every active request
generates a token; those that generated their last one leave, so that a run which stops here has
finished them). Both the compiled and the plain Python loop consist of
these calls and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from olprouting.compiling import Ints, compiled, inlined
from olprouting.engine.projection_kernels import (
    forget,
    forget_all,
    project,
    update_forecast,
    welcome,
)
from olprouting.engine.state import BACKLOG, BY_ITERATION, BY_TIME
from olprouting.policies.view import View

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State

COMMITTED: Final = 0
WRONG_NUMBER: Final = 1
NO_SUCH_POSITION: Final = 2
TWICE: Final = 3
NO_SUCH_WORKER: Final = 4
WORKER_FULL: Final = 5


@compiled
def advance(rules: Rules, state: State) -> bool:
    """Begin the next iteration; return False when every request has finished."""
    now = state.now[0]
    now.iteration += 1
    for g in range(len(state.load)):
        state.load[g] += state.active[g]
    release(rules, state)
    if now.active == 0 and now.head == now.tail:
        now.iteration -= 1
        return False
    if rules.horizon > 0:
        update_forecast(rules, state)
    return True


@inlined
def release(rules: Rules, state: State) -> None:
    """Let released requests join the queue; skip time in which nothing could happen."""
    now = state.now[0]
    idle = now.active == 0 and now.head == now.tail
    last = len(state.prompt)
    if rules.release_mode == BACKLOG:
        while now.released < last and now.tail - now.head < rules.backlog:
            join_queue(state)
    elif rules.release_mode == BY_TIME:
        if idle and now.released < last:
            now.clock_s = max(now.clock_s, state.arrival_s[now.released])
        while now.released < last and state.arrival_s[now.released] <= now.clock_s:
            join_queue(state)
    elif rules.release_mode == BY_ITERATION:
        if idle and now.released < last:
            skip_to(rules, state, state.arrival_iteration[now.released])
        while now.released < last and state.arrival_iteration[now.released] <= now.iteration:
            join_queue(state)


@inlined
def skip_to(rules: Rules, state: State, iteration: int) -> None:
    """Pass idle iterations, each the time of a step of empty workers."""
    now = state.now[0]
    skipped = iteration - now.iteration
    if skipped <= 0:
        return
    now.idle_iterations += skipped
    now.clock_s += skipped * rules.fixed_s
    now.iteration = iteration
    if rules.horizon > 0:
        forget_all(state)


@inlined
def join_queue(state: State) -> None:
    """Put the next request of the trace at the end of the queue."""
    now = state.now[0]
    request = now.released
    state.queue[now.tail] = request
    state.queue_prompt[now.tail] = state.prompt[request]
    state.release[request] = now.iteration
    state.release_s[request] = now.clock_s
    now.released += 1
    now.tail += 1


@compiled
def observe(rules: Rules, state: State) -> View:
    """Return what the policy sees at this iteration."""
    now = state.now[0]
    workers = len(state.load)
    width = now.window_end - now.iteration + 1 if rules.horizon > 0 else 1
    project(state, width)
    slot = now.busy_iterations % (rules.signal_delay + 1)
    oldest = (now.busy_iterations + 1) % (rules.signal_delay + 1)
    free = 0
    for g in range(workers):
        free += state.free[g]
        state.seen_load[slot, g] = state.load[g]
        state.seen_active[slot, g] = state.active[g]
    if rules.signal_delay > 0:
        for g in range(workers):
            state.projected[g] = state.seen_load[oldest, g]
    return View(
        state.projected[: workers * width].reshape((workers, width)),
        state.seen_active[oldest],
        state.free,
        state.queue_prompt[now.head : now.tail],
        state.queue[now.head : now.tail],
        min(now.tail - now.head, free),
        now.iteration,
    )


@compiled
def commit(rules: Rules, state: State, position: Ints, worker: Ints) -> int:
    """Admit the chosen pairs and run the step; return COMMITTED or what is wrong with them."""
    now = state.now[0]
    waiting = now.tail - now.head
    free = 0
    for count in state.free:
        free += count
    if len(position) != min(waiting, free) or len(position) != len(worker):
        return WRONG_NUMBER
    first_slot = now.head
    furthest = -1
    for index in range(len(position)):
        if not 0 <= position[index] < waiting:
            return NO_SUCH_POSITION
        if state.queue[first_slot + position[index]] < 0:
            return TWICE
        if not 0 <= worker[index] < len(state.load):
            return NO_SUCH_WORKER
        if state.free[worker[index]] == 0:
            return WORKER_FULL
        furthest = max(furthest, position[index])
        state.admitted[index] = state.queue[first_slot + position[index]]
        admit(rules, state, first_slot + position[index], worker[index])
    close_gaps(state, first_slot + furthest)
    run_step(rules, state, len(position))
    for index in range(len(position)):
        state.first_token_s[state.admitted[index]] = now.clock_s
    retire(rules, state)
    return COMMITTED


@inlined
def admit(rules: Rules, state: State, slot: int, worker: int) -> None:
    """Move the request in queue slot `slot` into service."""
    now = state.now[0]
    request = state.queue[slot]
    state.queue[slot] = -1
    state.worker[request] = worker
    state.admission[request] = now.iteration
    state.load[worker] += state.prompt[request]
    state.active[worker] += 1
    state.free[worker] -= 1
    now.active += 1
    bucket = (now.iteration + state.decode[request]) % len(state.complete_head)
    state.complete_next[request] = state.complete_head[bucket]
    state.complete_head[bucket] = request
    if rules.horizon > 0:
        welcome(state, request)


@inlined
def close_gaps(state: State, last: int) -> None:
    """Move the requests left between the head and slot `last` up to `last`, in order."""
    now = state.now[0]
    target = last
    for slot in range(last, now.head - 1, -1):
        if state.queue[slot] >= 0:
            state.queue[target] = state.queue[slot]
            state.queue_prompt[target] = state.queue_prompt[slot]
            target -= 1
    now.head = target + 1


@inlined
def run_step(rules: Rules, state: State, admitted: int) -> None:
    """Let every active request generate a token, and account for the step."""
    now = state.now[0]
    workers = len(state.load)
    heaviest = 0
    total = 0
    slowest_s = 0.0
    local_sum_s = 0.0
    for g in range(workers):
        heaviest = max(heaviest, state.load[g])
        total += state.load[g]
        local_s = (
            rules.fixed_s + rules.per_token_s * state.load[g] + rules.per_slot_s * state.active[g]
        )
        slowest_s = max(slowest_s, local_s)
        local_sum_s += local_s
    step_s = slowest_s + rules.shared_per_token_s * total / workers
    power_w = 0.0
    for g in range(workers):
        share = state.load[g] / heaviest
        power_w += rules.idle_w + (rules.peak_w - rules.idle_w) * share**rules.power_exponent
    imbalance = workers * heaviest - total
    if now.busy_iterations % rules.series_every == 0:
        record(state, admitted, step_s, imbalance, heaviest, total / workers)
    now.imbalance_tokens += imbalance
    now.idle_share += (workers * slowest_s - local_sum_s) / (workers * step_s)
    now.energy_j += power_w * step_s
    now.decode_tokens += now.active
    now.busy_iterations += 1
    now.clock_s += step_s


@inlined
def retire(rules: Rules, state: State) -> None:
    """Remove the requests that generated their last token in the step that just ended."""
    now = state.now[0]
    bucket = (now.iteration + 1) % len(state.complete_head)
    request = state.complete_head[bucket]
    state.complete_head[bucket] = -1
    while request >= 0:
        g = state.worker[request]
        state.load[g] -= state.prompt[request] + state.decode[request] - 1
        state.active[g] -= 1
        state.free[g] += 1
        state.finish_s[request] = now.clock_s
        now.active -= 1
        now.finished += 1
        if rules.horizon > 0:
            forget(state, request)
        request = state.complete_next[request]


@inlined
def record(
    state: State, admitted: int, step_s: float, imbalance: int, heaviest: int, mean_load: float
) -> None:
    """Add a row to the series (columns as in SERIES_COLUMNS)."""
    now = state.now[0]
    row = state.series[now.series_rows]
    row[0] = now.iteration
    row[1] = now.clock_s
    row[2] = step_s
    row[3] = imbalance
    row[4] = heaviest
    row[5] = mean_load
    row[6] = now.active
    row[7] = now.tail - now.head
    row[8] = admitted
    for g in range(len(state.load)):
        state.series_load[now.series_rows, g] = state.load[g]
    now.series_rows += 1
