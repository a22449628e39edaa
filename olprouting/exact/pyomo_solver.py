"""Backend for any MIP solver that Pyomo knows: the Pyomo models through its SolverFactory."""

from __future__ import annotations

import ctypes
import logging
import math
import sys
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError
from pyomo.common.tee import capture_output
from pyomo.opt import TerminationCondition
from pyomo.solvers.plugins.solvers.direct_or_persistent_solver import DirectOrPersistentSolver
from pyomo.solvers.plugins.solvers.persistent_solver import PersistentSolver

from olprouting.errors import InputError, SolverUnavailableError, unknown_name
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.bounds import proven_bound
from olprouting.exact.formulations import FORMULATIONS, Formulation
from olprouting.exact.options import SolveOptions
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.instances.solve_result import Assignment

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
    # an imbalance has the bound 0, so that an unbounded model is a wrong model
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
    """A solver of Pyomo's SolverFactory.

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
        with _silence():
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
            on_incumbent=False,
            node_limit=False,
            largest_request=LARGEST_REQUESTS.get(name, LARGEST_REQUEST),
        )

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome:
        """Solve `decision`; see `Backend`."""
        began = time.perf_counter()
        program = FORMULATIONS[formulation](decision)
        model = program.pyomo_model()
        call = self._call(options)
        if start is not None and self.abilities.warm_start:
            program.set_values(model, program.counts(start))
            call["warmstart"] = True
        if isinstance(self._solver, PersistentSolver):
            self._solver.set_instance(model)
        build_s = time.perf_counter() - began
        if options.time_limit_s == 0:  # which Pyomo takes as no limit
            return Outcome(StopReason.TIME_LIMIT, None, None, 0.0, build_s, "limit 0: not started")
        with nullcontext() if options.verbose else _silence():
            outcome = self._solve(decision, program, model, call, options)
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
        if "highs" not in self._name:
            return nullcontext()
        from olprouting.exact.highs_threads import fresh_thread_pool

        return fresh_thread_pool()

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
        decision: Decision,
        program: Formulation,
        model: pyo.ConcreteModel,
        call: dict[str, Any],
        options: SolveOptions,
    ) -> Outcome:
        limit_s = options.time_limit_s
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
                f"Pyomo's {self._name} cannot solve a decision: {type(error).__name__}: {error}"
            ) from None
        condition = results.solver.termination_condition
        stop = STOP_REASONS[condition]
        message = str(results.solver.termination_message or condition)
        if condition is _T.licensingProblems:
            raise SolverUnavailableError(f"solver {self._name!r} is not licensed here: {message}")
        at_limit = limit_s is not None and time.perf_counter() - began >= limit_s
        if at_limit and condition in UNTOLD:
            stop = StopReason.TIME_LIMIT
        elif options.relative_gap > 0 and condition in UNTOLD:
            stop = StopReason.OTHER_LIMIT  # GLPK's way to stop at a gap
        if len(results.solution) == 0:
            return _nothing(stop, message)
        model.solutions.load_from(results)
        values = np.array([variable.value or 0.0 for variable in program.pyomo_counts(model)])
        counts = np.rint(values)
        if np.abs(values - counts).max() > INTEGRALITY_TOLERANCE:
            return _nothing(
                StopReason.ERROR, f"{self._name} returned fractional counts: is it a MIP solver?"
            )
        assignment = program.assignment(counts.astype(np.int64).reshape(program.shape))
        dual_bound = results.problem.lower_bound
        proven = stop is StopReason.OPTIMAL and options.relative_gap == 0
        if proven and dual_bound == -math.inf:
            dual_bound = results.problem.upper_bound  # its optimum: all that appsi_cbc tells
        trusted = dual_bound is not None and stop is not StopReason.ERROR
        bound = None
        if trusted:
            below = float(dual_bound) - lost_in_bound(self._name, stop, dual_bound)
            bound = proven_bound(below, decision)
        return Outcome(stop, assignment, bound, 0.0, 0.0, message)


def lost_in_bound(name: str, stop: StopReason, bound: float) -> float:
    """Return by how much the bound of a solver of Pyomo's may be too good."""
    done = stop is StopReason.OPTIMAL
    return (RELATIVE_TOLERANCES.get(name, 0.0) if done else PRINTED_DIGITS) * (1 + abs(bound))


def _nothing(stop: StopReason, message: str) -> Outcome:
    return Outcome(stop, None, None, 0.0, 0.0, message)


def _is_available(solver: Any) -> bool:
    try:
        return bool(solver.available(exception_flag=False))
    except (ApplicationError, ImportError, NotImplementedError):
        return False


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Python, its loggers and C code from writing to the terminal."""
    logger = logging.getLogger("pyomo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with capture_output(capture_fd=True):
            yield
            # what C code printed to a pipe may still be in its buffer
            ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
    finally:
        logger.setLevel(level)
