"""Prices learned from history: the sample average of the dual (SAA).

With the scarcity d_i (residual capacity per remaining start) and history columns (r_n, a_n),
n = 1..N, each the reward and the use of a start that was once the best one:

    minimise    f(p) = sum_i d_i * p_i + 1/max(1,N) * sum_n (r_n - sum_i a_(n,i) * p_i)+    (1)
    subject to  p >= 0,

here as an LP with N times the objective, because weights of 1/N drown in solvers' tolerances:

    minimise    sum_i N * d_i * p_i + sum_n u_n                                             (2)
    subject to  u_n >= r_n - sum_i a_(n,i) * p_i            for all n                       (3)
                p, u >= 0.

With no history p = 0 is optimal. f >= 0, since d >= 0.

Source: bid-price paper, section 3.2, equation (6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .period_lp import Floats


class SaaDual(NamedTuple):
    """The LP (2)-(3) and its parts: p, rows (3) (None without history)."""

    problem: Any
    price: Any
    at_least_margin: Any


def build(scarcity: Floats, rewards: Floats, usage: sp.csr_array) -> SaaDual:
    """Return the LP (2)-(3) as a CVXPY problem.

    Parameters
    ----------
    scarcity
        d >= 0, shape (m,).
    rewards
        r, shape (N,).
    usage
        a >= 0, history by resources, shape (N, m).
    """
    price: Any = cp.Variable(len(scarcity), nonneg=True, name="price")
    if len(rewards) == 0:
        return SaaDual(cp.Problem(cp.Minimize(scarcity @ price)), price, None)
    gain: Any = cp.Variable(len(rewards), nonneg=True, name="gain")
    at_least_margin = gain + usage @ price >= rewards
    total = (len(rewards) * scarcity) @ price + np.ones(len(rewards)) @ gain
    return SaaDual(cp.Problem(cp.Minimize(total), [at_least_margin]), price, at_least_margin)


def value(price: Floats, scarcity: Floats, rewards: Floats, usage: sp.csr_array) -> float:
    """Return f(p) of (1) at `price` >= 0, shape (m,), over the whole history."""
    gains = np.maximum(rewards - usage @ price, 0)
    return float(scarcity @ price + gains.sum() / max(1, len(rewards)))
