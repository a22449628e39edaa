"""Compiled forecasts of a run that learn from its completions.

What completes is noted and learnt at the next renewal, so that between two renewals the forecast
of a request depends on its age alone.
"""

from __future__ import annotations

from typing import NamedTuple

from olprouting.compiling import Ints, kernel
from olprouting.forecasts.curve_kernels import Curves, add_length, beyond_age, speaking, tabulate
from olprouting.forecasts.learned.recent_kernels import note_completion as note_recent
from olprouting.forecasts.learned.step_kernels import AgeSteps, give_row_back, take_row
from olprouting.forecasts.learned.tree_kernels import bucket_of


class LiveForecast(NamedTuple):
    """What a run knows of the lengths of its requests.

    Attributes
    ----------
    curves
        Survival curves, learning from the run; None where forecasts come from trees.
    steps
        Forecasts from trees; None where they come from curves.
    own
        Shape (N,): the curve of each request, 0 for that of all, -1 for none of its own; or the
        row of each active request in `steps`.
    prompt_tokens, decode_tokens
        Sizes of all requests, shape (N,), read when they complete.
    unlearnt
        Requests that completed since the last renewal, shape (N,), and how many, shape (1,).
    """

    curves: Curves | None
    steps: AgeSteps | None
    own: Ints
    prompt_tokens: Ints
    decode_tokens: Ints
    unlearnt: Ints
    unlearnt_count: Ints


@kernel
def note_admission(live: LiveForecast, request: int) -> None:
    """Forecast an admitted request, where that is done once for all its ages."""
    occupy(live.steps, live.own, request, live.prompt_tokens[request])


@kernel
def occupy(steps: AgeSteps | None, own: Ints, request: int, prompt: int) -> None:
    """Give a request a row of its own."""
    if steps is not None:
        own[request] = take_row(steps, prompt)


@kernel
def note_completion(live: LiveForecast, request: int) -> None:
    """Remember a completed request for the next renewal."""
    live.unlearnt[live.unlearnt_count[0]] = request
    live.unlearnt_count[0] += 1
    vacate(live.steps, live.own[request])


@kernel
def vacate(steps: AgeSteps | None, row: int) -> None:
    """Free the row of a request."""
    if steps is not None:
        give_row_back(steps, row)


@kernel
def learn(live: LiveForecast) -> None:
    """Renew the forecast by what completed since the last time, and by who runs."""
    for index in range(live.unlearnt_count[0]):
        request = live.unlearnt[index]
        prompt, length = live.prompt_tokens[request], live.decode_tokens[request]
        learn_length(live.curves, live.steps, live.own[request], prompt, length)
    live.unlearnt_count[0] = 0
    tabulate_running(live.curves)


@kernel
def learn_length(
    curves: Curves | None, steps: AgeSteps | None, own: int, prompt: int, length: int
) -> None:
    """Learn from one completed request."""
    if steps is not None:
        note_recent(steps.recent, prompt, length)
    if curves is not None:
        if len(curves.running) > 0:
            curves.completed[curves.first[0] + length] += 1
        else:
            add_length(curves, 0, length)
            if own > 0:
                add_length(curves, own, length)


@kernel
def tabulate_running(curves: Curves | None) -> None:
    """Compute the curve anew, where it heeds running requests."""
    if curves is not None and len(curves.running) > 0:
        tabulate(curves, 0)


@kernel
def outlast_probability(live: LiveForecast, own: int, age: int, offset: int) -> float:
    """Return the probability that a request of this curve or row is active `offset` later."""
    return outlast_by(live.curves, live.steps, own, age, offset)


@kernel
def outlast_by(
    curves: Curves | None, steps: AgeSteps | None, own: int, age: int, offset: int
) -> float:
    """Return that probability by curves; or by steps.

    Trees know P(r <= H) and the mean mu of r then: the request counts as active up to mu.
    """
    if steps is not None:
        bucket = bucket_of(steps.trees, age)
        soon = steps.finish_probability[own, bucket]
        return 1.0 if offset < steps.finisher_remaining[own, bucket] else 1 - soon
    if curves is not None:
        k = speaking(curves.first, curves.beyond, own)
        start, last = curves.first[k], curves.first[k + 1] - 1
        here = beyond_age(curves.beyond, start, last, age)
        return beyond_age(curves.beyond, start, last, age + offset) / here if here > 0 else 1.0
    return 1.0
