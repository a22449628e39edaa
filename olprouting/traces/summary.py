"""What a trace looks like in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.trace import Trace

LEVELS = (0.05, 0.5, 0.9, 0.99, 1.0)
"""Probabilities of the quantiles in a summary."""

PROFILE_PARTS = 10
"""Equal parts of the time span in the rate profile."""


@dataclass(frozen=True)
class LengthSummary:
    """Mean and quantiles (at `LEVELS`) of a token count."""

    mean: float
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class ArrivalSummary:
    """When requests arrive.

    Parameters
    ----------
    span_s
        Time from the first to the last arrival, seconds.
    rate_per_s
        Gaps per second of span; None if all arrive at once.
    tie_share
        Share of requests that arrive at the same time as the one before.
    rate_profile_per_s
        Arrivals per second in `PROFILE_PARTS` equal parts of the span; empty if it is 0.
    """

    span_s: float
    rate_per_s: float | None
    tie_share: float
    rate_profile_per_s: tuple[float, ...]


@dataclass(frozen=True)
class TraceSummary:
    """A trace in numbers; `prompt_per_decode` is the ratio of the means (P:D)."""

    name: str
    requests: int
    prompt_tokens: LengthSummary
    decode_tokens: LengthSummary
    prompt_per_decode: float
    arrivals: ArrivalSummary | None
    notices: tuple[str, ...]


def summarise(trace: Trace) -> TraceSummary:
    """Summarise a trace of at least one request."""
    prompt, decode = _lengths(trace.prompt_tokens), _lengths(trace.decode_tokens)
    return TraceSummary(
        name=trace.name,
        requests=len(trace),
        prompt_tokens=prompt,
        decode_tokens=decode,
        prompt_per_decode=prompt.mean / decode.mean,
        arrivals=None if trace.arrival_s is None else _arrivals(trace.arrival_s),
        notices=trace.notices,
    )


def _lengths(tokens: npt.NDArray[np.int64]) -> LengthSummary:
    return LengthSummary(float(tokens.mean()), tuple(float(q) for q in np.quantile(tokens, LEVELS)))


def _arrivals(arrival_s: npt.NDArray[np.float64]) -> ArrivalSummary:
    span_s = float(arrival_s[-1] - arrival_s[0])
    ties = float((np.diff(arrival_s) == 0).sum()) / len(arrival_s)
    if span_s == 0:
        return ArrivalSummary(0.0, None, ties, ())
    counts, _ = np.histogram(arrival_s, bins=PROFILE_PARTS)
    profile = tuple(float(count) * PROFILE_PARTS / span_s for count in counts)
    return ArrivalSummary(span_s, (len(arrival_s) - 1) / span_s, ties, profile)
