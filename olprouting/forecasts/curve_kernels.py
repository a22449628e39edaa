"""Compiled survival curves: who outlives which age, and what that says of a request.

A curve holds N(a), the number (or, censored, the probability) of lengths beyond a, for a from 0
to its longest, and its running sum R(a) = N(0) + ... + N(a - 1). All a forecast needs is then at
hand in O(1): for a request of age a with remaining r,

    P(r > h) = N(a + h) / N(a)    and    c = E[min(r, H + 1)] = (R(a + H + 1) - R(a)) / N(a).

Where N holds counts, c is one division of whole numbers, so that its ceiling is right.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from olprouting.compiling import Bools, Floats, Ints, compiled, kernel

CEILING_TOLERANCE: Final = 1e-9
"""Rounding error of c where N is a product of ratios; counts below 10^9 never come so close."""


class Curves(NamedTuple):
    """Survival curves one after the other; curve k stands at ``first[k]:first[k + 1]``.

    Curve 0 is that of all requests.

    Attributes
    ----------
    first
        Shape (K + 1,).
    completed
        Completed requests of every length, shape (first[K],).
    running
        Requests of every age that still run, the same shape; empty where they are left out.
    beyond
        N, the same shape.
    reach
        R, the same shape.
    """

    first: Ints
    completed: Ints
    running: Ints
    beyond: Floats
    reach: Floats


# Below, a curve is its stretch of `beyond` and `reach` from `start` to `last`: bare arrays, for
# compiled code counts references to each array of a tuple at every call, which takes longer than
# the forecast.


@kernel
def speaking(first: Ints, beyond: Floats, own: int) -> int:
    """Return the curve that speaks for a request: its own if that has history, else that of all."""
    return int(own) if own > 0 and beyond[first[own]] > 0 else 0


@kernel
def beyond_age(beyond: Floats, start: int, last: int, age: int) -> float:
    """Return N(age); beyond the longest length it stays as it is there."""
    return float(beyond[min(start + age, last)])


@kernel
def expected_remaining(
    beyond: Floats, reach: Floats, start: int, last: int, age: int, horizon: int
) -> float:
    """Return c, up to rounding in [1, H + 1]; H + 1 where nothing is known of this age."""
    here, ahead = start + age, start + age + horizon + 1
    if here > last or beyond[here] <= 0:
        return horizon + 1.0
    after = 0.0  # what lies beyond the longest length
    if ahead > last:
        after = (ahead - last) * beyond[last]
        ahead = last
    return float((reach[ahead] - reach[here] + after) / beyond[here])


@compiled
def cutoff_of(expected: float, horizon: int) -> int:
    """Return ceil(c) in [1, H + 1]: the offset from which a request counts as gone."""
    return min(max(int(expected - CEILING_TOLERANCE) + 1, 1), horizon + 1)


@compiled
def tabulate(curves: Curves, k: int) -> None:
    """Compute N and R of curve `k` from the requests that completed, and those that run."""
    start, end = curves.first[k], curves.first[k + 1]
    if len(curves.running) == 0:
        beyond = 0
        for place in range(end - 1, start - 1, -1):
            curves.beyond[place] = beyond
            beyond += curves.completed[place]
    else:
        _product_limit(curves, start, end)
    total = 0.0
    for place in range(start, end):
        curves.reach[place] = total
        total += curves.beyond[place]


@kernel
def add_length(curves: Curves, k: int, length: int) -> None:
    """Add a completed request to N and R of curve `k`, which counts completed ones alone."""
    start, end = curves.first[k], curves.first[k + 1]
    beyond, reach = curves.beyond[start:end], curves.reach[start:end]
    for age in range(length):
        beyond[age] += 1
        reach[age] += age
    for age in range(length, end - start):
        reach[age] += length


@kernel
def _product_limit(curves: Curves, start: int, end: int) -> None:
    """Kaplan and Meier: N(a) = prod over l <= a of 1 - (completed at l) / (at risk at l)."""
    at_risk, completions = 0, 0
    for place in range(end - 1, start - 1, -1):
        completions += curves.completed[place]
        at_risk += curves.completed[place] + curves.running[place]
        curves.beyond[place] = at_risk
    beyond = 1.0 if completions > 0 else 0.0
    for place in range(start, end):
        if curves.completed[place] > 0:
            beyond *= 1 - curves.completed[place] / curves.beyond[place]
        curves.beyond[place] = beyond


@compiled
def predict_ages(
    curves: Curves,
    curve: Ints,
    age: Ints,
    horizon: int,
    finish_probability: Floats,
    finisher_remaining: Floats,
    expected: Floats,
    covered: Bools,
) -> None:
    """Fill the last four, shape (n,), for requests of these curves and ages."""
    beyond, reach = curves.beyond, curves.reach
    for index in range(len(age)):
        k = speaking(curves.first, beyond, curve[index])
        start, last = curves.first[k], curves.first[k + 1] - 1
        alive = beyond_age(beyond, start, last, age[index])
        outlasts = 1.0
        if alive > 0:
            outlasts = beyond_age(beyond, start, last, age[index] + horizon) / alive
        c = expected_remaining(beyond, reach, start, last, age[index], horizon)
        c = min(max(c, 1.0), horizon + 1.0)
        expected[index] = c
        finish_probability[index] = 1 - outlasts
        finisher_remaining[index] = 1.0
        if outlasts < 1:
            mean = (c - outlasts * (horizon + 1)) / (1 - outlasts)
            finisher_remaining[index] = min(max(mean, 1.0), float(horizon))
        covered[index] = k == curve[index] and alive > 0
