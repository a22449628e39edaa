"""Which waiting requests start now, and on which worker: the per-period LP.

At period k, column (j,g) starts request j on worker g. With its reward r_(j,g), its use a_(i,(j,g))
of resource i (a worker's slots or KV tokens in one of the periods k..T), and what is left b_i:

    maximise    sum_(j,g) r_(j,g) * x_(j,g)                                                 (1)
    subject to  sum_(j,g) a_(i,(j,g)) * x_(j,g) <= b_i      for all resources i             (2)
                sum_g x_(j,g) <= n_j                        for all requests j              (3)
                x >= 0.

n_j = 1, so that x lies in [0, 1]; a larger n_j makes j a class of n_j equal requests. Every
capacity is a row of its own, because bounds of variables have no dual value. In CVXPY a row's dual
value is >= 0 and is the gain in (1) per extra unit of its capacity: the price.

Source: bid-price paper, section 3.1, equations (4) and (5) for (2) and (3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


class PeriodLp(NamedTuple):
    """The LP and its parts: x, rows (2), rows (3)."""

    problem: Any
    start: Any
    within_capacity: Any
    once: Any


def build(
    rewards: Floats, usage: sp.csr_array, capacity: Floats, request: Ints, limit: Floats
) -> PeriodLp:
    """Return the LP as a CVXPY problem.

    Parameters
    ----------
    rewards
        r, one per column, shape (n,).
    usage
        a, resources by columns, shape (m, n), >= 0.
    capacity
        b >= 0 in slots or KV tokens, shape (m,).
    request
        j of each column, 0..J-1, shape (n,).
    limit
        n_j >= 0, shape (J,).
    """
    start: Any = cp.Variable(len(rewards), nonneg=True, name="start")
    within_capacity = usage @ start <= capacity
    once = columns_of_requests(request, len(limit)) @ start <= limit
    problem = cp.Problem(cp.Maximize(rewards @ start), [within_capacity, once])
    return PeriodLp(problem, start, within_capacity, once)


def columns_of_requests(request: Ints, requests: int) -> sp.csr_array:
    """Return the 0/1 matrix of (3), requests by columns, shape (J, n)."""
    columns = np.arange(len(request))
    ones = np.ones(len(request))
    return sp.csr_array((ones, (request, columns)), shape=(requests, len(request)))
