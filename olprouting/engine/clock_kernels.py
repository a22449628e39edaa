"""Compiled time: how long steps take, and what their end brings.

With the barrier clock all workers run their step together, as long as the slowest needs. With the
independent clock each runs its own, and the clock goes on to the next end of a step, or to an
arrival if some worker could take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.compiling import compiled, inlined
from olprouting.engine.calendar_kernels import delist, last_iteration
from olprouting.engine.projection_kernels import see_off
from olprouting.engine.state import BY_TIME

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State


@inlined
def pass_idle(rules: Rules, state: State) -> None:
    """Let the time of an empty worker's step pass: nothing is active and nobody was admitted."""
    now = state.now[0]
    now.idle_iterations += 1
    now.stalled += 1
    until_s = now.clock_s + rules.fixed_s
    if not rules.barrier and rules.release_mode == BY_TIME and now.released < len(state.requests):
        until_s = min(until_s, state.requests[now.released].arrival_s)
    now.clock_s = until_s


@inlined
def local_time(rules: Rules, worker: Any) -> float:
    """Return how long the worker of this record needs for its step, in seconds."""
    return float(rules.fixed_s + rules.per_token_s * worker.load + rules.per_slot_s * worker.active)


@inlined
def run_barrier_step(rules: Rules, state: State, admitted: int) -> None:
    """Let every active request run a step, and account for it."""
    now = state.now[0]
    workers = state.workers
    count = len(workers)
    heaviest = 0
    total = 0
    slowest_s = 0.0
    local_sum_s = 0.0
    for g in range(count):
        heaviest = max(heaviest, workers[g].load)
        total += workers[g].load
        local_s = local_time(rules, workers[g])
        slowest_s = max(slowest_s, local_s)
        local_sum_s += local_s
    step_s = slowest_s + rules.shared_per_token_s * total / count
    power_w = 0.0
    for g in range(count):
        share = workers[g].load / heaviest
        power_w += rules.idle_w + (rules.peak_w - rules.idle_w) * share**rules.power_exponent
    imbalance = count * heaviest - total
    if now.busy_iterations % rules.series_every == 0:
        record(state, admitted, step_s, imbalance)
    now.imbalance_tokens += imbalance
    now.idle_share += (count * slowest_s - local_sum_s) / (count * step_s)
    now.energy_j += power_w * step_s
    now.busy_iterations += 1
    now.clock_s += step_s
    for g in range(count):
        workers[g].ends_s = now.clock_s
    finish_steps(rules, state)


@inlined
def run_to_next_event(rules: Rules, state: State, admitted: int) -> None:
    """Start a step on every worker that has requests and runs none; go on to the next event."""
    now = state.now[0]
    workers = state.workers
    next_s = np.inf
    some_idle = False
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s == np.inf:
            if worker.active > 0:
                worker.ends_s = now.clock_s + local_time(rules, worker)
            else:
                some_idle = True
        next_s = min(next_s, worker.ends_s)
    if some_idle and rules.release_mode == BY_TIME and now.released < len(state.requests):
        next_s = min(next_s, state.requests[now.released].arrival_s)
    if now.busy_iterations % rules.series_every == 0:
        record(state, admitted, next_s - now.clock_s, np.nan)
    now.busy_iterations += 1
    now.clock_s = next_s
    finish_steps(rules, state)


@compiled
def finish_steps(rules: Rules, state: State) -> None:
    """End the steps that end now: tokens come, completed requests leave, the others grow."""
    now = state.now[0]
    requests, workers, calendar = state.requests, state.workers, state.complete_head
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s > now.clock_s:
            continue
        own = worker.own_iteration
        now.decode_tokens += worker.active
        place = worker.newest
        while place >= 0 and requests[place].began >= own - rules.prefill_steps:
            newcomer = requests[place]
            if newcomer.began > own - rules.prefill_steps:
                now.decode_tokens -= 1  # this was its prefill
            elif newcomer.first_token < 0:  # a preempted request keeps its first
                newcomer.first_token = now.iteration
                newcomer.first_token_s = now.clock_s
            place = newcomer.older
        place = calendar[g, own % calendar.shape[1]]
        while place >= 0:
            request = requests[place]
            following = request.complete_next
            if last_iteration(request, rules.prefill_steps) == own:
                delist(requests, workers, calendar, rules.prefill_steps, place)
                worker.load -= request.prompt + own - request.began
                worker.active -= 1
                worker.free += 1
                request.finish = now.iteration
                request.finish_s = now.clock_s
                now.active -= 1
                now.finished += 1
                if rules.horizon > 0:
                    see_off(rules, state, place)
            place = following
        worker.load += worker.active
        worker.own_iteration += 1
        worker.ends_s = np.inf


@inlined
def record(state: State, admitted: int, step_s: float, imbalance: float) -> None:
    """Add a row to the series (columns as in SERIES_COLUMNS)."""
    now = state.now[0]
    heaviest = 0
    total = 0
    for g in range(len(state.workers)):
        state.series_load[now.series_rows, g] = state.workers[g].load
        heaviest = max(heaviest, state.workers[g].load)
        total += state.workers[g].load
    row = state.series[now.series_rows]
    row[0] = now.iteration
    row[1] = now.clock_s
    row[2] = step_s
    row[3] = imbalance
    row[4] = heaviest
    row[5] = total / len(state.workers)
    row[6] = now.active
    row[7] = now.tail - now.head
    row[8] = admitted
    now.series_rows += 1
