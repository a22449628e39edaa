"""Which waiting requests start now, and on which device: the per-period integer program.

It is the per-period LP with whole starts:

    maximise    sum_(j,g) r_(j,g) * x_(j,g)                                                 (1)
    subject to  sum_(j,g) a_(i,(j,g)) * x_(j,g) <= b_i      for all resources i             (2)
                sum_g x_(j,g) <= n_j                        for all requests j              (3)
                x >= 0, integer (binary, as n_j = 1).

In the model x of column c is ``start[c]``, (2) is ``within_capacity[i]`` and (3) is ``once[j]``.
With ``integer=False`` it is the LP, whose row duals Pyomo can give.

Source: bid-price paper, section 3.1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyomo.core as pyo
from pyomo.core.expr import LinearExpression

from .period_lp import columns_of_requests

if TYPE_CHECKING:
    import scipy.sparse as sp

    from .period_lp import Floats, Ints


def build(
    rewards: Floats,
    usage: sp.csr_array,
    capacity: Floats,
    request: Ints,
    limit: Floats,
    *,
    integer: bool = True,
) -> pyo.ConcreteModel:
    """Return the program as a Pyomo model.

    Parameters
    ----------
    rewards, usage, capacity, request, limit
        As in `period_lp.build`.
    integer
        Whether starts are whole.
    """
    model = pyo.ConcreteModel("period_integer")
    model.columns = pyo.RangeSet(0, len(rewards) - 1)
    domain = pyo.NonNegativeIntegers if integer else pyo.NonNegativeReals
    model.start = pyo.Var(model.columns, domain=domain)
    start = list(model.start.values())
    model.within_capacity = pyo.Constraint(pyo.Any)
    _add_rows(model.within_capacity, usage, start, capacity)
    model.once = pyo.Constraint(pyo.Any)
    _add_rows(model.once, columns_of_requests(request, len(limit)), start, limit)
    total = LinearExpression(linear_coefs=rewards.tolist(), linear_vars=start)
    model.reward = pyo.Objective(expr=total, sense=pyo.maximize)
    return model


def _add_rows(rows: Any, matrix: sp.csr_array, start: list[Any], right: Floats) -> None:
    """Add ``matrix @ start <= right``; a row without columns always holds and is left out."""
    ends = matrix.indptr.tolist()
    indices, values, limits = matrix.indices.tolist(), matrix.data.tolist(), right.tolist()
    for row, (begin, end) in enumerate(pairwise(ends)):
        if begin < end:
            variables = [start[column] for column in indices[begin:end]]
            body = LinearExpression(linear_coefs=values[begin:end], linear_vars=variables)
            rows[row] = body <= limits[row]
