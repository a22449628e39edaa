"""Prices of slots and KV tokens: the dual of the per-period LP.

With the data of the per-period LP, prices p_i >= 0 and option values y_j >= 0:

    minimise    sum_i b_i * p_i + sum_j n_j * y_j                                           (1)
    subject to  sum_i a_(i,(j,g)) * p_i + y_j >= r_(j,g)    for all columns (j,g)           (2)
                p, y >= 0.

p_i is the gain in reward per extra unit of resource i, y_j the best margin of request j over the
workers. The dual value of row (2) is the LP's x_(j,g).

Source: bid-price paper, section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cvxpy as cp

from .period_lp import columns_of_requests

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .period_lp import Floats, Ints


class PeriodDual(NamedTuple):
    """The dual and its parts: p, y, rows (2)."""

    problem: Any
    price: Any
    option_value: Any
    no_gain: Any


def build(
    rewards: Floats, usage: sp.csr_array, capacity: Floats, request: Ints, limit: Floats
) -> PeriodDual:
    """Return the dual as a CVXPY problem.

    Parameters
    ----------
    rewards, usage, capacity, request, limit
        As in `period_lp.build`.
    """
    price: Any = cp.Variable(len(capacity), nonneg=True, name="price")
    option_value: Any = cp.Variable(len(limit), nonneg=True, name="option_value")
    request_of_column = columns_of_requests(request, len(limit)).T.tocsr()
    no_gain = usage.T.tocsr() @ price + request_of_column @ option_value >= rewards
    cost = capacity @ price + limit @ option_value
    return PeriodDual(cp.Problem(cp.Minimize(cost), [no_gain]), price, option_value, no_gain)
