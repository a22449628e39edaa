"""Which waiting requests start now, and on which worker: the per-period integer program.

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

from typing import TYPE_CHECKING, Any

import pyomo.core as pyo

from .linear import dot, rows_times
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
    x = list(model.start.values())
    used, admitted = rows_times(usage, x), rows_times(columns_of_requests(request, len(limit)), x)
    model.within_capacity = pyo.Constraint(  # (2)
        range(len(capacity)), rule=lambda model, i: _at_most(used[i], capacity[i])
    )
    model.once = pyo.Constraint(  # (3)
        range(len(limit)), rule=lambda model, j: _at_most(admitted[j], limit[j])
    )
    model.reward = pyo.Objective(expr=dot(rewards, x), sense=pyo.maximize)  # (1)
    return model


def _at_most(row: Any, right: Any) -> Any:
    """Return the constraint; a row without columns always holds and is left out."""
    return pyo.Constraint.Skip if row is None else row <= float(right)
