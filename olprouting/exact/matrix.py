"""A Pyomo model as arrays: what matrix-based solvers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyomo.core as pyo


@dataclass(frozen=True)
class MatrixForm:
    """min cost'x + offset, row_lower <= Ax <= row_upper, lower <= x <= upper, some x integer.

    Parameters
    ----------
    columns
        The Pyomo variables.
    column_of
        Column of a variable, by ``id(variable)``.
    constraints
        The Pyomo constraint of each row.
    cost, offset
        The objective.
    lower, upper, integer
        Bounds of the columns, and 1 where integer.
    row_lower, row_upper
        Bounds of the rows.
    starts, rows, coefficients
        A by columns.
    """

    columns: list[Any]
    column_of: dict[int, int]
    constraints: list[Any]
    cost: npt.NDArray[np.float64]
    offset: float
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    integer: npt.NDArray[np.int32]
    row_lower: npt.NDArray[np.float64]
    row_upper: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.float64]


def compile_model(model: pyo.ConcreteModel) -> MatrixForm:
    """Return a linear Pyomo model with one objective as arrays; a maximum is negated."""
    # Pyomo's own standard form would import scipy.stats, which takes longer than most solves
    import pyomo.core as pyo
    from pyomo.repn import generate_standard_repn

    column_of: dict[int, int] = {}
    columns: list[Any] = []

    def terms(expression: Any) -> tuple[list[int], list[float], float]:
        """Return columns, coefficients and the constant of a linear expression."""
        form = generate_standard_repn(expression, quadratic=False)
        for variable in form.linear_vars:
            if id(variable) not in column_of:  # with its family, in the order of its indices
                for member in variable.parent_component().values():
                    column_of[id(member)] = len(columns)
                    columns.append(member)
        indices = [column_of[id(variable)] for variable in form.linear_vars]
        return indices, list(form.linear_coefs), float(form.constant)

    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    indices, coefficients, offset = terms(objective.expr)
    constraints = list(model.component_data_objects(pyo.Constraint, active=True))
    matrix = [terms(constraint.body) for constraint in constraints]
    sign = 1 if objective.is_minimizing() else -1
    cost = np.zeros(len(columns))
    cost[indices] = sign * np.array(coefficients)
    lower, upper = _bounds(columns)
    row_lower, row_upper = _bounds(constraints)
    constants = np.array([constant for _, _, constant in matrix])
    row = np.repeat(np.arange(len(matrix)), [len(indices) for indices, _, _ in matrix])
    column = np.array([index for indices, _, _ in matrix for index in indices], np.int64)
    by_column = np.argsort(column, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(columns)))])
    values = np.array([value for _, values, _ in matrix for value in values], np.float64)
    return MatrixForm(
        columns=columns,
        column_of=column_of,
        constraints=constraints,
        cost=cost,
        offset=sign * offset,
        lower=lower,
        upper=upper,
        integer=np.array([variable.is_integer() for variable in columns], dtype=np.int32),
        row_lower=row_lower - constants,
        row_upper=row_upper - constants,
        starts=starts.astype(np.int32),
        rows=row[by_column].astype(np.int32),
        coefficients=values[by_column],
    )


def _bounds(parts: list[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return lower and upper bounds of variables or constraints, infinite where there is none."""
    bounds = [part.bounds if hasattr(part, "bounds") else (part.lb, part.ub) for part in parts]
    low = np.array([-np.inf if low is None else low for low, _ in bounds], np.float64)
    high = np.array([np.inf if high is None else high for _, high in bounds], np.float64)
    return low, high
