"""Compiled forecasts of a run that learn from its completions.

What completes is noted and learnt at the next renewal, so that between two renewals the forecast
of a request depends on its age alone.
"""

from __future__ import annotations

from typing import NamedTuple

from olprouting.compiling import Ints, compiled, inlined
from olprouting.forecasts.curve_kernels import Curves, add_length, tabulate


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


@compiled
def learn(live: LiveForecast) -> None:
    """Renew the curves by what completed since the last time, and by who runs."""
    curves = live.curves
    counted = len(curves.running) > 0
    for index in range(live.unlearnt_count[0]):
        request = live.unlearnt[index]
        length = live.decode_tokens[request]
        if counted:
            curves.completed[curves.first[0] + length] += 1
        else:
            add_length(curves, 0, length)
        if live.curve[request] > 0:
            add_length(curves, live.curve[request], length)
    if counted:
        tabulate(curves, 0)
    live.unlearnt_count[0] = 0
