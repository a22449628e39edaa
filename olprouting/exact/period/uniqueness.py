"""Whether a period's prices are the only optimal ones.

Prices are optimal if and only if they are feasible for the dual and complementary to an optimal x:
a resource with capacity to spare costs nothing, a request with some share unadmitted has option
value 0, and a start that is made has exactly its option value as margin. That leaves a polyhedron.
A linear function with random coefficients is constant on it only if it is a single point (with
probability 1), so that its least and greatest value tell. The polyhedron is that of the program as
written: prices can move between periods whose rows a reduction left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from olprouting.exact.period.check_period import used
from olprouting.exact.period.columns import period_columns
from olprouting.exact.period.scaling import scaled

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import PeriodProblem

    Floats = npt.NDArray[np.float64]

TIGHT = 1e-7
"""Relative slack below which a row counts as tight, and share below which x counts as 0."""

DIFFERENT = 1e-6
"""Relative difference between the least and the greatest value that shows a second solution."""


def prices_unique(problem: PeriodProblem, x: Floats) -> bool | None:
    """Return whether the optimal prices are unique, or None if that could not be settled.

    Parameters
    ----------
    problem
        The problem.
    x
        An optimal solution, shape (J, G).
    """
    if (problem.slots == 0).any() or (problem.kv_tokens == 0).any():
        return False  # any higher price of what there is nothing of is optimal too
    if problem.waiting == 0:
        return True
    program = scaled(period_columns(problem, reduce_rows=False)).columns
    use = np.stack(used(problem, x), axis=1).ravel()
    capacity = np.stack([problem.slots, problem.kv_tokens], axis=1).ravel()
    tight = use >= capacity - TIGHT * np.maximum(capacity, 1)
    if not tight.any():
        return True  # all prices are 0
    all_admitted = x.sum(axis=1) >= 1 - TIGHT
    costs = program.usage[np.flatnonzero(tight)].T
    option_values = sp.eye_array(problem.waiting, format="csr")[program.request][:, all_admitted]
    matrix = sp.csr_array(sp.hstack([costs, option_values]))
    admitted = x.T.ravel() > TIGHT
    direction = np.zeros(matrix.shape[1])
    direction[: int(tight.sum())] = np.random.default_rng(0).uniform(1, 2, int(tight.sum()))
    return _is_constant(direction, matrix, program.rewards, admitted)


def _is_constant(
    direction: Floats, matrix: sp.csr_array, rewards: Floats, admitted: npt.NDArray[np.bool_]
) -> bool | None:
    """Whether `direction` is constant on {z >= 0, matrix z >= rewards, = where admitted}."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # its stubs do not know that it takes sparse matrices
    equal, at_least = np.flatnonzero(admitted), np.flatnonzero(~admitted)
    ends = []
    for sign in (1, -1):
        solved = linprog(
            sign * direction,
            A_ub=-matrix[at_least] if len(at_least) else None,
            b_ub=-rewards[at_least] if len(at_least) else None,
            A_eq=matrix[equal] if len(equal) else None,
            b_eq=rewards[equal] if len(equal) else None,
            method="highs",
        )
        if solved.status == 3:
            return False  # unbounded
        if solved.status != 0:
            return None
        ends.append(sign * solved.fun)
    return bool(ends[1] - ends[0] <= DIFFERENT * max(1.0, abs(ends[1])))
