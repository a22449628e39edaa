"""Compiled projection of loads over the window, kept up to date by events.

A request with forecast length o, admitted at x, is forecast to leave at iteration x + o. Events
(admission, refresh, completion, the forecast running out) cost O(1) each, so that projecting costs
O(G H) however many requests are active. Forecasts that change with age are renewed as a whole,
see renewal_kernels.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import inlined
from olprouting.engine.renewal_kernels import renew_forecast, withdraw
from olprouting.engine.roster_kernels import sit_down, stand_up
from olprouting.engine.state import BY_LENGTH, FAR, FRESH, GONE, IN_WINDOW, OVERDUE, SPREAD
from olprouting.forecasts.live_kernels import note_admission, note_completion

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State


@inlined
def welcome(rules: Rules, state: State, request: int) -> None:
    """Count an admitted request; until the next refresh it outlasts the window."""
    now = state.now[0]
    if rules.projection != BY_LENGTH:
        note_admission(state.live, request)
        sit_down(state, request)
    g = state.requests[request].worker
    state.requests[request].standing = FRESH
    state.workers[g].lasting_base += (
        state.requests[request].prompt - state.requests[request].admission
    )
    state.workers[g].lasting_count += 1
    state.fresh[now.fresh] = request
    now.fresh += 1


@inlined
def see_off(rules: Rules, state: State, request: int) -> None:
    """Take a completed request out of the projection, and learn from it."""
    forget(rules, state, request)
    if rules.projection != BY_LENGTH:
        stand_up(state, request)
        note_completion(state.live, request)


@inlined
def forget(rules: Rules, state: State, request: int) -> None:
    """Take a request out of the projection."""
    standing = state.requests[request].standing
    state.requests[request].standing = GONE
    if standing == SPREAD:
        withdraw(rules, state, request)
        return
    g = state.requests[request].worker
    base = state.requests[request].prompt - state.requests[request].admission
    if standing != OVERDUE:
        state.workers[g].lasting_base -= base
        state.workers[g].lasting_count -= 1
    if standing == IN_WINDOW:
        slot = (
            state.requests[request].admission + state.requests[request].forecast
        ) % state.leaving_base.shape[1]
        state.leaving_base[g, slot] -= base
        state.leaving_count[g, slot] -= 1


@inlined
def forget_all(state: State) -> None:
    """Start over after iterations in which nothing was active."""
    now = state.now[0]
    state.leave_head[:] = -1
    now.fresh = 0
    now.refreshed = -(2**60)
    now.window_end = now.iteration - 1


@inlined
def update_forecast(rules: Rules, state: State) -> None:
    """Make the projection that of the current iteration; renew the forecast when it is due."""
    now = state.now[0]
    expire(rules, state)
    if now.iteration - now.refreshed < rules.refresh_iterations:
        return
    if rules.projection != BY_LENGTH:
        renew_forecast(rules, state)
        return
    now.refreshed = now.iteration
    end = now.iteration + rules.horizon
    for iteration in range(now.window_end + 1, end + 1):
        request = state.leave_head[iteration % len(state.leave_head)]
        while request >= 0:
            if state.requests[request].standing == FAR:
                enter_window(state, request, iteration)
            request = state.requests[request].leave_next
    now.window_end = end
    for index in range(now.fresh):
        request = state.fresh[index]
        if state.requests[request].standing == FRESH:
            file_forecast(rules, state, request)
    now.fresh = 0


@inlined
def expire(rules: Rules, state: State) -> None:
    """Turn requests that outlived their forecast into overdue ones."""
    now = state.now[0]
    bucket = now.iteration % len(state.leave_head)
    slot = now.iteration % state.leaving_base.shape[1]
    request = state.leave_head[bucket]
    while request >= 0:
        if state.requests[request].standing == IN_WINDOW:
            forget(rules, state, request)
            state.requests[request].standing = OVERDUE
        request = state.requests[request].leave_next
    state.leave_head[bucket] = -1
    for g in range(len(state.workers)):  # what is left is of loads that are spread
        state.workers[g].lasting_base -= state.leaving_base[g, slot]
        state.workers[g].lasting_count -= state.leaving_count[g, slot]
    state.leaving_base[:, slot] = 0
    state.leaving_count[:, slot] = 0


@inlined
def file_forecast(rules: Rules, state: State, request: int) -> None:
    """Note when a fresh request is forecast to leave."""
    now = state.now[0]
    leaves = state.requests[request].admission + state.requests[request].forecast
    if leaves <= now.iteration:
        forget(rules, state, request)
        state.requests[request].standing = OVERDUE
        return
    bucket = leaves % len(state.leave_head)
    state.requests[request].leave_next = state.leave_head[bucket]
    state.leave_head[bucket] = request
    if leaves <= now.window_end:
        enter_window(state, request, leaves)
    else:
        state.requests[request].standing = FAR


@inlined
def enter_window(state: State, request: int, leaves: int) -> None:
    """Count a request among those that leave within the window."""
    g = state.requests[request].worker
    slot = leaves % state.leaving_base.shape[1]
    state.leaving_base[g, slot] += (
        state.requests[request].prompt - state.requests[request].admission
    )
    state.leaving_count[g, slot] += 1
    state.requests[request].standing = IN_WINDOW


@inlined
def project(state: State, width: int) -> None:
    """Write A[g,h], h = 0..width-1, to `projected` as a flat (G, width) array."""
    now = state.now[0]
    window = state.leaving_base.shape[1]
    for g in range(len(state.workers)):
        row = g * width
        state.projected[row] = state.workers[g].load
        base = state.workers[g].lasting_base
        count = state.workers[g].lasting_count
        slot = now.iteration % window
        for h in range(1, width):
            slot = slot + 1 if slot + 1 < window else 0
            base -= state.leaving_base[g, slot]
            count -= state.leaving_count[g, slot]
            state.projected[row + h] = base + (now.iteration + h) * count
