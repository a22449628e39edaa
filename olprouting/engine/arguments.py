"""Checks that the arguments of a run fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.engine.state import BACKLOG, BY_ITERATION, BY_TIME, IN_FLIGHT
from olprouting.errors import InputError, member_named, shown
from olprouting.forecasts import LengthForecast
from olprouting.options import Clock, Dispatch, KvMode, Projection
from olprouting.parameters import MAX_WHOLE
from olprouting.policies.policy import CompiledPolicy

if TYPE_CHECKING:
    from olprouting.forecasts import Forecast
    from olprouting.instances import Cluster, Trace
    from olprouting.options import KvOptions
    from olprouting.policies.policy import Policy


def parse_clock(clock: Clock | str) -> Clock:
    """Return the clock of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    return member_named(Clock, "clock", clock)


def release_mode(trace: Trace, backlog: int | None, in_flight: int | None) -> int:
    """Return what releases the requests: BACKLOG, IN_FLIGHT, BY_ITERATION or BY_TIME.

    Raises
    ------
    InputError
        If nothing does, or two do, or their number is none of requests.
    """
    if in_flight is not None:
        if backlog is not None:
            raise InputError(
                f"in_flight = {in_flight} and backlog = {backlog}: requests are released by one"
            )
        check_numbers(in_flight=(in_flight, 1, " requests"))
        return IN_FLIGHT
    if backlog is not None:
        if backlog < 1:
            raise InputError(f"backlog = {backlog} must be >= 1 waiting request")
        check_numbers(backlog=(backlog, 1, " waiting requests"))
        return BACKLOG
    if trace.release_iteration is not None:
        return BY_ITERATION
    if trace.arrival_s is not None:
        return BY_TIME
    raise InputError(
        f"{trace.name} has no arrival times: choose an arrival process, for example poisson at "
        "5/s, a closed loop, or a backlog of waiting requests"
    )


def check_numbers(**least: tuple[int | None, int, str]) -> None:
    """Refuse arguments below their least value or beyond int64; each is (value, least, unit)."""
    for name, (value, at_least, unit) in least.items():
        if value is not None and value < at_least:
            raise InputError(f"{name} = {value} must be >= {at_least}{unit}")
        if value is not None and value > MAX_WHOLE:
            raise InputError(f"{name} = {shown(value)} must be at most {MAX_WHOLE}{unit}")


def check_policy(
    cluster: Cluster,
    policy: Policy,
    horizon: int,
    refresh: str,
    signal_delay: int,
    dispatch: Dispatch = Dispatch.CENTRAL,
) -> None:
    """Refuse what a policy cannot do."""
    if refresh not in ("iteration", "horizon"):
        raise InputError(f"refresh = {refresh!r} must be 'iteration' or 'horizon'")
    if signal_delay and horizon:
        raise InputError(
            f"signal_delay = {signal_delay} needs a policy without lookahead; "
            f"{policy.name} projects {horizon} iterations ahead"
        )
    if cluster.kv_tokens is None:
        if isinstance(policy, CompiledPolicy) and policy.needs_kv_limits:
            raise InputError(
                f"{policy.name} weighs the share of KV tokens in use, but workers have no limit; "
                "give kv_tokens (--kv-tokens)"
            )
        return
    if not policy.respects_kv and dispatch is Dispatch.CENTRAL:
        raise InputError(
            f"kv_tokens: {policy.name} weighs loads and cannot respect KV limits; take an FCFS "
            "policy, one of your own, or a cluster without limits"
        )
    if horizon:
        raise InputError(
            f"kv_tokens: loads are not projected under KV limits, {policy.name} is to see "
            f"{horizon} iterations ahead; plan with view.workers (needs_residents) instead"
        )


def check_dispatch(policy: Policy, backlog: int | None) -> None:
    """Refuse what makes no sense where every request is sent to a worker on arrival."""
    if backlog is not None:
        raise InputError(
            f"dispatch 'arrival': a backlog (here of {backlog}) waits at the router until "
            "slots are free; take arrivals closed:C (in_flight in Python), poisson:RATE or recorded"
        )
    if not policy.maximal:
        raise InputError(
            f"dispatch 'arrival': {policy.name} holds requests back, but on arrival each is "
            "sent to a worker at once; take least-imbalance or another maximal policy"
        )
    if isinstance(policy, CompiledPolicy) and policy.parameters.balance is not None:
        raise InputError(
            f"dispatch 'arrival': {policy.name} chooses among waiting requests for free slots, and "
            "on arrival there are neither; take least-imbalance, which weighs the same loads"
        )


def projects_by_expectation(projection: Projection | str) -> bool:
    """Return whether this is the projection by expectation.

    Raises
    ------
    InputError
        If there is no such projection.
    """
    return member_named(Projection, "projection", projection) is Projection.EXPECTED


def check_forecast(forecast: Forecast, policy: Policy, kv: KvOptions) -> None:
    """Refuse a forecast without lengths where lengths are needed."""
    if isinstance(forecast, LengthForecast):
        return
    remedy = "take oracle or noisy:SPREAD"
    if policy.needs_residents:
        raise InputError(
            f"forecast {forecast.name}: {policy.name} plans with a decode length of every request, "
            f"this forecast has none; {remedy}"
        )
    if kv.mode is KvMode.RESERVE and kv.max_output_tokens is None:
        raise InputError(
            f"forecast {forecast.name}: KV mode 'reserve' sets aside the forecast decode length, "
            f"this forecast has none; {remedy}, or give max_output_tokens"
        )


def check_clock(
    clock: Clock,
    cluster: Cluster,
    policy: Policy,
    horizon: int,
    signal_delay: int,
    periods: int | None,
) -> None:
    """Refuse what only makes sense where all workers step together."""
    if clock is Clock.BARRIER:
        return
    if horizon:
        raise InputError(
            f"clock 'independent': {policy.name} projects {horizon} iterations ahead, but workers "
            "share no iterations; take horizon 0 or the barrier clock"
        )
    if signal_delay:
        raise InputError(f"signal_delay = {signal_delay} iterations needs the barrier clock")
    if periods is not None:
        raise InputError(f"periods = {periods} needs the barrier clock, in which all share them")
    if cluster.step_time.shared_per_token_s:
        raise InputError(
            f"shared_per_token_s = {cluster.step_time.shared_per_token_s} is time that workers "
            "spend together; with clock 'independent' it must be 0"
        )
