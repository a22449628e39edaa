"""Long sums, assembled at once.

Pyomo's ``sum(a[i] * x[i] for i in ...)`` makes an object of every term, which takes longer than
many solves. `dot` is the same sum as one object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.core.expr import LinearExpression

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt
    import scipy.sparse as sp


def dot(coefficients: npt.ArrayLike, variables: Iterable[Any]) -> Any:
    """Return sum_i a_i * x_i.

    Parameters
    ----------
    coefficients
        a, as many as there are variables.
    variables
        x, Pyomo variables.
    """
    a = np.asarray(coefficients).tolist()
    return LinearExpression(linear_coefs=a, linear_vars=list(variables))


def total(variables: Iterable[Any]) -> Any:
    """Return sum_i x_i."""
    x = list(variables)
    return dot([1] * len(x), x)


def rows_times(matrix: sp.csr_array, variables: list[Any]) -> list[Any]:
    """Return the rows of A x, each a sum of its own; None for a row without entries."""
    rows = []
    for row in range(matrix.shape[0]):
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns = matrix.indices[entries].tolist()
        used = [variables[column] for column in columns]
        rows.append(dot(matrix.data[entries], used) if used else None)
    return rows
