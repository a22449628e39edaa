"""Backend CP-SAT: the program in exact integers, or a slightly smaller one in integers."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

from olprouting.errors import InputError, unknown_name
from olprouting.exact.backend import Abilities, BeyondRangeError, Outcome
from olprouting.exact.check import ExactData, discount_numerators, exact_data
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.incumbents import IncumbentWatch
from olprouting.exact.running import Interruptible
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from olprouting.exact.formulations import DecisionTable
    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Assignment

LARGEST = 2**62
"""CP-SAT wants every sum within 64-bit integers; one bit is left to spare."""

LEAST_BITS = 16
"""Weights rounded to fewer binary places say too little."""

STOP_REASONS = {
    cp_model.OPTIMAL: StopReason.OPTIMAL,
    cp_model.INFEASIBLE: StopReason.INFEASIBLE,
    cp_model.MODEL_INVALID: StopReason.ERROR,
    # stopped early, with and without a solution
    cp_model.FEASIBLE: StopReason.TIME_LIMIT,
    cp_model.UNKNOWN: StopReason.TIME_LIMIT,
}


class CpSat:
    """CP-SAT through OR-Tools."""

    abilities = Abilities(tuple(FORMULATIONS), warm_start=True, on_incumbent=True)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome[Assignment]:
        """Solve `decision`; see `Backend`."""
        began = time.perf_counter()
        data, weights, scale = _scaled(decision)
        program = FORMULATIONS[formulation](decision)
        built = program.cpsat_model(data, weights)
        table = [variable for row in built.table for variable in row]
        if start is not None:
            program.hint(built, data, start)
        solver = cp_model.CpSolver()
        _set_options(solver, options)
        watch = IncumbentWatch(decision, options)
        unit = scale * data.unit
        callback = _Callback(watch, program, table, unit)
        build_s = time.perf_counter() - began
        run = Interruptible(
            lambda: solver.solve(built.model, callback if options.on_incumbent else None),
            solver.stop_search,
        )
        status = run.result()
        wall_s = time.perf_counter() - began - build_s
        watch.raise_error()
        stop = _stop_reason(status, options, interrupted=run.interrupted or watch.stop)
        assignment = bound = None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            assignment = program.solution(np.array([solver.value(variable) for variable in table]))
            # the 64-bit bound, not the double beside it, which is inexact past 2^53
            proven = solver.response_proto.inner_objective_lower_bound + built.constant
            exact = max(Fraction(proven, unit), Fraction(0))
            bound = int(exact) if decision.integral else exact
        return Outcome(stop, assignment, bound, wall_s, build_s, solver.status_name(status))


def _stop_reason(
    status: cp_model.CpSolverStatus, options: SolveOptions, *, interrupted: bool
) -> StopReason:
    stop = STOP_REASONS[status]
    if stop is not StopReason.TIME_LIMIT:
        return stop
    if interrupted:
        return StopReason.INTERRUPTED
    return stop if options.time_limit_s is not None else StopReason.OTHER_LIMIT


class _Callback(cp_model.CpSolverSolutionCallback):
    """Hands each solution to the watch, and stops when it says so."""

    def __init__(
        self,
        watch: IncumbentWatch,
        program: DecisionTable,
        table: list[cp_model.IntVar],
        unit: int,
    ) -> None:
        super().__init__()
        self._watch, self._program, self._table, self._unit = watch, program, table, unit

    def on_solution_callback(self) -> None:
        """Take one solution."""
        counts = np.array([self.value(variable) for variable in self._table])
        assignment = self._program.solution(counts)
        bound = self._program.bound(self.best_objective_bound / self._unit)
        self._watch.report(assignment, bound, self.wall_time)
        if self._watch.stop:
            self.stop_search()


def _scaled(decision: Decision) -> tuple[ExactData, list[int], int]:
    """Return the token data and weights as integers, and the scale of the weights.

    Where the weights are too long they are rounded down to multiples of a power of two. No
    imbalance is negative, so that a value with smaller weights is a lower bound on the true one.

    Raises
    ------
    BeyondRangeError
        If a sum could leave 64-bit integers even so.
    """
    data = exact_data(decision)
    weights, scale = discount_numerators(decision.gamma, decision.horizon)
    highest = int(data.loads.max()) + sum(data.sizes.tolist())
    highest += data.unit * decision.waiting * decision.horizon
    room = LARGEST // (2 * decision.workers * highest + 1)  # for the sum of the weights
    if sum(weights) <= room:
        return data, list(weights), scale
    bits = (room * scale // sum(weights)).bit_length() - 1
    if decision.integral or bits < LEAST_BITS:
        raise BeyondRangeError(
            f"cpsat: scaled to integers, gamma = {decision.gamma} with horizon "
            f"{decision.horizon} and a token unit of 1/{data.unit} leaves 64-bit arithmetic; "
            "use highs, a shorter horizon or a simpler gamma"
        )
    return data, [(weight << bits) // scale for weight in weights], 1 << bits


def _set_options(solver: cp_model.CpSolver, options: SolveOptions) -> None:
    parameters = solver.parameters
    parameters.num_workers = options.threads
    parameters.random_seed = options.seed
    parameters.relative_gap_limit = options.relative_gap
    parameters.log_search_progress = options.verbose
    parameters.catch_sigint_signal = False  # Python handles Ctrl-C, see Interruptible
    if options.time_limit_s is not None and options.deterministic:
        parameters.max_deterministic_time = options.time_limit_s
    elif options.time_limit_s is not None:
        parameters.max_time_in_seconds = options.time_limit_s
    for name, value in options.native.items():
        _set_native(parameters, name, value)


def _set_native(parameters: Any, name: str, value: Any) -> None:
    kind = type(parameters)
    known = [field for field in dir(kind) if isinstance(getattr(kind, field), property)]
    if name not in known:
        raise unknown_name("cpsat option", name, known)
    try:
        setattr(parameters, name, value)
    except TypeError:
        present = type(getattr(parameters, name)).__name__
        raise InputError(f"cpsat option {name} = {value!r}: expected a {present}") from None
