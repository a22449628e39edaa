"""Arrival modes: when the requests of a trace come; each takes a trace and returns a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError, shown
from olprouting.instances._checks import positive

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.trace import Trace


LARGEST_BATCH = 2**31 - 1
"""Requests per batch are no more."""


def require_arrivals(trace: Trace) -> npt.NDArray[np.float64]:
    """Return the arrival times of a trace that must have them.

    Raises
    ------
    InputError
        If the trace has none; the message says what to choose instead.
    """
    if trace.arrival_s is None:
        raise InputError(
            f"no arrival times in {trace.name}: choose an arrival process, for example poisson at "
            "5/s with seed 1, or backlog"
        )
    return trace.arrival_s


def as_recorded(trace: Trace, speed_up: float = 1.0) -> Trace:
    """Keep the recorded arrivals, `speed_up` times as fast.

    Parameters
    ----------
    trace
        A trace with arrival times.
    speed_up
        Factor > 0 by which the rate grows: times are divided by it and stay fractional, so no
        request is lost and no two arrivals merge.

    Raises
    ------
    InputError
        If the trace has no arrival times or the factor is not finite and > 0.
    """
    arrival_s = require_arrivals(trace)
    positive("speed_up", speed_up)
    if speed_up == 1:
        return trace
    return trace.with_notice(
        f"recorded arrivals sped up {speed_up:g} times", arrival_s=arrival_s / speed_up
    )


def poisson(trace: Trace, rate_per_s: float, rng: np.random.Generator) -> Trace:
    """Replace the arrivals by a Poisson process whose first arrival is at 0.

    Parameters
    ----------
    trace
        The requests, kept in their order.
    rate_per_s
        Mean arrivals per second, > 0.
    rng
        Source of the exponential gaps; one is drawn per request after the first.
    """
    positive("rate_per_s", rate_per_s)
    gaps_s = rng.exponential(1 / rate_per_s, size=max(0, len(trace) - 1))
    arrival_s = np.concatenate([np.zeros(min(1, len(trace))), np.cumsum(gaps_s)])
    return trace.with_notice(
        f"arrivals replaced: poisson at {rate_per_s:g}/s",
        arrival_s=arrival_s,
        release_iteration=None,
    )


def poisson_by_period(
    trace: Trace,
    rate_per_period: float,
    rng: np.random.Generator,
    period_s: float | None = None,
) -> Trace:
    """Replace the arrivals of a trace by a Poisson process whose first arrival is in period 1.

    Parameters
    ----------
    trace
        The requests, kept in their order.
    rate_per_period
        Mean arrivals per period, > 0.
    rng
        Source of the exponential gaps.
    period_s
        Length of a period in seconds, for arrival times; None gives releases by period.
    """
    rate = positive("rate", rate_per_period)
    gaps = rng.exponential(1 / rate, size=max(0, len(trace) - 1))
    arrival = np.concatenate([np.zeros(min(1, len(trace))), np.cumsum(gaps)])
    notice = f"arrivals replaced: poisson at {rate_per_period:g} per period"
    if period_s is None:
        release = np.floor(arrival).astype(np.int64) + 1
        return trace.with_notice(notice, arrival_s=None, release_iteration=release)
    return trace.with_notice(notice, arrival_s=arrival * period_s, release_iteration=None)


def batches(
    trace: Trace,
    requests: int,
    *,
    every_s: float | None = None,
    every_iterations: int | None = None,
) -> Trace:
    """Replace the arrivals by equal batches at equal distances, the first at once.

    Parameters
    ----------
    trace
        The requests, kept in their order.
    requests
        Requests per batch, from 1 to `LARGEST_BATCH`; the last batch may be smaller.
    every_s
        Seconds between batches, > 0; or
    every_iterations
        iterations between batches, >= 1. Exactly one of the two must be given.
    """
    if not 1 <= requests <= LARGEST_BATCH:
        raise InputError(
            f"requests = {shown(requests)} per batch must be >= 1 and <= {LARGEST_BATCH}"
        )
    batch = np.arange(len(trace)) // requests
    if every_s is not None and every_iterations is None:
        positive("every_s", every_s)
        return trace.with_notice(
            f"arrivals replaced: batches of {requests} every {every_s:g} s",
            arrival_s=batch * float(every_s),
            release_iteration=None,
        )
    if every_iterations is not None and every_s is None:
        positive("every_iterations", every_iterations)
        return trace.with_notice(
            f"arrivals replaced: batches of {requests} every {every_iterations} iterations",
            arrival_s=None,
            release_iteration=1 + batch * every_iterations,
        )
    raise InputError("batches need exactly one of every_s and every_iterations")


def spread_batches(trace: Trace, rng: np.random.Generator) -> Trace:
    """Spread requests that share an arrival time over the time until the next one.

    For traces recorded in batches (Mooncake: every 3 s). Each request of a batch moves to a uniform
    time in [its own time, the next distinct time); the last batch takes the gap before it. Single
    arrivals stay. Order across batches is kept.

    Parameters
    ----------
    trace
        A trace with arrival times.
    rng
        Source of the uniform draws, one per request.

    Raises
    ------
    InputError
        If the trace has no arrival times.
    """
    arrival_s = require_arrivals(trace)
    moments, batch, sizes = np.unique(arrival_s, return_inverse=True, return_counts=True)
    gaps_s = np.diff(moments, append=2 * moments[-1:] - moments[-2:-1])
    shares = np.sort(batch + rng.random(len(arrival_s))) - batch
    shared = sizes[batch] > 1
    if len(moments) < 2 or not shared.any():
        return trace
    return trace.with_notice(
        f"{int(shared.sum())} requests that shared {int((sizes > 1).sum())} arrival times spread "
        "until the next arrival",
        arrival_s=np.where(shared, arrival_s + shares * gaps_s[batch], arrival_s),
    )
