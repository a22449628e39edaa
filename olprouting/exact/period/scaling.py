"""What lies between a period's program and a solver: units, and the tolerance of its answer.

Solvers judge rows and reduced costs by absolute tolerances, so that rewards of 1e-9 would all count
as zero and tokens of 1e9 would be rounded away. The units are powers of two: dividing by them
changes no digit.

All use is >= 0, so that starting less is always feasible: scaling a worker's starts down by its
worst excess, and a request's by its own, leaves a point that is feasible to the last digit but a
few. What is lost shows in the value, which is recomputed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.period.check_period import used

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.backend import Outcome
    from olprouting.exact.period.columns import PeriodColumns
    from olprouting.instances import PeriodProblem

    Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-9
"""A share below this is a solver's way to write 0."""

ROUNDING = 1e-12
"""A relative excess below this is rounding and is left."""


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

    def price(self, outcome: Outcome[Floats]) -> Floats | None:
        """Return an outcome's row prices in reward per slot or token, without rounding below 0."""
        if outcome.price is None:
            return None
        return np.maximum(outcome.price, 0) * self.reward_unit / self.row_unit

    def bound(self, outcome: Outcome[Floats]) -> float | None:
        """Return an outcome's bound in reward."""
        return None if outcome.bound is None else float(outcome.bound) * self.reward_unit


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


def repaired(problem: PeriodProblem, x: Floats) -> Floats:
    """Return `x` of shape (J, G) shrunk to feasibility."""
    x = np.where(x < NEGLIGIBLE, 0.0, x)
    x = np.where(_uses_nothing_left(problem), 0.0, x)
    x = x / _above_rounding(x.sum(axis=1, keepdims=True))
    slots, tokens = used(problem, x)
    excess = np.maximum(_ratio(slots, problem.slots), _ratio(tokens, problem.kv_tokens))
    return x / _above_rounding(excess.max(axis=1))


def _above_rounding(factor: Floats) -> Floats:
    return np.where(factor > 1 + ROUNDING, factor, 1.0)


def _uses_nothing_left(problem: PeriodProblem) -> npt.NDArray[np.bool_]:
    """Return whether a start would use a resource of which nothing is left, shape (J, G)."""
    held = problem.tokens_at_start[:, None] > 0
    last = problem.active_remaining - 1
    ages = np.arange(problem.remaining)
    no_slot = (problem.slots == 0).cumsum(axis=1)[:, last].T > 0
    no_token = (problem.kv_tokens == 0).cumsum(axis=1)[:, last].T > 0
    later = ((problem.kv_tokens == 0) & (ages > 0)).cumsum(axis=1)[:, last].T > 0
    return np.asarray(no_slot | (no_token & held) | later)


def _ratio(use: Floats, capacity: npt.NDArray[np.int64]) -> Floats:
    return np.divide(use, capacity, out=np.zeros_like(use), where=capacity > 0)
