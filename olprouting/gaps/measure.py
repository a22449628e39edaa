"""The gap of one decision: the value of each policy's answer against the proven optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact import SolveOptions, objective, recheck, solve
from olprouting.instances import PROOF_TOLERANCE_TOKENS, Growth, StopReason
from olprouting.policies import decision_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        Whose decision, when, and the window H it is judged by (of which less is left where a
        forecast is renewed every H iterations).
    waiting, admissions, free_slots
        Size of the decision.
    value_tokens
        Weighted imbalance the policy's assignment leaves; of JSQ as `jsq_value_tokens`.
    jsq_value_tokens
        The same for JSQ on the same state, on average over its random tie-breaks.
    best_tokens, bound_tokens
        Best assignment found and proven lower bound; equal where proven.
    status
        How the solver ended.
    proven
        Whether best and bound agree (`Result.proven`).
    found_tokens
        What the policy leaves above the best assignment found: it loses at least so much.
    unproven_tokens
        What the best found is above the bound, 0 where proven: it may lose so much more.
    gap_tokens
        The sum of both: it loses at most so much.
    gap_of_load
        That over the weighted G x heaviest load, 0..1.
    optimal
        Whether what the policy leaves is proven optimal.
    true_gap_tokens, forecast_error_tokens
        By the program that knows all lengths: what the policy loses against its optimum, and what
        the exact policy would lose by trusting the forecast (its optimum found by the solver, of
        several perhaps). The difference, of either sign, is the heuristic's own. None unless both
        optima are proven, or where nothing is forecast (H = 0, or the oracle itself).
    solve_s, build_s
        Seconds of the exact solve, one for all policies, and of building its model.
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
    found_tokens: float
    unproven_tokens: float
    gap_tokens: float
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
    decision, assignment, value_tokens
        What was to be decided, what the policy chose, and what that leaves.
    result
        What the solver returned.
    """

    record: GapRecord
    decision: Decision
    assignment: Assignment
    value_tokens: float
    result: DecisionResult

    def choice(self) -> dict[str, Any]:
        """Return the policy's part as plain JSON types: one of the ``choices`` of a certificate."""
        at_least = self.record.best_tokens if self.record.proven else self.record.bound_tokens
        return {
            "policy": self.record.policy,
            "iteration": self.record.iteration,
            "assignment": [list(pair) for pair in self.assignment],
            "value_tokens": self.value_tokens,
            "gap_tokens": self.value_tokens - at_least,
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
        How to solve; each solve starts from the best answer of a policy.
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

    def measure(
        self, state: SampledDecision, answers: Mapping[str, Assignment], lookahead: int
    ) -> list[JudgedDecision]:
        """Compare what policies chose on a state with its optimum, which is solved for once.

        Parameters
        ----------
        state
            The state.
        answers
            What each policy chose, by its name; at least one.
        lookahead
            Window H by which to judge, at most that of the sampled view.

        Returns
        -------
        list of JudgedDecision
            One per answer. All values are recomputed exactly. The bound holds whether or not the
            solve finished.

        Raises
        ------
        KeyboardInterrupt
            If the solve was interrupted.
        InputError
            If an answer is no admissible assignment.
        """
        decision = self._decision(state, lookahead)
        values = {name: recheck(decision, answer) for name, answer in answers.items()}
        start = answers[min(values, key=values.__getitem__)]
        result = self._solve(decision, start)
        truth = _Truth.of(self, state, decision, result)
        draws = self._jsq_draws(state)
        jsq_value = _mean_value(decision, draws)
        judged = []
        for name, answer in answers.items():
            own = draws if name == self.jsq.name else (answer,)
            record = self._record(name, lookahead, state, decision, own, jsq_value, result, truth)
            judged.append(JudgedDecision(record, decision, answer, float(values[name]), result))
        return judged

    def _record(
        self,
        policy: str,
        lookahead: int,
        state: SampledDecision,
        decision: Decision,
        answers: tuple[Assignment, ...],
        jsq_value: float,
        result: DecisionResult,
        truth: _Truth | None,
    ) -> GapRecord:
        value = _mean_value(decision, answers)
        best = value if result.value is None else float(result.value)
        bound = 0.0 if result.bound is None else float(result.bound)  # no imbalance is negative
        found = max(value - best, 0.0)
        unproven = 0.0 if result.proven else max(best - bound, 0.0)
        return GapRecord(
            policy=policy,
            iteration=state.view.iteration,
            horizon=lookahead,
            waiting=decision.waiting,
            admissions=decision.admissions,
            free_slots=int(decision.free_slots.sum()),
            value_tokens=value,
            jsq_value_tokens=jsq_value,
            best_tokens=best,
            bound_tokens=bound,
            status=result.status,
            proven=result.proven,
            found_tokens=found,
            unproven_tokens=unproven,
            gap_tokens=found + unproven,
            gap_of_load=(found + unproven) / weighted_peak(decision, answers[0]),
            optimal=result.proven and found <= PROOF_TOLERANCE_TOKENS,
            true_gap_tokens=None if truth is None else truth.gap_of(answers),
            forecast_error_tokens=None if truth is None else truth.forecast_error_tokens,
            solve_s=result.wall_s,
            build_s=result.build_s,
        )

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

    def _decision(self, state: SampledDecision, lookahead: int) -> Decision:
        loads = np.ascontiguousarray(state.view.projected_load_tokens[:, : lookahead + 1])
        view = state.view._replace(projected_load_tokens=loads)
        return decision_of(view, self.gamma if lookahead else 1, self.growth)

    def _jsq_draws(self, state: SampledDecision) -> tuple[Assignment, ...]:
        rng = np.random.default_rng([self.seed, state.view.iteration])
        myopic = np.ascontiguousarray(state.view.projected_load_tokens[:, :1])
        view = state.view._replace(projected_load_tokens=myopic, workers=None)
        return tuple(tuple(self.jsq.route(view, rng)) for _ in range(JSQ_DRAWS))


def _mean_value(decision: Decision, answers: tuple[Assignment, ...]) -> float:
    return float(sum(objective(decision, answer) for answer in answers) / len(answers))


@dataclass(frozen=True, eq=False)
class _Truth:
    """A decision as it is when all lengths are known, and its proven optimum."""

    decision: Decision
    optimum_tokens: float
    forecast_error_tokens: float

    @classmethod
    def of(
        cls, judge: Judge, state: SampledDecision, decision: Decision, result: DecisionResult
    ) -> _Truth | None:
        """Solve it; None where nothing is forecast, or an optimum is not proven."""
        loads = state.true_load_tokens
        if loads is None or decision.horizon == 0 or not result.proven:
            return None
        seen = np.ascontiguousarray(loads[:, : decision.horizon + 1])
        truth = decision.replace(projected_load_tokens=seen)
        trusting = result.assignment
        assert trusting is not None  # proven
        best = judge._solve(truth, trusting)
        if not best.proven:
            return None
        assert best.value is not None
        optimum = float(best.value)
        return cls(truth, optimum, max(float(objective(truth, trusting)) - optimum, 0.0))

    def gap_of(self, answers: tuple[Assignment, ...]) -> float:
        return max(_mean_value(self.decision, answers) - self.optimum_tokens, 0.0)


def weighted_peak(decision: Decision, assignment: Assignment) -> float:
    """Return ``G * sum_h gamma^h * max_g Lambda[g,h]`` of an assignment, in tokens."""
    load = decision.projected_load_tokens.astype(np.float64)
    growing = decision.growth is Growth.GROWING
    for request, worker in assignment:
        load[worker] += decision.waiting_prompt_tokens[request]
        load[worker] += np.arange(decision.horizon + 1) if growing else 0
    weights = float(decision.gamma) ** np.arange(decision.horizon + 1)
    return float(decision.workers * weights @ load.max(axis=0))
