"""Compiled projection from forecasts that change with age: every resident is forecast anew.

By cutoff a resident counts until its forecast c is over, like one of known length. By expectation
it counts at every offset by the probability that it is still active; its part of a load is then
spread over the window.

These passes over all residents are what a lookahead policy spends its time on. They read the roster
and bare arrays only: compiled code would count references to each array of a tuple at every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import kernel
from olprouting.engine.state import FAR, IN_WINDOW, SPREAD
from olprouting.forecasts.curve_kernels import cutoff_of, expected_remaining, speaking
from olprouting.forecasts.live_kernels import learn, outlast_probability

if TYPE_CHECKING:
    from olprouting.compiling import Floats, Ints
    from olprouting.engine.state import ByAge, Lookahead, Settings, State
    from olprouting.forecasts.curve_kernels import Curves
    from olprouting.forecasts.learned.step_kernels import AgeSteps


@kernel
def renew_by_age(settings: Settings, state: State, lookahead: Lookahead, by_age: ByAge) -> None:
    """Learn what completed, and forecast all residents."""
    note_running(settings, state, by_age, by_age.live.curves)
    learn(by_age.live)
    for bucket in range(len(lookahead.leave_head)):
        lookahead.leave_head[bucket] = -1
    for g in range(len(state.workers)):
        for slot in range(lookahead.leaving_base.shape[1]):
            lookahead.leaving_base[g, slot] = 0
            lookahead.leaving_count[g, slot] = 0
    if settings.by_expectation:
        spread_all(settings, state, lookahead, by_age)
    else:
        cut_all(settings, state, lookahead, by_age)


@kernel
def note_running(settings: Settings, state: State, by_age: ByAge, curves: Curves | None) -> None:
    """Count the requests that run by age, where curves heed them."""
    if curves is None:
        return
    running, began = curves.running, by_age.roster_began
    if len(running) == 0:
        return
    for age in range(len(running)):
        running[age] = 0
    for g in range(len(state.workers)):
        first_token = state.workers[g].own_iteration - settings.prefill_steps
        for seat in range(state.workers[g].active):
            running[max(first_token - began[g, seat], 0)] += 1


@kernel
def cut_all(settings: Settings, state: State, lookahead: Lookahead, by_age: ByAge) -> None:
    """Count every resident until its forecast is over."""
    workers, live = state.workers, by_age.live
    this_slot = state.now[0].iteration % lookahead.leaving_base.shape[1]
    for g in range(len(workers)):
        active, first_token = workers[g].active, workers[g].own_iteration - settings.prefill_steps
        own, began, cutoff = by_age.roster_own[g], by_age.roster_began[g], by_age.roster_cutoff[g]
        cut(live.curves, live.steps, own, began, active, first_token, settings.horizon, cutoff)
        workers[g].lasting_base = add_leaving(
            by_age.roster_base[g],
            active,
            cutoff,
            this_slot,
            settings.horizon,
            lookahead.leaving_base[g],
            lookahead.leaving_count[g],
        )
        workers[g].lasting_count = active
        if settings.refresh_iterations > 1:
            for seat in range(active):
                file_cutoff(
                    settings, state, lookahead, by_age.roster_request[g, seat], cutoff[seat]
                )


@kernel
def cut(
    curves: Curves | None,
    steps: AgeSteps | None,
    own: Ints,
    began: Ints,
    active: int,
    first_token: int,
    horizon: int,
    cutoff: Ints,
) -> None:
    """Fill `cutoff` for the residents of a worker, from curves or from steps."""
    if curves is not None:
        cut_by_curves(
            own,
            began,
            active,
            first_token,
            horizon,
            curves.first,
            curves.beyond,
            curves.reach,
            cutoff,
        )
    if steps is not None:
        cut_by_steps(
            own, began, active, first_token, steps.trees.bucket_of_age, steps.cutoff, cutoff
        )


@kernel
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


@kernel
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


@kernel
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


@kernel
def file_cutoff(
    settings: Settings, state: State, lookahead: Lookahead, request: int, cutoff: int
) -> None:
    """Note where a resident stands until the next renewal."""
    resident = state.requests[request]
    leaves = state.now[0].iteration + cutoff
    resident.forecast = leaves - resident.admission
    resident.standing = FAR
    if cutoff <= settings.horizon:
        resident.standing = IN_WINDOW
        bucket = leaves % len(lookahead.leave_head)
        resident.leave_next = lookahead.leave_head[bucket]
        lookahead.leave_head[bucket] = request


@kernel
def spread_all(settings: Settings, state: State, lookahead: Lookahead, by_age: ByAge) -> None:
    """Spread every resident over the window."""
    workers, base_of, began = state.workers, by_age.roster_base, by_age.roster_began
    base_sum, count_sum = by_age.spread_base, by_age.spread_count
    horizon, window = settings.horizon, lookahead.leaving_base.shape[1]
    for g in range(len(workers)):
        first_token = workers[g].own_iteration - settings.prefill_steps
        for offset in range(horizon + 1):
            base_sum[offset] = 0
            count_sum[offset] = 0
        for seat in range(workers[g].active):
            base, age = float(base_of[g, seat]), first_token - began[g, seat]
            prefill, age = min(max(-age, 0), horizon), max(age, 0)
            for offset in range(prefill + 1):
                base_sum[offset] += base
                count_sum[offset] += 1
            spread(
                by_age.live.curves,
                by_age.live.steps,
                by_age.roster_own[g, seat],
                age,
                base,
                base_sum[prefill + 1 :],
                count_sum[prefill + 1 :],
            )
            if settings.refresh_iterations > 1:
                state.requests[by_age.roster_request[g, seat]].standing = SPREAD
        workers[g].lasting_base = base_sum[0]
        workers[g].lasting_count = count_sum[0]
        for offset in range(1, horizon + 1):
            slot = (state.now[0].iteration + offset) % window
            lookahead.leaving_base[g, slot] = base_sum[offset - 1] - base_sum[offset]
            lookahead.leaving_count[g, slot] = count_sum[offset - 1] - count_sum[offset]


@kernel
def spread(
    curves: Curves | None,
    steps: AgeSteps | None,
    own: int,
    age: int,
    base: float,
    bases: Floats,
    counts: Floats,
) -> None:
    """Add a resident's presence at offsets 1, 2, ... to `bases` and `counts`."""
    if curves is not None:
        first = curves.first
        k = speaking(first, curves.beyond, own)
        add_law(curves.beyond, first[k] + age, first[k + 1] - 1, base, bases, counts)
    if steps is not None:
        buckets = steps.trees.bucket_of_age
        bucket = buckets[min(age, len(buckets) - 1)]
        soon, until = steps.finish_probability[own, bucket], steps.finisher_remaining[own, bucket]
        add_step(soon, until, base, bases, counts)


@kernel
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


@kernel
def add_step(soon: float, until: float, base: float, bases: Floats, counts: Floats) -> None:
    """Add a resident's presence at offsets 1, 2, ...: in full below mu, then by P(r > H)."""
    for index in range(len(bases)):
        part = 1.0 if index + 1 < until else 1 - soon
        bases[index] += base * part
        counts[index] += part


@kernel
def withdraw(
    settings: Settings, state: State, lookahead: Lookahead, by_age: ByAge | None, request: int
) -> None:
    """Take out what is left in the window of the spread load of a request that completed."""
    if by_age is None:
        return
    now, live = state.now[0], by_age.live
    resident = state.requests[request]
    g, own = resident.worker, live.own[request]
    base = resident.prompt - resident.admission
    passed = now.iteration - now.refreshed
    age = state.workers[g].own_iteration - passed - resident.began - settings.prefill_steps
    prefill, age = max(-age, 0), max(age, 0)
    offset = max(passed, prefill)
    outlasts = outlast_probability(live, own, age, offset - prefill)
    state.workers[g].lasting_base -= outlasts * base
    state.workers[g].lasting_count -= outlasts
    for later in range(offset + 1, settings.horizon + 1):
        following = outlast_probability(live, own, age, later - prefill)
        slot = (now.refreshed + later) % lookahead.leaving_base.shape[1]
        lookahead.leaving_base[g, slot] -= (outlasts - following) * base
        lookahead.leaving_count[g, slot] -= outlasts - following
        outlasts = following
