"""Taking a solver's tolerance out of its solution.

All use is >= 0, so that starting less is always feasible: scaling a device's starts down by its
worst excess, and a request's by its own, leaves a point that is feasible to the last digit but a
few. What is lost shows in the value, which is recomputed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.period.check_period import used

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import PeriodProblem

    Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-9
"""A share below this is a solver's way to write 0."""

ROUNDING = 1e-12
"""A relative excess below this is rounding and is left."""


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
