"""Units in which a period's program is handed to a solver.

Solvers judge rows and reduced costs by absolute tolerances, so that rewards of 1e-9 would all count
as zero and tokens of 1e9 would be rounded away. The units are powers of two: dividing by them
changes no digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.period.columns import PeriodColumns
    from olprouting.exact.period.outcome import PeriodOutcome

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scaled:
    """A program in a solver's units.

    Parameters
    ----------
    columns
        Rewards divided by `reward_unit`, each row of usage and capacity by its `row_unit`.
    reward_unit, row_unit
        Powers of two.
    """

    columns: PeriodColumns
    reward_unit: float
    row_unit: Floats

    def price(self, outcome: PeriodOutcome) -> Floats | None:
        """Return an outcome's row prices in reward per slot or token, without rounding below 0."""
        if outcome.price is None:
            return None
        return np.maximum(outcome.price, 0) * self.reward_unit / self.row_unit

    def bound(self, outcome: PeriodOutcome) -> float | None:
        """Return an outcome's bound in reward."""
        return None if outcome.bound is None else outcome.bound * self.reward_unit


def scaled(columns: PeriodColumns) -> Scaled:
    """Return the program with the largest reward, and the largest use of each row, in [1, 2)."""
    reward_unit = float(power_of_two(columns.rewards.max(initial=0.0))[0])
    row_unit = power_of_two(columns.usage.max(axis=1).toarray().ravel())
    usage = columns.usage.copy()
    usage.data = usage.data / np.repeat(row_unit, np.diff(usage.indptr))
    return Scaled(
        columns.replace(
            rewards=columns.rewards / reward_unit,
            usage=usage,
            capacity=columns.capacity / row_unit,
        ),
        reward_unit,
        row_unit,
    )


def power_of_two(size: npt.ArrayLike) -> Floats:
    """Return the largest power of two that is not above each size; 1 for size 0."""
    sizes = np.atleast_1d(np.asarray(size, dtype=np.float64))
    return np.exp2([math.floor(math.log2(s)) if s > 0 else 0 for s in sizes.tolist()])
