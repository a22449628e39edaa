"""Compiled roster: the residents of every worker side by side, for passes over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import inlined

if TYPE_CHECKING:
    from olprouting.engine.state import State


@inlined
def sit_down(state: State, request: int) -> None:
    """Give an admitted request the next seat of its worker (which counts it already)."""
    resident = state.requests[request]
    g = resident.worker
    seat = state.workers[g].active - 1
    resident.seat = seat
    state.roster_request[g, seat] = request
    state.roster_own[g, seat] = state.live.own[request]
    state.roster_base[g, seat] = resident.prompt - resident.admission
    state.roster_began[g, seat] = resident.began


@inlined
def stand_up(state: State, request: int) -> None:
    """Let the last of its worker (which no longer counts the request) take a request's seat."""
    resident = state.requests[request]
    g, seat = resident.worker, resident.seat
    last = state.workers[g].active
    other = state.roster_request[g, last]
    state.requests[other].seat = seat
    state.roster_request[g, seat] = other
    state.roster_own[g, seat] = state.roster_own[g, last]
    state.roster_base[g, seat] = state.roster_base[g, last]
    state.roster_began[g, seat] = state.roster_began[g, last]
