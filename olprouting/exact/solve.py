"""Solving one decision to proven optimality, with any solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.exact import solvers
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.check import recheck
from olprouting.exact.incumbents import plain
from olprouting.exact.options import SolveOptions
from olprouting.instances import Decision, SolveResult, StopReason

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.instances.solve_result import Assignment


def solve(
    decision: Decision,
    *,
    solver: str = "highs",
    formulation: str | None = None,
    options: SolveOptions | None = None,
) -> SolveResult:
    """Find the assignment of least weighted imbalance (balance paper, section 3).

    Parameters
    ----------
    decision
        What is to be decided.
    solver
        A name of `solver_names`, or ``"pyomo:<name>"`` for any solver that Pyomo knows.
    formulation
        ``"size-class"`` or ``"assignment"``; None is the solver's default.
    options
        How to solve; None is ``SolveOptions()``: to optimality, without limits.

    Returns
    -------
    SolveResult
        Why the solver stopped, and what it has. The assignment has been rechecked and its
        objective (tokens) recomputed exactly. Reaching a limit raises nothing.

    Raises
    ------
    InputError
        If a name is unknown, or the solver cannot do what the options ask for.
    SolverUnavailableError
        If the solver is not installed or not licensed.
    """
    options = options or SolveOptions()
    backend = solvers.load(solver)
    formulation = _formulation(backend.abilities, formulation, solver)
    _refuse_beyond(backend.abilities, options, solver)
    start = _checked_start(decision, options, backend.abilities, solver)
    outcome = _without_solver(decision, start) or backend.run(
        decision, formulation, options, start.assignment
    )
    return _result(decision, solver, formulation, options, start, outcome)


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


def _without_solver(decision: Decision, start: _Start) -> Outcome | None:
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


def _result(
    decision: Decision,
    solver: str,
    formulation: str,
    options: SolveOptions,
    start: _Start,
    outcome: Outcome,
) -> SolveResult:
    stop, message, bound = outcome.stop_reason, outcome.message, outcome.bound
    assignment, value = start.assignment, start.value
    if outcome.assignment is not None:
        try:
            found = recheck(decision, outcome.assignment)
        except InputError as error:
            stop, bound = StopReason.ERROR, None
            message = f"{message}; {solver} returned an assignment that is none: {error}"
        else:
            if value is None or found <= value:
                assignment, value = outcome.assignment, found
    if bound is not None and value is not None and bound > value:
        message = f"{message}; bound {float(bound)!r} overshot the objective and was lowered to it"
        bound = value
    if bound is None and value == 0:
        bound = 0  # no imbalance is negative: proven, even if the solver reports no bound
    if stop in (StopReason.OPTIMAL, StopReason.OPTIMAL_WITHIN_GAP):
        closed = value is not None and value == bound
        stop = StopReason.OPTIMAL if closed else StopReason.OPTIMAL_WITHIN_GAP
    return SolveResult(
        solver=solver,
        formulation=formulation,
        stop_reason=stop,
        assignment=assignment,
        objective=None if value is None else plain(value),
        bound=None if bound is None else plain(bound),
        wall_s=outcome.wall_s,
        build_s=outcome.build_s,
        limit_s=options.time_limit_s,
        threads=options.threads,
        seed=options.seed,
        warm_start=start.report,
        message=message,
    )
