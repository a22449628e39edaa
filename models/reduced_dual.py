"""Prices alone: the dual of the per-period LP with the option values minimised out.

For given prices the best option value is y_j = (max_g (r_(j,g) - sum_i a_(i,(j,g)) p_i))+, so that

    minimise    sum_i b_i * p_i + sum_j n_j * (max_g (r_(j,g) - sum_i a_(i,(j,g)) * p_i))+  (1)
    subject to  p >= 0.

(1) is convex and piecewise linear. Its value at any p >= 0 is an upper bound on the LP.

Source: bid-price paper, section 3.2.
"""

# mypy: disable-error-code="attr-defined"
# (CVXPY's atoms come through a star import, which mypy does not follow)
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .period_lp import Floats


class ReducedDual(NamedTuple):
    """The reduced dual and its variable p."""

    problem: Any
    price: Any


def build(
    rewards: Floats, usage: sp.csr_array, capacity: Floats, workers: int, limit: Floats
) -> ReducedDual:
    """Return the reduced dual as a CVXPY problem.

    Parameters
    ----------
    rewards, usage, capacity, limit
        As in `period_lp.build`, the columns worker by worker: column g*J + j is (j,g).
    workers
        G >= 1.
    """
    price: Any = cp.Variable(len(capacity), nonneg=True, name="price")
    margins = rewards - usage.T.tocsr() @ price
    by_request = cp.reshape(margins, (len(limit), workers), order="F")
    option_values = cp.pos(cp.max(by_request, axis=1))
    objective = capacity @ price + limit @ option_values
    return ReducedDual(cp.Problem(cp.Minimize(objective)), price)


def value(
    price: Floats,
    rewards: Floats,
    usage: sp.csr_array,
    capacity: Floats,
    workers: int,
    limit: Floats,
) -> float:
    """Return (1) at `price` >= 0, shape (m,); other parameters as in `build`."""
    margins = (rewards - usage.T @ price).reshape(workers, len(limit))
    option_values = np.maximum(margins.max(axis=0), 0)
    return float(capacity @ price + limit @ option_values)
