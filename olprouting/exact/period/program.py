"""A period's LP or integer program as a Pyomo model, and the prices of a solved one.

A row dual is the change of the objective per unit of the row's right-hand side. A price is the gain
in reward per extra unit of a resource, >= 0. So the sign turns where the objective was minimised
(of minus the reward), and turns again where the row was written as ``-use >= -capacity``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.core as pyo

from olprouting.exact.formulations import Formulation
from olprouting.instances import Sense
from olprouting.models import period_integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from olprouting.exact.period.columns import PeriodColumns

    Floats = npt.NDArray[np.float64]


class PeriodProgram(Formulation):
    """A period's program as backends take it (see `olprouting.exact.formulations`).

    Parameters
    ----------
    columns
        The period's arrays.
    integer
        Whether starts are whole.
    """

    sense = Sense.MAXIMISE

    def __init__(self, columns: PeriodColumns, *, integer: bool) -> None:
        self._columns = columns
        self.integer = integer

    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model; an LP's takes the row duals."""
        model = period_integer.build(*self._columns.arrays, integer=self.integer)
        if not self.integer:
            model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
        return model

    def pyomo_columns(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of `model`, by column."""
        return list(model.start.values())

    def set_values(self, model: pyo.ConcreteModel, start: Floats) -> None:
        """Give every variable of `model` its value at a solution."""
        for variable, value in zip(model.start.values(), start.tolist(), strict=True):
            variable.set_value(value)

    def solution(self, values: Floats) -> Floats:
        """Return x of each column as the solver gave it: the recheck judges how whole it is."""
        return values

    def bound(self, dual_bound: float) -> float | None:
        """Return a solver's upper bound, or None if it has none."""
        return dual_bound if math.isfinite(dual_bound) else None

    def prices(self, model: pyo.ConcreteModel) -> Floats | None:
        """Return the price of each row of a solved LP, shape (m,); None for whole starts."""
        if self.integer:
            return None
        price = np.zeros(len(self._columns.capacity))
        price[list(model.within_capacity)] = pyomo_prices(model, model.within_capacity.values())
        return price


def pyomo_prices(model: Any, rows: Iterable[Any]) -> Floats:
    """Return the prices of rows of a solved Pyomo LP with a suffix ``dual``.

    Parameters
    ----------
    model
        The model; its one active objective is a reward to be maximised, or minus a reward.
    rows
        Its capacity constraints, ``use <= capacity`` or ``-use >= -capacity``.
    """
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    sense = 1.0 if objective.sense == pyo.maximize else -1.0
    directions = [(row, 1.0 if row.has_ub() else -1.0) for row in rows]
    return np.array([sense * direction * model.dual.get(row, 0.0) for row, direction in directions])
