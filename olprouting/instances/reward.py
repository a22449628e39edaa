"""The reward of starting a request at a period.

With weights (alpha, beta, gamma, sigma, zeta1, zeta2), thresholds t1 and t2, decode length o,
arrival t, and the last period T, starting at k is worth

    r = alpha * min(o, T-k+1) + beta * (T - (k+o-1))+ + gamma * (T-k+1) + sigma
        + zeta1 * 1{k+o-t < t1} + zeta2 * 1{k-t < t2}.

With PD-mixing the first token comes one period after the start, so that k becomes k+1 in every
term. All terms are >= 0 for k <= T.

The terms stand here once, as plain arithmetic: for numbers, arrays, fractions, and kernels, which
compile it. `olprouting.certificates` has its own, on purpose.

Source: bid-price paper, section 3.1 and appendix A.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from olprouting.instances.request_curves import Batching, first_token_delay

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.slo_weights import SloWeights

    Ints = int | npt.NDArray[np.int64]


class PerTerm(NamedTuple):
    """A number, or an array of numbers, for each term of the reward: weights, or what they weigh.

    Fields are named as in `olprouting.instances.SloWeights`.
    """

    alpha: Any
    beta: Any
    gamma: Any
    sigma: Any
    zeta1: Any
    zeta2: Any


def reward_terms(
    decode_tokens: Any,
    arrival: Any,
    first_token: Any,
    last: Any,
    end_limit: int,
    first_limit: int,
) -> PerTerm:
    """Return what each weight is multiplied by, in whole numbers.

    Parameters
    ----------
    decode_tokens
        o >= 1.
    arrival, first_token, last
        Periods of arrival and first token, and the last period, counted from anywhere.
    end_limit, first_limit
        Largest latencies that earn zeta1 and zeta2 (`latency_limit`).
    """
    left = last - first_token + 1
    saved = (left - decode_tokens) * (left > decode_tokens)
    waited = first_token - arrival
    return PerTerm(
        left - saved, saved, left, 1, waited + decode_tokens <= end_limit, waited <= first_limit
    )


def weighted(weights: SloWeights | PerTerm, terms: PerTerm) -> Any:
    """Return the sum of the terms, each times its weight."""
    return (
        weights.alpha * terms.alpha
        + weights.beta * terms.beta
        + weights.gamma * terms.gamma
        + weights.sigma * terms.sigma
        + weights.zeta1 * terms.zeta1
        + weights.zeta2 * terms.zeta2
    )


def latency_limit(threshold: float, inclusive: bool) -> int:
    """Return the largest whole latency that meets a finite threshold, equal to it or below."""
    return math.floor(threshold) if inclusive else math.ceil(threshold) - 1


def reward(
    weights: SloWeights | PerTerm,
    decode_tokens: Ints,
    arrival_period: Ints,
    *,
    start_period: Ints,
    periods: int,
    t1: float,
    t2: float,
    batching: Batching | str = Batching.DECODE,
    inclusive: bool = False,
) -> npt.NDArray[np.float64]:
    """Return the reward of starting requests at `start_period`; every argument broadcasts.

    Parameters
    ----------
    weights
        The six weights, or arrays of them.
    decode_tokens
        o >= 1, predicted.
    arrival_period
        t, at most `start_period`.
    start_period
        k <= `periods`.
    periods
        T, the last period.
    t1, t2
        Thresholds of end-to-end latency and of time to first token, in periods.
    batching
        ``"decode"`` or ``"mixed"``.
    inclusive
        Whether a latency equal to its threshold counts; in the paper it does not.
    """
    terms = reward_terms(
        np.asarray(decode_tokens, dtype=np.int64),
        np.asarray(arrival_period, dtype=np.int64),
        np.asarray(start_period, dtype=np.int64) + first_token_delay(batching),
        periods,
        latency_limit(t1, inclusive),
        latency_limit(t2, inclusive),
    )
    total: npt.NDArray[np.float64] = np.asarray(weighted(weights, terms), dtype=np.float64)
    return total
