"""Solving one decision to proven optimality: what lies around a backend's run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.exact import solvers
from olprouting.exact.backend import (
    Abilities,
    Backend,
    BeyondRangeError,
    Outcome,
    tolerances_prove,
)
from olprouting.exact.bounds import plain, rounded_down, scaled
from olprouting.exact.check import recheck
from olprouting.exact.reduction import Reduced, reduced
from olprouting.exact.trust import EXACT, without_doubtful_bound
from olprouting.instances import Assignment, Decision, DecisionResult, StopReason

if TYPE_CHECKING:
    from olprouting.exact.options import OnIncumbent, SolveOptions

IMPOSSIBLE = (StopReason.INFEASIBLE, StopReason.INFEASIBLE_OR_UNBOUNDED)
"""What no decision is: any U requests fit into the free slots, and no imbalance is below 0."""


def best_assignment(
    decision: Decision, solver: str, formulation: str | None, options: SolveOptions
) -> DecisionResult:
    """Find the assignment of least weighted imbalance; see `olprouting.exact.solve`."""
    backend = solvers.load(solver, Decision)
    formulation = _formulation(backend.abilities, formulation, solver)
    _refuse_beyond(backend.abilities, options, solver)
    start = _checked_start(decision, options, backend.abilities, solver)
    settled = _without_solver(decision, start)
    if settled is not None:
        return _result(decision, _Run(solver, formulation, settled), options, start)
    run = _run(reduced(decision), backend, _Asked(solver, formulation, options, start.assignment))
    return _result(decision, run, options, start)


@dataclass(frozen=True)
class _Asked:
    """What a solver was asked for."""

    solver: str
    formulation: str
    options: SolveOptions
    start: Assignment | None


@dataclass(frozen=True)
class _Run:
    """What a solver gave: its name, formulation, outcome, and the tokens per unit of its bound."""

    solver: str
    formulation: str
    outcome: Outcome[Assignment]
    unit: Fraction = Fraction(1)


def _run(small: Reduced, backend: Backend, asked: _Asked) -> _Run:
    """Run the solver asked for, or where its tolerances prove nothing, an exact one."""
    tell = asked.options.on_incumbent
    if tell is not None and small.unit != 1:
        options = replace(asked.options, on_incumbent=_in_tokens(tell, small.unit))
        asked = replace(asked, options=options)
    if tolerances_prove(backend.abilities.largest_request, small.decision):
        try:
            outcome = backend.run(small.decision, asked.formulation, asked.options, asked.start)
        except BeyondRangeError:
            if asked.solver in EXACT:
                raise
        else:
            outcome = without_doubtful_bound(outcome, asked.solver, asked.options.native)
            return _Run(asked.solver, asked.formulation, outcome, small.unit)
    return _run_exactly(small, replace(asked, options=replace(asked.options, native={})))


def _run_exactly(small: Reduced, asked: _Asked) -> _Run:
    """Run the first exact solver that can compute with the numbers of a decision."""
    decision = small.decision
    largest = max(decision.waiting_prompt_tokens.max(), decision.projected_load_tokens.max())
    beyond = f"{asked.solver} proves nothing with numbers of up to {largest:.3g}"
    refusals = []
    for name in EXACT:
        backend = solvers.load(name, Decision)
        formulation = backend.abilities.formulations[0]
        try:
            _refuse_beyond(backend.abilities, asked.options, name)
            outcome = backend.run(decision, formulation, asked.options, asked.start)
        except InputError as refusal:
            refusals.append(str(refusal))
        else:
            message = f"{beyond}, {name} solved it: {outcome.message}"
            return _Run(name, formulation, replace(outcome, message=message), small.unit)
    raise BeyondRangeError(f"{beyond}, nor can an exact solver compute with them: {refusals[-1]}")


def _in_tokens(tell: OnIncumbent, unit: Fraction) -> OnIncumbent:
    """Return the callback of a user for a solver that counts in units."""

    def tell_in_tokens(
        objective: int | float, bound: int | float | None, seconds: float
    ) -> bool | None:
        below = None if bound is None else rounded_down(scaled(_exact(bound), unit))
        return tell(plain(scaled(_exact(objective), unit)), below, seconds)

    return tell_in_tokens


def _exact(number: int | float | Fraction) -> int | Fraction:
    return number if isinstance(number, int) else Fraction(number)


@dataclass(frozen=True)
class _Start:
    """A warm start with its exact value, or why there is none."""

    assignment: Assignment | None = None
    value: int | Fraction | None = None
    report: str | None = None


def _formulation(abilities: Abilities, name: str | None, solver: str) -> str:
    if name is None:
        return abilities.formulations[0]
    if name not in abilities.formulations:
        raise unknown_name(f"formulation for solver {solver!r}", name, abilities.formulations)
    return name


def _refuse_beyond(abilities: Abilities, options: SolveOptions, solver: str) -> None:
    asked = {"on_incumbent": options.on_incumbent, "node_limit": options.node_limit}
    for name, value in asked.items():
        if value is not None and not getattr(abilities, name):
            raise InputError(f"solver {solver!r} has no {name}; highs has")


def _checked_start(
    decision: Decision, options: SolveOptions, abilities: Abilities, solver: str
) -> _Start:
    if options.warm_start is None:
        return _Start()
    try:
        value = recheck(decision, options.warm_start)
    except InputError as error:
        return _Start(report=f"rejected: {error}")
    report = "accepted"
    if not abilities.warm_start:
        report = f"kept as incumbent only: {solver} takes no start"
    return _Start(tuple(sorted(options.warm_start)), value, report)


def _without_solver(decision: Decision, start: _Start) -> Outcome[Assignment] | None:
    """Answer what needs no solver: nothing to decide, or a start of imbalance 0."""
    if start.value == 0:
        message = "the start attains the lower bound 0"
        return Outcome(StopReason.OPTIMAL, start.assignment, 0, 0.0, 0.0, message)
    forced = _forced(decision)
    if forced is None:
        return None
    value = recheck(decision, forced)
    return Outcome(StopReason.OPTIMAL, forced, value, 0.0, 0.0, "nothing to decide")


def _forced(decision: Decision) -> Assignment | None:
    """Return the assignment that is optimal whatever the loads, if there is one."""
    admissions = decision.admissions
    if admissions == 0:
        return ()
    open_workers = decision.free_slots.nonzero()[0].tolist()
    sizes = decision.waiting_prompt_tokens
    indifferent = admissions == decision.waiting or (sizes == sizes[0]).all()
    if len(open_workers) == 1 and indifferent:
        return tuple((request, open_workers[0]) for request in range(admissions))
    return None


def _result(decision: Decision, run: _Run, options: SolveOptions, start: _Start) -> DecisionResult:
    outcome = run.outcome
    stop, faults = outcome.stop_reason, []
    assignment, value = start.assignment, start.value
    if stop in IMPOSSIBLE:
        faults.append(f"{run.solver} calls it {stop}, which no decision is")
    if outcome.solution is not None:
        try:
            found = recheck(decision, outcome.solution)
        except InputError as error:
            faults.append(f"{run.solver} returned an assignment that is none: {error}")
        else:
            if value is None or found <= value:
                assignment, value = outcome.solution, found
    bound = None if outcome.bound is None else scaled(_exact(outcome.bound), run.unit)
    if bound is not None and value is not None and bound > value:
        faults.append(
            f"{run.solver} claims a bound of {rounded_down(bound)}, but a rechecked assignment "
            f"has the value {plain(value)}"
        )
    if faults:
        stop, bound = StopReason.ERROR, None
    if bound is None and value == 0:
        bound = 0  # no imbalance is negative: proven, even if the solver reports no bound
    if stop in (StopReason.OPTIMAL, StopReason.OPTIMAL_WITHIN_GAP):
        closed = value is not None and value == bound
        stop = StopReason.OPTIMAL if closed else StopReason.OPTIMAL_WITHIN_GAP
    return DecisionResult(
        solver=run.solver,
        formulation=run.formulation,
        stop_reason=stop,
        solution=assignment,
        value=None if value is None else plain(value),
        bound=None if bound is None else rounded_down(bound),
        wall_s=outcome.wall_s,
        build_s=outcome.build_s,
        limit_s=options.time_limit_s,
        threads=options.threads,
        seed=options.seed,
        warm_start=start.report,
        message="; ".join([outcome.message, *faults]),
    )
