"""Backend for any solver that Pyomo knows: the Pyomo models through its SolverFactory."""

from __future__ import annotations

import logging
import math
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError
from pyomo.opt import TerminationCondition
from pyomo.solvers.plugins.solvers.direct_or_persistent_solver import DirectOrPersistentSolver
from pyomo.solvers.plugins.solvers.persistent_solver import PersistentSolver

from olprouting.errors import InputError, SolverUnavailableError, unknown_name
from olprouting.exact.backend import Abilities, Outcome, not_started
from olprouting.exact.formulations import FORMULATIONS, formulated
from olprouting.exact.options import SolveOptions
from olprouting.exact.running import fresh_thread_pool, silence
from olprouting.instances import Decision, Sense, StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.exact.formulations import Formulation
    from olprouting.exact.period.columns import PeriodColumns

INTEGRALITY_TOLERANCE = 1e-4
"""A count farther than this from an integer means that the solver did not keep it integer."""

_T = TerminationCondition
STOP_REASONS = {
    _T.optimal: StopReason.OPTIMAL,
    _T.globallyOptimal: StopReason.OPTIMAL,
    _T.maxTimeLimit: StopReason.TIME_LIMIT,
    _T.maxIterations: StopReason.OTHER_LIMIT,
    _T.maxEvaluations: StopReason.OTHER_LIMIT,
    _T.minFunctionValue: StopReason.OTHER_LIMIT,
    _T.resourceInterrupt: StopReason.OTHER_LIMIT,
    _T.userInterrupt: StopReason.INTERRUPTED,
    _T.infeasible: StopReason.INFEASIBLE,
    _T.infeasibleOrUnbounded: StopReason.INFEASIBLE_OR_UNBOUNDED,
    # imbalances have the bound 0, and rewards one by capacity: an unbounded model is a wrong one
    _T.unbounded: StopReason.ERROR,
    # locally optimal: found by a solver that does not branch
    _T.locallyOptimal: StopReason.ERROR,
    _T.feasible: StopReason.ERROR,
    _T.minStepLength: StopReason.ERROR,
    _T.noSolution: StopReason.ERROR,
    _T.other: StopReason.ERROR,
    _T.unknown: StopReason.ERROR,
    _T.invalidProblem: StopReason.ERROR,
    _T.solverFailure: StopReason.ERROR,
    _T.internalSolverError: StopReason.ERROR,
    _T.intermediateNonInteger: StopReason.ERROR,
    _T.licensingProblems: StopReason.ERROR,
    _T.error: StopReason.ERROR,
}

UNTOLD = {_T.feasible, _T.noSolution, _T.other, _T.unknown}
"""Conditions that some solvers (GLPK) end with at a time limit."""

_GUROBI = {"relative_gap": "MIPGap", "threads": "Threads", "seed": "Seed"}
_GUROBI_DIRECT = {**_GUROBI, "time_limit_s": "TimeLimit"}
_CBC = {"relative_gap": "ratioGap", "threads": "threads", "seed": "randomCbcSeed"}
_HIGHS = {"relative_gap": "mip_rel_gap", "threads": "threads", "seed": "random_seed"}
NATIVE_NAMES = {
    "appsi_cbc": _CBC,
    "appsi_gurobi": _GUROBI,
    "appsi_highs": _HIGHS,
    "cbc": _CBC,
    "glpk": {"relative_gap": "mipgap"},
    "gurobi": _GUROBI_DIRECT,
    "gurobi_direct": _GUROBI_DIRECT,
    "gurobi_persistent": _GUROBI_DIRECT,
    "highs": _HIGHS,
    "scip": {"relative_gap": "limits/gap", "seed": "randomization/randomseedshift"},
}
"""What solvers call the neutral options. Others get them through ``SolveOptions.native``.

Pyomo hands on a time limit itself, except to its older direct interfaces, which ignore it."""

LARGEST_REQUESTS = {"glpk": 1e4}
LARGEST_REQUEST = 1e5
"""Counts may miss a whole number by 1e-5 (GLPK, Gurobi) or 1e-6. Of 500 random decisions of each of
these sizes all were solved by CBC, Gurobi, HiGHS and SCIP; some of three times the size were not,
nor some of 1e5 by GLPK."""

RELATIVE_TOLERANCES = {"glpk": 1e-6}
"""By how much of its value a solver may miss an optimum (GLPK prunes by 1e-7 of it)."""

PRINTED_DIGITS = 1e-5
"""What a bound loses on its way through a solver's log: CBC prints six digits before it is done."""

WHOLE_SECONDS = {"glpk"}
"""Solvers that take a time limit in whole seconds; it is rounded up."""


class PyomoSolver:
    """A solver of Pyomo's SolverFactory, for decisions and for periods.

    Parameters
    ----------
    name
        Pyomo's name of the solver.

    Raises
    ------
    InputError
        If Pyomo does not know the name.
    SolverUnavailableError
        If the solver is not installed or not licensed.
    """

    def __init__(self, name: str) -> None:
        known = [known for known in pyo.SolverFactory if not known.startswith("_")]
        if name not in known:
            raise unknown_name("Pyomo solver", name, known)
        self._name = name
        with _quiet():
            self._solver = pyo.SolverFactory(name)
            if not _is_available(self._solver):
                raise SolverUnavailableError(
                    f"solver {name!r} is known to Pyomo, but is not installed or licensed here"
                )
        self._direct = isinstance(self._solver, DirectOrPersistentSolver)
        takes_start = getattr(self._solver, "warm_start_capable", bool)
        self.abilities = Abilities(
            tuple(FORMULATIONS),
            warm_start=bool(takes_start()),
            largest_request=LARGEST_REQUESTS.get(name, LARGEST_REQUEST),
        )

    def run(
        self,
        instance: Decision | PeriodColumns,
        formulation: str,
        options: SolveOptions,
        start: Any,
    ) -> Outcome[Any]:
        """Solve an instance; see `Backend`."""
        began = time.perf_counter()
        program = formulated(instance, formulation)
        model = program.pyomo_model()
        call = self._call(options)
        if start is not None and self.abilities.warm_start:
            program.set_values(model, start)
            call["warmstart"] = True
        if isinstance(self._solver, PersistentSolver):
            self._solver.set_instance(model)
        build_s = time.perf_counter() - began
        if options.time_limit_s == 0:
            return not_started(build_s)
        with nullcontext() if options.verbose else _quiet():
            outcome = self._solve(program, model, call, options)
        wall_s = time.perf_counter() - began - build_s
        return replace(outcome, wall_s=wall_s, build_s=build_s)

    def _call(self, options: SolveOptions) -> dict[str, Any]:
        """Return the arguments of Pyomo's solve."""
        call: dict[str, Any] = {"load_solutions": False, "tee": options.verbose}
        call["options"] = self._native_options(options)
        if options.time_limit_s is not None and not self._direct:
            whole = self._name in WHOLE_SECONDS
            call["timelimit"] = math.ceil(options.time_limit_s) if whole else options.time_limit_s
        return call

    def _thread_pool(self) -> AbstractContextManager[None]:
        return fresh_thread_pool() if "highs" in self._name else nullcontext()

    def _native_options(self, options: SolveOptions) -> dict[str, Any]:
        names = NATIVE_NAMES.get(self._name, {})
        values = {neutral: getattr(options, neutral) for neutral in names}
        native = {names[neutral]: v for neutral, v in values.items() if v is not None}
        defaults = SolveOptions()
        needed = ["relative_gap", "threads", "seed", *(["time_limit_s"] if self._direct else [])]
        for neutral in needed:
            value = getattr(options, neutral)
            if neutral not in names and value != getattr(defaults, neutral):
                raise InputError(
                    f"{neutral} = {value}: solver {self._name!r} does not take it by this name; "
                    "give its own name in native"
                )
        return native | dict(options.native)

    def _solve(
        self,
        program: Formulation,
        model: pyo.ConcreteModel,
        call: dict[str, Any],
        options: SolveOptions,
    ) -> Outcome[Any]:
        began = time.perf_counter()
        try:
            with self._thread_pool():
                results = self._solver.solve(model, **call)
        except KeyboardInterrupt:
            return _nothing(StopReason.INTERRUPTED, "interrupted")
        except ApplicationError as error:
            return _nothing(StopReason.ERROR, str(error))
        except Exception as error:  # some of Pyomo's names are no MIP solvers
            raise InputError(
                f"Pyomo's {self._name} cannot solve this program: {type(error).__name__}: {error}"
            ) from None
        stop, message = self._stop_reason(results, options, time.perf_counter() - began)
        # an LP's point at a limit may violate rows; an integer incumbent is rechecked
        kept = program.integer or stop is StopReason.OPTIMAL
        if len(results.solution) == 0 or not kept:
            return _nothing(stop, message)
        model.solutions.load_from(results)
        values = np.array([variable.value or 0.0 for variable in program.pyomo_columns(model)])
        fractional = np.abs(values - np.rint(values)).max(initial=0.0) > INTEGRALITY_TOLERANCE
        if program.integer and fractional:
            return _nothing(
                StopReason.ERROR, f"{self._name} returned fractional counts: is it a MIP solver?"
            )
        bound = self._bound(program, results, stop, options) if program.integer else None
        price = program.prices(model)
        return Outcome(stop, program.solution(values), bound, 0.0, 0.0, message, price)

    def _stop_reason(
        self, results: Any, options: SolveOptions, elapsed_s: float
    ) -> tuple[StopReason, str]:
        condition = results.solver.termination_condition
        message = str(results.solver.termination_message or condition)
        if condition is _T.licensingProblems:
            raise SolverUnavailableError(f"solver {self._name!r} is not licensed here: {message}")
        limit_s = options.time_limit_s
        if condition in UNTOLD and limit_s is not None and elapsed_s >= limit_s:
            return StopReason.TIME_LIMIT, message
        if condition in UNTOLD and options.relative_gap > 0:
            return StopReason.OTHER_LIMIT, message  # GLPK's way to stop at a gap
        return STOP_REASONS[condition], message

    def _bound(
        self, program: Formulation, results: Any, stop: StopReason, options: SolveOptions
    ) -> Any:
        """Return what the solver's dual bound says, without what it may lose on its way here."""
        least, most = results.problem.lower_bound, results.problem.upper_bound
        sign = 1 if program.sense is Sense.MINIMISE else -1
        dual, optimum = (least, most) if sign > 0 else (most, least)
        proven = stop is StopReason.OPTIMAL and options.relative_gap == 0
        if proven and dual == -sign * math.inf:
            dual = optimum  # all that appsi_cbc tells
        if dual is None or stop is StopReason.ERROR:
            return None
        done = stop is StopReason.OPTIMAL
        lost = RELATIVE_TOLERANCES.get(self._name, 0.0) if done else PRINTED_DIGITS
        return program.bound(float(dual) - sign * lost * (1 + abs(float(dual))))


def _nothing(stop: StopReason, message: str) -> Outcome[Any]:
    return Outcome(stop, None, None, 0.0, 0.0, message)


def _is_available(solver: Any) -> bool:
    try:
        return bool(solver.available(exception_flag=False))
    except (ApplicationError, ImportError, NotImplementedError):
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pyomo's logger and C code from writing to the terminal."""
    logger = logging.getLogger("pyomo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with silence():
            yield
    finally:
        logger.setLevel(level)
