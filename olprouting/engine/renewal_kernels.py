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
    from olprouting.compiling import Floats, Ints
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
    workers, live = state.workers, state.live
    this_slot = state.now[0].iteration % state.leaving_base.shape[1]
    for g in range(len(workers)):
        active, first_token = workers[g].active, workers[g].own_iteration - rules.prefill_steps
        own, began, cutoff = state.roster_own[g], state.roster_began[g], state.roster_cutoff[g]
        if live.by_steps:
            steps = live.steps
            cut_by_steps(
                own, began, active, first_token, steps.trees.bucket_of_age, steps.cutoff, cutoff
            )
        else:
            curves = live.curves
            cut_by_curves(
                own,
                began,
                active,
                first_token,
                rules.horizon,
                curves.first,
                curves.beyond,
                curves.reach,
                cutoff,
            )
        workers[g].lasting_base = add_leaving(
            state.roster_base[g],
            active,
            cutoff,
            this_slot,
            rules.horizon,
            state.leaving_base[g],
            state.leaving_count[g],
        )
        workers[g].lasting_count = active
        if rules.refresh_iterations > 1:
            for seat in range(active):
                file_cutoff(rules, state, state.roster_request[g, seat], cutoff[seat])


@compiled
def cut_by_curves(
    own: Ints,
    began: Ints,
    active: int,
    first_token: int,
    horizon: int,
    first: Ints,
    beyond: Floats,
    reach: Floats,
    cutoff: Ints,
) -> None:
    """Fill `cutoff` for the residents of a worker."""
    for seat in range(active):
        age = first_token - began[seat]
        prefill = 0  # iterations before the first token
        if age < 0:
            prefill, age = -age, 0
        k = speaking(first, beyond, own[seat])
        left = horizon - prefill
        c = expected_remaining(beyond, reach, first[k], first[k + 1] - 1, age, left)
        cutoff[seat] = prefill + cutoff_of(c, left)


@compiled
def cut_by_steps(
    own: Ints,
    began: Ints,
    active: int,
    first_token: int,
    bucket_of_age: Ints,
    step_cutoff: Ints,
    cutoff: Ints,
) -> None:
    """Fill `cutoff` for the residents of a worker."""
    for seat in range(active):
        age = first_token - began[seat]
        bucket = bucket_of_age[min(max(age, 0), len(bucket_of_age) - 1)]
        cutoff[seat] = step_cutoff[own[seat], bucket] + max(-age, 0)


@compiled
def add_leaving(
    base: Ints,
    active: int,
    cutoff: Ints,
    this_slot: int,
    horizon: int,
    leaving_base: Floats,
    leaving_count: Floats,
) -> int:
    """Add the residents of a worker that leave within the window; return the sum of all bases."""
    window, bases = len(leaving_base), 0
    for seat in range(active):
        bases += base[seat]
        if cutoff[seat] <= horizon:
            slot = this_slot + cutoff[seat]
            if slot >= window:  # a division would take longer
                slot -= window
            leaving_base[slot] += base[seat]
            leaving_count[slot] += 1
    return bases


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
