"""IO_H in the loop: every decision solved by an exact backend."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.instances import Decision, DecisionResult, Growth, StopReason
from olprouting.instances._checks import token_vector
from olprouting.policies.view import View

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    from olprouting.policies.policy import Pairs, Policy


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
    results: list[DecisionResult] = field(default_factory=list)

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
        self.results.append(replace(result, solution=None))
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


def view_of(decision: Decision, active_requests: npt.ArrayLike | None = None) -> View:
    """Return a decision as a routing policy sees it, to ask the policy what it would do.

    Parameters
    ----------
    decision
        The decision; its waiting requests become rows 0, 1, ... of a trace.
    active_requests
        Requests in service of each worker, shape (G,), which a decision does not know; only
        policies that count requests look at them. None: 0 everywhere.

    Raises
    ------
    InputError
        If prompt sizes are not whole, as those of a trace are, or counts do not fit.
    """
    if decision.waiting_prompt_tokens.dtype.kind != "i":
        raise InputError("waiting_prompt_tokens must be whole for a routing policy")
    counts = np.zeros(decision.workers) if active_requests is None else active_requests
    active = token_vector("active_requests", counts, at_least=0, length=decision.workers)
    return View(
        projected_load_tokens=decision.projected_load_tokens.astype(np.float64),
        active_requests=active.copy(),  # compiled policies take writable arrays
        free_slots=decision.free_slots.copy(),
        waiting_prompt_tokens=decision.waiting_prompt_tokens.astype(np.int64),
        waiting_requests=np.arange(decision.waiting),
        admissions=decision.admissions,
        iteration=1,
    )
