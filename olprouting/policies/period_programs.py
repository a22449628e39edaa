"""Policies that solve each period's program by itself: the LP, rounded, and the integer program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact import solve
from olprouting.instances import StopReason
from olprouting.policies.period_policy import PeriodPolicy, admit_by_score

if TYPE_CHECKING:
    from olprouting.exact import SolveOptions
    from olprouting.instances import PeriodProblem, PeriodResult
    from olprouting.options import PeriodOptions
    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View

SHARE_TOLERANCE = 1e-9
"""Smaller shares of a fractional solution count as 0."""


class PeriodProgramPolicy(PeriodPolicy):
    """The period's program solved exactly, without looking at what is still to come.

    Parameters
    ----------
    name, options, random_ties
        As for `PeriodPolicy`.
    formulation
        ``"lp"``, whose fractional solution is rounded (`round_shares`), or ``"integer"``.
    solver, solve_options
        How programs are solved.

    Attributes
    ----------
    results
        How the solves of the run went: (status, value, bound) each.
    """

    def __init__(
        self,
        name: str,
        options: PeriodOptions,
        *,
        random_ties: bool,
        formulation: str,
        solver: str,
        solve_options: SolveOptions,
    ) -> None:
        super().__init__(name, options, random_ties=random_ties)
        self.formulation, self.solver, self.solve_options = formulation, solver, solve_options
        self.results: list[tuple[str, float | None, float | None]] = []

    def begin_run(self) -> None:
        """Forget earlier results."""
        super().begin_run()
        self.results = []

    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the starts of the best solution found; none where a limit left none."""
        problem = situation.problem
        result = solve(
            problem,
            solver=self.solver,
            formulation=self.formulation,
            test_uniqueness=False,
            options=self.solve_options,
        )
        self.results.append((result.status, result.value, result.bound))
        if result.stop_reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return round_shares(problem, result, random_ties=self.random_ties, rng=rng)


def round_shares(
    problem: PeriodProblem, result: PeriodResult, *, random_ties: bool, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Return feasible whole starts near a solution's shares.

    Pairs with a share are admitted by decreasing share as far as they fit, a request once. Whole
    solutions stay as they are.
    """
    if result.x is None:
        return []
    shares = np.where(result.x > SHARE_TOLERANCE, result.x, 0.0)
    return admit_by_score(problem, shares, random_ties=random_ties, rng=rng)
