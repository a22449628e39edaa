"""Compiled forecasts of a run that learn from its completions.

What completes is noted and learnt at the next renewal, so that between two renewals the forecast
of a request depends on its age alone.
"""

from __future__ import annotations

from typing import NamedTuple

from olprouting.compiling import Ints, compiled, inlined
from olprouting.forecasts.curve_kernels import Curves, add_length, beyond_age, speaking, tabulate
from olprouting.forecasts.learned.recent_kernels import note_completion as note_recent
from olprouting.forecasts.learned.step_kernels import AgeSteps, give_row_back, take_row
from olprouting.forecasts.learned.tree_kernels import bucket_of


class LiveForecast(NamedTuple):
    """What a run knows of the lengths of its requests.

    Attributes
    ----------
    by_steps
        Whether forecasts are `steps` of trees rather than from `curves`.
    curves
        Survival curves, learning from the run; empty where none are used.
    steps
        Forecasts from trees; empty where none are used.
    own
        Shape (N,): the curve of each request, 0 for that of all, -1 for none of its own; or the
        row of each active request in `steps`.
    prompt_tokens, decode_tokens
        Sizes of all requests, shape (N,), read when they complete.
    unlearnt
        Requests that completed since the last renewal, shape (N,), and how many, shape (1,).
    """

    by_steps: bool
    curves: Curves
    steps: AgeSteps
    own: Ints
    prompt_tokens: Ints
    decode_tokens: Ints
    unlearnt: Ints
    unlearnt_count: Ints


@inlined
def note_admission(live: LiveForecast, request: int) -> None:
    """Forecast an admitted request, where that is done once for all its ages."""
    if live.by_steps:
        live.own[request] = take_row(live.steps, live.prompt_tokens[request])


@inlined
def note_completion(live: LiveForecast, request: int) -> None:
    """Remember a completed request for the next renewal."""
    live.unlearnt[live.unlearnt_count[0]] = request
    live.unlearnt_count[0] += 1
    if live.by_steps:
        give_row_back(live.steps, live.own[request])


@compiled
def learn(live: LiveForecast) -> None:
    """Renew the forecast by what completed since the last time, and by who runs."""
    curves = live.curves
    counted = len(curves.running) > 0
    for index in range(live.unlearnt_count[0]):
        request = live.unlearnt[index]
        length = live.decode_tokens[request]
        if live.by_steps:
            note_recent(live.steps.recent, live.prompt_tokens[request], length)
        elif counted:
            curves.completed[curves.first[0] + length] += 1
        else:
            add_length(curves, 0, length)
            if live.own[request] > 0:
                add_length(curves, live.own[request], length)
    if counted:
        tabulate(curves, 0)
    live.unlearnt_count[0] = 0


@inlined
def outlast_probability(live: LiveForecast, own: int, age: int, offset: int) -> float:
    """Return the probability that a request of this curve or row is active `offset` later.

    Trees know P(r <= H) and the mean mu of r then: it counts as active up to mu.
    """
    if live.by_steps:
        bucket = bucket_of(live.steps.trees, age)
        soon = live.steps.finish_probability[own, bucket]
        return 1.0 if offset < live.steps.finisher_remaining[own, bucket] else 1 - soon
    curves = live.curves
    k = speaking(curves.first, curves.beyond, own)
    start, last = curves.first[k], curves.first[k + 1] - 1
    here = beyond_age(curves.beyond, start, last, age)
    return beyond_age(curves.beyond, start, last, age + offset) / here if here > 0 else 1.0
