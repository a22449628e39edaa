"""Compiled forecasts of a run that learn from its completions.

What completes is noted and learnt at the next renewal, so that between two renewals the forecast
of a request depends on its age alone.
"""

from __future__ import annotations

from typing import NamedTuple

from olprouting.compiling import Ints, compiled, inlined
from olprouting.forecasts.curve_kernels import (
    Curves,
    cutoff_of,
    expected_remaining,
    outlast_probability,
    speaking,
    tabulate,
)


class LiveForecast(NamedTuple):
    """What a run knows of the lengths of its requests.

    Attributes
    ----------
    curves
        Survival curves, learning from the run; one of length 0 where none are used.
    curve
        The curve of each request, shape (N,): 0 is that of all, -1 one without its own.
    decode_tokens
        Their lengths, shape (N,), read when they complete.
    unlearnt
        Requests that completed since the last renewal, shape (N,), and how many, shape (1,).
    """

    curves: Curves
    curve: Ints
    decode_tokens: Ints
    unlearnt: Ints
    unlearnt_count: Ints


@inlined
def note_completion(live: LiveForecast, request: int) -> None:
    """Remember a completed request for the next renewal."""
    live.unlearnt[live.unlearnt_count[0]] = request
    live.unlearnt_count[0] += 1


@inlined
def forget_running(live: LiveForecast) -> None:
    """Begin a renewal: nobody runs."""
    live.curves.running[:] = 0


@inlined
def note_running(live: LiveForecast, age: int) -> None:
    """Count a request that runs, for curves that heed them."""
    if len(live.curves.running) > 0:
        live.curves.running[age] += 1


@compiled
def learn(live: LiveForecast) -> None:
    """Renew the curves by what completed since the last time, and by who runs."""
    curves = live.curves
    news = live.unlearnt_count[0]
    for index in range(news):
        request = live.unlearnt[index]
        length = live.decode_tokens[request]
        curves.completed[curves.first[0] + length] += 1
        k = live.curve[request]
        if k > 0:
            curves.completed[curves.first[k] + length] += 1
            tabulate(curves, k)
    if news > 0 or len(curves.running) > 0:
        tabulate(curves, 0)
    live.unlearnt_count[0] = 0


@inlined
def forecast_cutoff(live: LiveForecast, request: int, age: int, horizon: int) -> int:
    """Return the offset in [1, H + 1] from which a request of this age counts as gone."""
    k = speaking(live.curves, live.curve[request])
    return cutoff_of(expected_remaining(live.curves, k, age, horizon), horizon)


@inlined
def forecast_outlast(live: LiveForecast, request: int, age: int, offset: int) -> float:
    """Return the probability that a request of this age is still active `offset` later."""
    k = speaking(live.curves, live.curve[request])
    return outlast_probability(live.curves, k, age, offset)
