"""Compiled projection of loads over the window, kept up to date by events.

A request with forecast length o, admitted at x, is forecast to leave at iteration x + o. Events
(admission, refresh, completion, the forecast running out) cost O(1) each, so that projecting costs
O(G H) however many requests are active. Forecasts that change with age are renewed as a whole,
see renewal_kernels.py; for the passes over all residents that takes, the roster holds the
residents of every worker side by side.

Parts of the state that a run does not need are None. They are handed to kernels as arguments, for
what follows ``if part is None`` is then left out when the kernel is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import kernel
from olprouting.engine.renewal_kernels import renew_by_age, withdraw
from olprouting.engine.state import FAR, FRESH, GONE, IN_WINDOW, OVERDUE, SPREAD
from olprouting.forecasts.live_kernels import note_admission, note_completion

if TYPE_CHECKING:
    from olprouting.engine.state import ByAge, Lookahead, Settings, State


@kernel
def welcome(state: State, lookahead: Lookahead | None, request: int) -> None:
    """Count an admitted request; until the next refresh it outlasts the window."""
    if lookahead is None:
        return
    now = state.now[0]
    admitted = state.requests[request]
    worker = state.workers[admitted.worker]
    sit_down(state, lookahead.by_age, request)
    admitted.standing = FRESH
    worker.lasting_base += admitted.prompt - admitted.admission
    worker.lasting_count += 1
    lookahead.fresh[now.fresh] = request
    now.fresh += 1


@kernel
def see_off(settings: Settings, state: State, lookahead: Lookahead | None, request: int) -> None:
    """Take a completed request out of the projection, and learn from it."""
    if lookahead is None:
        return
    forget(settings, state, lookahead, request)
    stand_up(state, lookahead.by_age, request)


@kernel
def forget(settings: Settings, state: State, lookahead: Lookahead, request: int) -> None:
    """Take a request out of the projection."""
    resident = state.requests[request]
    standing = resident.standing
    resident.standing = GONE
    if standing == SPREAD:
        withdraw(settings, state, lookahead, lookahead.by_age, request)
        return
    g = resident.worker
    base = resident.prompt - resident.admission
    if standing != OVERDUE:
        state.workers[g].lasting_base -= base
        state.workers[g].lasting_count -= 1
    if standing == IN_WINDOW:
        slot = (resident.admission + resident.forecast) % lookahead.leaving_base.shape[1]
        lookahead.leaving_base[g, slot] -= base
        lookahead.leaving_count[g, slot] -= 1


@kernel
def forget_all(state: State, lookahead: Lookahead | None) -> None:
    """Start over after iterations in which nothing was active."""
    if lookahead is None:
        return
    now = state.now[0]
    for bucket in range(len(lookahead.leave_head)):
        lookahead.leave_head[bucket] = -1
    now.fresh = 0
    now.refreshed = -(2**60)
    now.window_end = now.iteration - 1


@kernel
def update_forecast(settings: Settings, state: State, lookahead: Lookahead | None) -> None:
    """Make the projection that of the current iteration; renew the forecast when it is due."""
    if lookahead is None:
        return
    now = state.now[0]
    expire(settings, state, lookahead)
    if now.iteration - now.refreshed >= settings.refresh_iterations:
        now.refreshed = now.iteration
        renew(settings, state, lookahead, lookahead.by_age)
        now.window_end = now.iteration + settings.horizon
        now.fresh = 0


@kernel
def renew(settings: Settings, state: State, lookahead: Lookahead, by_age: ByAge | None) -> None:
    """Forecast what is fresh and what comes into the window; or all residents, by age."""
    if by_age is None:
        renew_by_length(settings, state, lookahead)
    else:
        renew_by_age(settings, state, lookahead, by_age)


@kernel
def renew_by_length(settings: Settings, state: State, lookahead: Lookahead) -> None:
    """Move the window on to end H iterations from now, and file the fresh requests."""
    now = state.now[0]
    end = now.iteration + settings.horizon
    for iteration in range(now.window_end + 1, end + 1):
        request = lookahead.leave_head[iteration % len(lookahead.leave_head)]
        while request >= 0:
            if state.requests[request].standing == FAR:
                enter_window(state, lookahead, request, iteration)
            request = state.requests[request].leave_next
    for index in range(now.fresh):
        request = lookahead.fresh[index]
        if state.requests[request].standing == FRESH:
            file_forecast(settings, state, lookahead, request)


@kernel
def expire(settings: Settings, state: State, lookahead: Lookahead) -> None:
    """Turn requests that outlived their forecast into overdue ones."""
    now = state.now[0]
    bucket = now.iteration % len(lookahead.leave_head)
    slot = now.iteration % lookahead.leaving_base.shape[1]
    request = lookahead.leave_head[bucket]
    while request >= 0:
        if state.requests[request].standing == IN_WINDOW:
            forget(settings, state, lookahead, request)
            state.requests[request].standing = OVERDUE
        request = state.requests[request].leave_next
    lookahead.leave_head[bucket] = -1
    for g in range(len(state.workers)):  # what is left is of loads that are spread
        state.workers[g].lasting_base -= lookahead.leaving_base[g, slot]
        state.workers[g].lasting_count -= lookahead.leaving_count[g, slot]
        lookahead.leaving_base[g, slot] = 0
        lookahead.leaving_count[g, slot] = 0


@kernel
def file_forecast(settings: Settings, state: State, lookahead: Lookahead, request: int) -> None:
    """Note when a fresh request is forecast to leave."""
    now = state.now[0]
    resident = state.requests[request]
    leaves = resident.admission + resident.forecast
    if leaves <= now.iteration:
        forget(settings, state, lookahead, request)
        resident.standing = OVERDUE
        return
    bucket = leaves % len(lookahead.leave_head)
    resident.leave_next = lookahead.leave_head[bucket]
    lookahead.leave_head[bucket] = request
    if leaves <= now.iteration + settings.horizon:
        enter_window(state, lookahead, request, leaves)
    else:
        resident.standing = FAR


@kernel
def enter_window(state: State, lookahead: Lookahead, request: int, leaves: int) -> None:
    """Count a request among those that leave within the window."""
    resident = state.requests[request]
    slot = leaves % lookahead.leaving_base.shape[1]
    lookahead.leaving_base[resident.worker, slot] += resident.prompt - resident.admission
    lookahead.leaving_count[resident.worker, slot] += 1
    resident.standing = IN_WINDOW


@kernel
def project(state: State, lookahead: Lookahead | None, width: int) -> None:
    """Write A[g,h], h = 0..width-1, to `projected` as a flat (G, width) array."""
    projected, workers = state.projected, state.workers
    for g in range(len(workers)):
        projected[g * width] = workers[g].load
    if lookahead is None:
        return
    iteration = state.now[0].iteration
    leaving_base, leaving_count = lookahead.leaving_base, lookahead.leaving_count
    window = leaving_base.shape[1]
    for g in range(len(workers)):
        base = workers[g].lasting_base
        count = workers[g].lasting_count
        slot = iteration % window
        for h in range(1, width):
            slot = slot + 1 if slot + 1 < window else 0
            base -= leaving_base[g, slot]
            count -= leaving_count[g, slot]
            projected[g * width + h] = base + (iteration + h) * count


@kernel
def sit_down(state: State, by_age: ByAge | None, request: int) -> None:
    """Forecast an admitted request, and give it the next seat of its worker, which counts it."""
    if by_age is None:
        return
    note_admission(by_age.live, request)
    resident = state.requests[request]
    g = resident.worker
    seat = state.workers[g].active - 1
    resident.seat = seat
    by_age.roster_request[g, seat] = request
    by_age.roster_own[g, seat] = by_age.live.own[request]
    by_age.roster_base[g, seat] = resident.prompt - resident.admission
    by_age.roster_began[g, seat] = resident.began


@kernel
def stand_up(state: State, by_age: ByAge | None, request: int) -> None:
    """Note a completion; the last of its worker, which no longer counts it, takes its seat."""
    if by_age is None:
        return
    note_completion(by_age.live, request)
    resident = state.requests[request]
    g, seat = resident.worker, resident.seat
    last = state.workers[g].active
    other = by_age.roster_request[g, last]
    state.requests[other].seat = seat
    by_age.roster_request[g, seat] = other
    by_age.roster_own[g, seat] = by_age.roster_own[g, last]
    by_age.roster_base[g, seat] = by_age.roster_base[g, last]
    by_age.roster_began[g, seat] = by_age.roster_began[g, last]
