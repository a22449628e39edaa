"""Compiled projection from forecasts that change with age: every resident is forecast anew.

By cutoff a resident counts until its forecast c is over, like one of known length. By expectation
it counts at every offset by the probability that it is still active; its part of a load is then
spread over the window.

These passes over all residents are what a lookahead rule spends its time on. They read the roster
and bare arrays only: compiled code would count references to each array of a tuple at every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import compiled, inlined
from olprouting.engine.state import BY_EXPECTATION, FAR, IN_WINDOW, SPREAD
from olprouting.forecasts.curve_kernels import cutoff_of, expected_remaining, speaking
from olprouting.forecasts.live_kernels import learn, outlast_probability

if TYPE_CHECKING:
    from olprouting.compiling import Floats
    from olprouting.engine.state import Rules, State


@inlined
def renew_forecast(rules: Rules, state: State) -> None:
    """Learn what completed, and forecast all residents."""
    now = state.now[0]
    if len(state.live.curves.running) > 0:
        note_running(rules, state)
    learn(state.live)
    state.leave_head[:] = -1
    state.leaving_base[:] = 0
    state.leaving_count[:] = 0
    now.fresh = 0
    now.refreshed = now.iteration
    now.window_end = now.iteration + rules.horizon
    if rules.projection == BY_EXPECTATION:
        spread_all(rules, state)
    else:
        cut_all(rules, state)


@inlined
def note_running(rules: Rules, state: State) -> None:
    """Count the requests that run by age."""
    running, began = state.live.curves.running, state.roster_began
    running[:] = 0
    for g in range(len(state.workers)):
        first_token = state.workers[g].own_iteration - rules.prefill_steps
        for seat in range(state.workers[g].active):
            running[max(first_token - began[g, seat], 0)] += 1


@compiled
def cut_all(rules: Rules, state: State) -> None:
    """Count every resident until its forecast is over."""
    workers, by_steps = state.workers, state.live.by_steps
    request_of, own_of = state.roster_request, state.roster_own
    base_of, began = state.roster_base, state.roster_began
    curves, step_cutoff = state.live.curves, state.live.steps.cutoff
    first, beyond, reach = curves.first, curves.beyond, curves.reach
    bucket_of_age = state.live.steps.trees.bucket_of_age
    leaving_base, leaving_count = state.leaving_base, state.leaving_count
    window = leaving_base.shape[1]
    this_slot = state.now[0].iteration % window
    horizon, prefill_steps, refresh = rules.horizon, rules.prefill_steps, rules.refresh_iterations
    for g in range(len(workers)):
        first_token = workers[g].own_iteration - prefill_steps
        bases = 0
        for seat in range(workers[g].active):
            base = base_of[g, seat]
            bases += base
            own, age = own_of[g, seat], first_token - began[g, seat]
            prefill, age = max(-age, 0), max(age, 0)
            if by_steps:
                bucket = bucket_of_age[min(age, len(bucket_of_age) - 1)]
                cutoff = prefill + step_cutoff[own, bucket]
            else:
                k = speaking(first, beyond, own)
                start, last, left = first[k], first[k + 1] - 1, horizon - prefill
                c = expected_remaining(beyond, reach, start, last, age, left)
                cutoff = prefill + cutoff_of(c, left)
            if cutoff <= horizon:
                slot = this_slot + cutoff  # a division would take longer
                slot -= window if slot >= window else 0
                leaving_base[g, slot] += base
                leaving_count[g, slot] += 1
            if refresh > 1:
                file_cutoff(rules, state, request_of[g, seat], cutoff)
        workers[g].lasting_base = bases
        workers[g].lasting_count = workers[g].active


@inlined
def file_cutoff(rules: Rules, state: State, request: int, cutoff: int) -> None:
    """Note where a resident stands until the next renewal."""
    resident = state.requests[request]
    leaves = state.now[0].iteration + cutoff
    resident.forecast = leaves - resident.admission
    resident.standing = FAR
    if cutoff <= rules.horizon:
        resident.standing = IN_WINDOW
        bucket = leaves % len(state.leave_head)
        resident.leave_next = state.leave_head[bucket]
        state.leave_head[bucket] = request


@compiled
def spread_all(rules: Rules, state: State) -> None:
    """Spread every resident over the window."""
    workers, by_steps = state.workers, state.live.by_steps
    request_of, own_of = state.roster_request, state.roster_own
    base_of, began = state.roster_base, state.roster_began
    first, beyond = state.live.curves.first, state.live.curves.beyond
    bucket_of_age = state.live.steps.trees.bucket_of_age
    soon, until = state.live.steps.finish_probability, state.live.steps.finisher_remaining
    base_sum, count_sum = state.spread_base, state.spread_count
    horizon, window, refresh = rules.horizon, state.leaving_base.shape[1], rules.refresh_iterations
    for g in range(len(workers)):
        first_token = workers[g].own_iteration - rules.prefill_steps
        base_sum[:] = 0
        count_sum[:] = 0
        for seat in range(workers[g].active):
            base, age = float(base_of[g, seat]), first_token - began[g, seat]
            prefill, age = min(max(-age, 0), horizon), max(age, 0)
            base_sum[: prefill + 1] += base
            count_sum[: prefill + 1] += 1
            bases, counts = base_sum[prefill + 1 :], count_sum[prefill + 1 :]
            own = own_of[g, seat]
            if by_steps:
                bucket = bucket_of_age[min(age, len(bucket_of_age) - 1)]
                add_step(soon[own, bucket], until[own, bucket], base, bases, counts)
            else:
                k = speaking(first, beyond, own)
                add_law(beyond, first[k] + age, first[k + 1] - 1, base, bases, counts)
            if refresh > 1:
                state.requests[request_of[g, seat]].standing = SPREAD
        workers[g].lasting_base = base_sum[0]
        workers[g].lasting_count = count_sum[0]
        for offset in range(1, horizon + 1):
            slot = (state.now[0].iteration + offset) % window
            state.leaving_base[g, slot] = base_sum[offset - 1] - base_sum[offset]
            state.leaving_count[g, slot] = count_sum[offset - 1] - count_sum[offset]


@inlined
def add_law(
    beyond: Floats, start: int, last: int, base: float, bases: Floats, counts: Floats
) -> None:
    """Add a resident's presence by its curve at offsets 1, 2, ... to `bases` and `counts`.

    N of its age stands at `start`. Beyond all history it stays.
    """
    known = start <= last and beyond[start] > 0
    scale = 1 / beyond[start] if known else 0.0
    tail = scale * beyond[last] if known else 1.0
    listed = min(len(bases), last - start) if known else 0
    law = beyond[start + 1 : start + 1 + listed]
    for offset in range(listed):
        bases[offset] += base * scale * law[offset]
        counts[offset] += scale * law[offset]
    for offset in range(listed, len(bases)):
        bases[offset] += base * tail
        counts[offset] += tail


@inlined
def add_step(soon: float, until: float, base: float, bases: Floats, counts: Floats) -> None:
    """Add a resident's presence at offsets 1, 2, ...: in full below mu, then by P(r > H)."""
    for index in range(len(bases)):
        part = 1.0 if index + 1 < until else 1 - soon
        bases[index] += base * part
        counts[index] += part


@inlined
def withdraw(rules: Rules, state: State, request: int) -> None:
    """Take out what is left in the window of the spread load of a request that completed."""
    now, live = state.now[0], state.live
    resident = state.requests[request]
    g, own = resident.worker, live.own[request]
    base = resident.prompt - resident.admission
    passed = now.iteration - now.refreshed
    age = state.workers[g].own_iteration - passed - resident.began - rules.prefill_steps
    prefill, age = max(-age, 0), max(age, 0)
    offset = max(passed, prefill)
    outlasts = outlast_probability(live, own, age, offset - prefill)
    state.workers[g].lasting_base -= outlasts * base
    state.workers[g].lasting_count -= outlasts
    for later in range(offset + 1, rules.horizon + 1):
        following = outlast_probability(live, own, age, later - prefill)
        slot = (now.refreshed + later) % state.leaving_base.shape[1]
        state.leaving_base[g, slot] -= (outlasts - following) * base
        state.leaving_count[g, slot] -= outlasts - following
        outlasts = following
