"""Compiled projection from forecasts that change with age: every resident is forecast anew.

By cutoff a resident counts until its forecast c is over, like one of known length. By expectation
it counts at every offset by the probability that it is still active; its part of a load is then
spread over the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import compiled, inlined
from olprouting.engine.state import BY_EXPECTATION, FAR, IN_WINDOW, SPREAD
from olprouting.forecasts.live_kernels import (
    forecast_cutoff,
    forecast_outlast,
    forget_running,
    learn,
    note_running,
)

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State


@compiled
def renew_forecast(rules: Rules, state: State) -> None:
    """Learn what completed, and forecast all residents."""
    now = state.now[0]
    learn_of_run(rules, state)
    state.leave_head[:] = -1
    state.leaving_base[:] = 0
    state.leaving_count[:] = 0
    now.fresh = 0
    now.refreshed = now.iteration
    now.window_end = now.iteration + rules.horizon
    for g in range(len(state.workers)):
        state.workers[g].lasting_base = 0
        state.workers[g].lasting_count = 0
        request = state.workers[g].newest
        while request >= 0:
            if rules.projection == BY_EXPECTATION:
                spread(rules, state, request, 1.0)
                state.requests[request].standing = SPREAD
            else:
                cut(rules, state, request)
            request = state.requests[request].older


@inlined
def learn_of_run(rules: Rules, state: State) -> None:
    """Let the forecast learn from the requests that completed, and from those that run."""
    forget_running(state.live)
    if len(state.live.curves.running) > 0:
        for g in range(len(state.workers)):
            request = state.workers[g].newest
            while request >= 0:
                steps = state.workers[g].own_iteration - state.requests[request].began
                note_running(state.live, max(steps - rules.prefill_steps, 0))
                request = state.requests[request].older
    learn(state.live)


@inlined
def cut(rules: Rules, state: State, request: int) -> None:
    """Count a resident until its forecast is over."""
    now = state.now[0]
    resident = state.requests[request]
    worker = state.workers[resident.worker]
    base = resident.prompt - resident.admission
    worker.lasting_base += base
    worker.lasting_count += 1
    steps = worker.own_iteration - resident.began
    prefill = max(rules.prefill_steps - steps, 0)
    age = max(steps - rules.prefill_steps, 0)
    cutoff = prefill + forecast_cutoff(state.live, request, age, rules.horizon - prefill)
    leaves = now.iteration + cutoff
    resident.forecast = leaves - resident.admission
    resident.standing = FAR
    if cutoff <= rules.horizon:
        resident.standing = IN_WINDOW
        slot = leaves % state.leaving_base.shape[1]
        state.leaving_base[resident.worker, slot] += base
        state.leaving_count[resident.worker, slot] += 1
        bucket = leaves % len(state.leave_head)
        resident.leave_next = state.leave_head[bucket]
        state.leave_head[bucket] = request


@inlined
def spread(rules: Rules, state: State, request: int, weight: float) -> None:
    """Add (weight 1) or take out (-1) what is left in the window of a resident's spread load."""
    now = state.now[0]
    resident = state.requests[request]
    g = resident.worker
    worker = state.workers[g]
    base = weight * (resident.prompt - resident.admission)
    passed = now.iteration - now.refreshed
    steps = worker.own_iteration - passed - resident.began
    prefill = max(rules.prefill_steps - steps, 0)
    age = max(steps - rules.prefill_steps, 0)
    outlasts = forecast_outlast(state.live, request, age, max(passed - prefill, 0))
    worker.lasting_base += outlasts * base
    worker.lasting_count += outlasts * weight
    window = state.leaving_base.shape[1]
    for offset in range(max(passed, prefill) + 1, rules.horizon + 1):
        following = forecast_outlast(state.live, request, age, offset - prefill)
        slot = (now.refreshed + offset) % window
        state.leaving_base[g, slot] += (outlasts - following) * base
        state.leaving_count[g, slot] += (outlasts - following) * weight
        outlasts = following
