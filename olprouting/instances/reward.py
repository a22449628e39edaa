"""The reward of starting a request at a period.

With weights (alpha, beta, gamma, sigma, zeta1, zeta2), thresholds t1 and t2, decode length o,
arrival t, and the last period T, starting at k is worth

    r = alpha * min(o, T-k+1) + beta * (T - (k+o-1))+ + gamma * (T-k+1) + sigma
        + zeta1 * 1{k+o-t < t1} + zeta2 * 1{k-t < t2}.

With PD-mixing the first token comes one period after the start, so that k becomes k+1 in every
term. All terms are >= 0 for k <= T.

This is the only place where the reward is written down.

Source: bid-price paper, section 3.1 and appendix A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.instances.request_curves import Kernel, first_token_delay

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.slo_weights import SloWeights

    Ints = int | npt.NDArray[np.int64]


def reward(
    weights: SloWeights,
    decode_tokens: Ints,
    arrival_period: Ints,
    *,
    start_period: Ints,
    periods: int,
    t1: float,
    t2: float,
    kernel: Kernel | str = Kernel.DECODE,
    inclusive: bool = False,
) -> npt.NDArray[np.float64]:
    """Return the reward of starting requests at `start_period`; every argument broadcasts.

    Parameters
    ----------
    weights
        The six weights.
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
    kernel
        ``"decode"`` or ``"mixed"``.
    inclusive
        Whether a latency equal to its threshold counts; in the paper it does not.
    """
    o = np.asarray(decode_tokens, dtype=np.int64)
    k = np.asarray(start_period, dtype=np.int64) + first_token_delay(kernel)
    t = np.asarray(arrival_period, dtype=np.int64)
    within = np.less_equal if inclusive else np.less
    left = periods - k + 1
    total: npt.NDArray[np.float64] = np.asarray(
        weights.alpha * np.minimum(o, left)
        + weights.beta * np.maximum(periods - (k + o - 1), 0)
        + weights.gamma * left
        + weights.sigma
        + weights.zeta1 * within(k + o - t, t1)
        + weights.zeta2 * within(k - t, t2),
        dtype=np.float64,
    )
    return total
