"""Poisson arrivals counted in periods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.instances._checks import positive

if TYPE_CHECKING:
    from olprouting.instances import Trace


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


def typical_step_s(
    fixed_s: float, per_slot_s: float, per_token_s: float, slots: int, kv_tokens: int
) -> float:
    """Return how long a step of a half-full device takes, in seconds."""
    return fixed_s + per_slot_s * slots / 2 + per_token_s * kv_tokens / 2
