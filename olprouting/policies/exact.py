"""IO_H in the loop: every decision solved by an exact backend."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from olprouting.instances import Decision, Growth, SolveResult, StopReason

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.policies.policy import Pairs, Policy
    from olprouting.policies.view import View


@dataclass
class ExactPolicy:
    """The exact policy IO_H (balance paper, section 3).

    Each decision starts from another policy's assignment, so that a time limit leaves that or
    better, never nothing. `results` tells which decisions were proven.

    Parameters
    ----------
    horizon, gamma, growth
        The program's lookahead H, discount, and growth of admitted requests.
    solver, formulation, time_limit_s
        How each decision is solved.
    warm_start
        Policy whose assignment each solve starts from.
    maximal, respects_kv, needs_residents
        It admits all that slots allow, and weighs loads alone.
    results
        One solve result per decision so far, without its assignment.
    """

    horizon: int
    gamma: Fraction | float
    growth: Growth | str
    solver: str
    formulation: str | None
    time_limit_s: float | None
    warm_start: Policy
    name: str = "exact"
    maximal: bool = True
    respects_kv: bool = False
    needs_residents: bool = False
    results: list[SolveResult] = field(default_factory=list)

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs of the best assignment found, usually proven optimal."""
        from olprouting.exact import SolveOptions, solve

        start = tuple(sorted(self.warm_start.route(view, rng)))
        result = solve(
            decision_of(view, self.gamma, self.growth),
            solver=self.solver,
            formulation=self.formulation,
            options=SolveOptions(time_limit_s=self.time_limit_s, warm_start=start),
        )
        self.results.append(replace(result, assignment=None))
        if result.stop_reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return start if result.assignment is None else result.assignment


def decision_of(
    view: View, gamma: Fraction | float = 1, growth: Growth | str = Growth.GROWING
) -> Decision:
    """Return the decision that a view poses; expected loads are rounded to whole tokens."""
    return Decision(
        projected_load_tokens=np.rint(view.projected_load_tokens),
        free_slots=view.free_slots,
        waiting_prompt_tokens=view.waiting_prompt_tokens,
        gamma=gamma,  # type: ignore[arg-type]  # Decision reads it as a fraction
        growth=growth,  # type: ignore[arg-type]
    )
