"""Algorithm 1 at prices that are given: what prices that nobody could have learned would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.errors import InputError
from olprouting.exact.period import margins_of
from olprouting.instances.request_curves import active_periods
from olprouting.instances.reward import PerTerm, reward
from olprouting.instances.slo_classes import weight_rows
from olprouting.policies.period_policy import PeriodPolicy, admit_by_score

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import PeriodProblem
    from olprouting.options import PeriodOptions
    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View

    Floats = npt.NDArray[np.float64]


ROUNDING: Final = 1e-6
"""Margins of two starts that are so close, relative to the larger, count as equal."""


class FixedPricePolicy(PeriodPolicy):
    """Start the pairs of positive margin in decreasing order, as far as they fit.

    Parameters
    ----------
    name, options, random_ties
        As for `PeriodPolicy`; the last period must be fixed.
    batch, memory
        Prices of a slot and of a KV token by worker and period 1..T, >= 0, shape (G, T), in reward.

    timed
        Whether a request also waits where a later start would be worth more beyond what it uses:
        it starts if its margin is the largest of all its starts to come, and not only positive.

    Raises
    ------
    InputError
        If the last period recedes, or prices are not those of T periods.
    """

    def __init__(
        self,
        name: str,
        options: PeriodOptions,
        batch: Floats,
        memory: Floats,
        *,
        random_ties: bool,
        timed: bool = False,
    ) -> None:
        if options.receding:
            raise InputError(f"{name}: its prices are those of periods 1..T; last_period = fixed")
        if batch.shape != memory.shape or batch.shape[1] != options.periods:
            raise InputError(
                f"{name}: prices have shape {batch.shape}, T is {options.periods} periods"
            )
        super().__init__(name, options, random_ties=random_ties)
        self.batch, self.memory, self.timed = batch, memory, timed

    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs of positive margin that fit, in decreasing order."""
        first = situation.period - 1
        batch, memory = self.batch[:, first:], self.memory[:, first:]
        margins = margins_of(situation.problem, batch, memory)
        if self.timed:
            later = best_later_margin(situation.problem, batch, memory)
            margins = np.where(margins >= (1 - ROUNDING) * later[:, None], margins, 0.0)
        return admit_by_score(situation.problem, margins, random_ties=self.random_ties, rng=rng)


def best_later_margin(problem: PeriodProblem, batch: Floats, memory: Floats) -> Floats:
    """Return the largest r - a'p of starting each request in a later period, at least 0.

    Parameters
    ----------
    problem
        The period k.
    batch, memory
        Prices of periods k..T, shape (G, T-k+1).

    Returns
    -------
    array
        Shape (J,): over all periods k+1..T and all workers; whether it would fit is not asked.
    """
    later = np.arange(1, problem.remaining)
    if not len(later) or not problem.waiting:
        return np.zeros(problem.waiting)
    weights = weight_rows(problem.weights, problem.slo_class, problem.waiting)
    worth = reward(
        PerTerm(*weights.T[:, :, None]),
        problem.decode_tokens[:, None],
        problem.arrival_period[:, None],
        start_period=problem.period + later,
        periods=problem.periods,
        t1=problem.t1,
        t2=problem.t2,
        batching=problem.batching,
        inclusive=problem.inclusive,
    )
    active = active_periods(problem.decode_tokens, problem.batching)
    end = np.minimum(later + active[:, None], problem.remaining)
    best = np.zeros(problem.waiting)
    for slot, token in zip(batch, memory, strict=True):
        aged = token * np.arange(problem.remaining)
        slots, tokens, moments = (
            np.concatenate([[0.0], np.cumsum(row)]) for row in (slot, token, aged)
        )
        held = problem.tokens_at_start[:, None] - later  # at period 0 of the moments
        cost = slots[end] - slots[later] + moments[end] - moments[later]
        cost += held * (tokens[end] - tokens[later])
        best = np.maximum(best, (worth - cost).max(axis=1))
    return best
