"""A Pyomo model as arrays: what matrix-based solvers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyomo.environ as pyo


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
    """Return a linear Pyomo model with one minimising objective as arrays."""
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    senses = np.array([row.bound_type for row in form.rows])  # -1 is >=, 0 is =, 1 is <=
    bounds = [variable.bounds for variable in form.columns]
    return MatrixForm(
        columns=form.columns,
        column_of={id(variable): column for column, variable in enumerate(form.columns)},
        constraints=[row.constraint for row in form.rows],
        cost=form.c.toarray().ravel(),
        offset=float(form.c_offset[0]),
        lower=np.array([-np.inf if low is None else low for low, _ in bounds]),
        upper=np.array([np.inf if high is None else high for _, high in bounds]),
        integer=np.array([v.is_integer() for v in form.columns], dtype=np.int32),
        row_lower=np.where(senses <= 0, form.rhs, -np.inf),
        row_upper=np.where(senses >= 0, form.rhs, np.inf),
        starts=form.A.indptr.astype(np.int32),
        rows=form.A.indices.astype(np.int32),
        coefficients=form.A.data.astype(np.float64),
    )
