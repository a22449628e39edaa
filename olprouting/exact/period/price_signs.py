"""From a solver's row duals to prices: the gain in reward per extra unit of a resource, >= 0.

A row dual is the change of the objective per unit of the row's right-hand side. So its sign turns
where the objective was minimised (of minus the reward), and turns again where the row was written
as ``-use >= -capacity``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def pyomo_prices(model: Any, rows: Iterable[Any]) -> Floats:
    """Return the prices of rows of a solved Pyomo LP with a suffix ``dual``.

    Parameters
    ----------
    model
        The model; its one active objective is a reward to be maximised, or minus a reward.
    rows
        Its capacity constraints, ``use <= capacity`` or ``-use >= -capacity``.
    """
    import pyomo.environ as pyo

    objective = next(model.component_data_objects(pyo.Objective, active=True))
    sense = 1.0 if objective.sense == pyo.maximize else -1.0
    directions = [(row, 1.0 if row.has_ub() else -1.0) for row in rows]
    return np.array([sense * direction * model.dual.get(row, 0.0) for row, direction in directions])


def cvxpy_prices(rows: Any) -> Floats:
    """Return the prices of an inequality of a solved CVXPY LP.

    CVXPY gives multipliers >= 0 for either sense and either direction: they are the prices.
    """
    return np.atleast_1d(np.asarray(rows.dual_value, dtype=np.float64))
