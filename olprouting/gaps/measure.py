"""The gap of one decision: the policy's value against the proven optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact import SolveOptions, objective, solve
from olprouting.instances import (
    PROOF_TOLERANCE_TOKENS,
    Growth,
    StopReason,
    absolute_gap,
    relative_gap,
)
from olprouting.policies import decision_of

if TYPE_CHECKING:
    from olprouting.gaps.sampling import SampledDecision
    from olprouting.instances import Assignment, Decision, DecisionResult
    from olprouting.policies import Policy


JSQ_DRAWS = 20
"""How often the baseline breaks its ties anew, for its average value on a state."""


@dataclass(frozen=True)
class GapRecord:
    """One decision of one policy against the optimum. Values in tokens.

    Attributes
    ----------
    policy, iteration, horizon
        Whose decision, when, and the window H it is judged by.
    waiting, admissions, free_slots
        Size of the decision.
    value_tokens
        Weighted imbalance the policy's assignment leaves.
    jsq_value_tokens
        The same for JSQ on the same state, on average over its random tie-breaks.
    best_tokens, bound_tokens
        Best assignment found and proven lower bound; equal where proven.
    status
        How the solver ended.
    proven
        Whether best and bound agree (`Result.proven`).
    gap_tokens, gap, gap_of_load
        What the policy loses (at most, where not proven): value minus best where proven, else
        minus bound; relative to the value; and relative to the weighted G x heaviest load.
    optimal
        Whether the policy's assignment is proven optimal.
    true_gap_tokens, forecast_error_tokens
        By the program that knows all lengths: what the policy loses against its optimum, and what
        the exact policy would lose by trusting the forecast (its optimum found by the solver, of
        several perhaps). The difference, of either sign, is the heuristic's own. None unless both
        optima are proven, or where nothing is forecast (H = 0, or the oracle itself).
    solve_s, build_s
        Seconds of the exact solve and of building its model.
    """

    policy: str
    iteration: int
    horizon: int
    waiting: int
    admissions: int
    free_slots: int
    value_tokens: float
    jsq_value_tokens: float
    best_tokens: float
    bound_tokens: float
    status: str
    proven: bool
    gap_tokens: float
    gap: float
    gap_of_load: float
    optimal: bool
    true_gap_tokens: float | None
    forecast_error_tokens: float | None
    solve_s: float
    build_s: float


@dataclass(frozen=True, eq=False)
class JudgedDecision:
    """A decision that was judged, with what its record follows from.

    Attributes
    ----------
    record
        Value, optimum and gap.
    decision, assignment
        What was to be decided, and what the policy chose.
    result
        What the solver returned.
    """

    record: GapRecord
    decision: Decision
    assignment: Assignment
    result: DecisionResult

    def choice(self) -> dict[str, Any]:
        """Return the policy's part as plain JSON types: ``choice`` of a certificate."""
        return {
            "policy": self.record.policy,
            "iteration": self.record.iteration,
            "assignment": [list(pair) for pair in self.assignment],
            "value_tokens": self.record.value_tokens,
            "gap_tokens": self.record.gap_tokens,
        }


@dataclass(frozen=True)
class Judge:
    """How decisions are judged.

    Parameters
    ----------
    jsq
        The baseline of the share captured.
    gamma, growth
        Discount and growth of the horizon program (at H = 0 the discount is 1).
    solver, formulation, options
        How to solve; each solve starts from the policy's own assignment.
    seed
        Seed of the baseline's tie-breaks.
    """

    jsq: Policy
    gamma: float
    growth: Growth | str
    solver: str
    formulation: str | None
    options: SolveOptions
    seed: int

    def measure(self, policy: str, sampled: SampledDecision, lookahead: int) -> JudgedDecision:
        """Compare what `policy` chose with the proven optimum of the same decision.

        Parameters
        ----------
        policy
            Name of the policy that chose.
        sampled
            The state and the choice.
        lookahead
            Window H by which to judge, at most that of the sampled view.

        Returns
        -------
        JudgedDecision
            All values recomputed exactly. The bound holds whether or not the solve finished.

        Raises
        ------
        KeyboardInterrupt
            If the solve was interrupted.
        """
        decision = self._decision(sampled, lookahead)
        value = objective(decision, sampled.assignment)
        result = self._solve(decision, sampled.assignment)
        best = value if result.value is None else result.value
        bound = 0 if result.bound is None else result.bound  # no imbalance is negative
        proven = result.proven
        reference = best if proven else bound
        gap_tokens = absolute_gap(value, reference) or 0.0
        true_gap, forecast_error = self._in_truth(decision, sampled, result)
        record = GapRecord(
            policy=policy,
            iteration=sampled.view.iteration,
            horizon=decision.horizon,
            waiting=decision.waiting,
            admissions=decision.admissions,
            free_slots=int(decision.free_slots.sum()),
            value_tokens=float(value),
            jsq_value_tokens=self._jsq_value(decision, sampled),
            best_tokens=float(best),
            bound_tokens=float(bound),
            status=result.status,
            proven=proven,
            gap_tokens=gap_tokens,
            gap=relative_gap(value, reference) or 0.0,
            gap_of_load=gap_tokens / weighted_peak(decision, sampled.assignment),
            optimal=proven and gap_tokens <= PROOF_TOLERANCE_TOKENS,
            true_gap_tokens=true_gap,
            forecast_error_tokens=forecast_error,
            solve_s=result.wall_s,
            build_s=result.build_s,
        )
        return JudgedDecision(record, decision, sampled.assignment, result)

    def _solve(self, decision: Decision, start: Assignment) -> DecisionResult:
        result = solve(
            decision,
            solver=self.solver,
            formulation=self.formulation,
            options=replace(self.options, warm_start=start),
        )
        if result.stop_reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def _in_truth(
        self, decision: Decision, sampled: SampledDecision, result: DecisionResult
    ) -> tuple[float | None, float | None]:
        """Return true gap and forecast error, or None twice; `result` is that of `decision`."""
        loads = sampled.true_load_tokens
        if loads is None or decision.horizon == 0 or not result.proven:
            return None, None
        truth = decision.replace(projected_load_tokens=loads)
        trusting = result.assignment
        assert trusting is not None  # proven
        best = self._solve(truth, trusting)
        if not best.proven:
            return None, None
        optimum = best.value
        return (
            absolute_gap(objective(truth, sampled.assignment), optimum),
            absolute_gap(objective(truth, trusting), optimum),
        )

    def _decision(self, sampled: SampledDecision, lookahead: int) -> Decision:
        decision = decision_of(sampled.view, self.gamma, self.growth)
        return decision if lookahead else decision.myopic()

    def _jsq_value(self, decision: Decision, sampled: SampledDecision) -> float:
        rng = np.random.default_rng([self.seed, sampled.view.iteration])
        myopic = np.ascontiguousarray(sampled.view.projected_load_tokens[:, :1])
        view = sampled.view._replace(projected_load_tokens=myopic, workers=None)
        draws = (tuple(self.jsq.route(view, rng)) for _ in range(JSQ_DRAWS))
        return float(sum(objective(decision, pairs) for pairs in draws) / JSQ_DRAWS)


def weighted_peak(decision: Decision, assignment: Assignment) -> float:
    """Return ``G * sum_h gamma^h * max_g Lambda[g,h]`` of an assignment, in tokens."""
    load = decision.projected_load_tokens.astype(np.float64)
    growing = decision.growth is Growth.GROWING
    for request, worker in assignment:
        load[worker] += decision.waiting_prompt_tokens[request]
        load[worker] += np.arange(decision.horizon + 1) if growing else 0
    weights = float(decision.gamma) ** np.arange(decision.horizon + 1)
    return float(decision.workers * weights @ load.max(axis=0))
