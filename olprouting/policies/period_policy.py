"""What all policies that plan by periods share: the protocol, the period's program, and its end."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from olprouting.policies.period_situation import Bookings, period_of, situation_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.instances import PeriodProblem
    from olprouting.options import PeriodOptions
    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View

    Floats = npt.NDArray[np.float64]


class PastLastPeriodWarning(UserWarning):
    """The run goes on past T: nobody is admitted any more."""


class PeriodPolicy(ABC):
    """A policy that looks at the periods to come on the real workers, and may let requests wait.

    Parameters
    ----------
    name
        What reports call it.
    options
        The program of a period.
    random_ties
        Whether ties are broken at random rather than by index.
    """

    horizon = 0
    maximal = False
    respects_kv = True
    needs_residents = True

    def __init__(self, name: str, options: PeriodOptions, *, random_ties: bool) -> None:
        self.name = name
        self.options = options
        self.random_ties = random_ties
        self._iteration = 0
        self._warned = False
        self._bookings = Bookings()

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs to start; none past the last period, with a warning.

        Notes
        -----
        An iteration that is not later than the last one begins a new run.
        """
        if view.iteration <= self._iteration:
            self.begin_run()
        self._iteration = view.iteration
        situation = situation_of(view, self.options, self._bookings)
        if situation is None:
            self._warn(period_of(view, self.options.period_s), len(view.waiting_requests))
            return ()
        pairs = self.choose(situation, view, rng)
        if self.options.open_loop:
            self._bookings.add(situation, view, pairs)
        return pairs

    @abstractmethod
    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs to start in this situation."""

    def begin_run(self) -> None:
        """Forget what an earlier run left."""
        self._warned = False
        self._bookings = Bookings()

    def _warn(self, period: int, waiting: int) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"{self.name}: period {period} is past the last one, T = {self.options.periods}; "
            f"nobody is admitted any more and {waiting} requests wait; choose a larger T or a "
            "receding horizon",
            PastLastPeriodWarning,
            stacklevel=3,
        )


def admit_by_score(
    problem: PeriodProblem, score: Floats, *, random_ties: bool, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return (request, worker) pairs of positive score in decreasing order, if they fit.

    Parameters
    ----------
    problem
        The period.
    score
        Shape (J, G): margins, or the shares of a fractional solution.
    random_ties, rng
        How ties are broken.

    Returns
    -------
    list
        Feasible starts in all remaining periods; pairs that do not fit are skipped.
    """
    from olprouting.prices import greedy_admission

    request, worker = greedy_admission(
        score,
        problem.active_remaining,
        problem.tokens_at_start,
        problem.slots,
        problem.kv_tokens,
        ties="random" if random_ties else "index",
        rng=rng,
    )
    return list(zip(request.tolist(), worker.tolist(), strict=True))
