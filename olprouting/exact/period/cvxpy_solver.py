"""Solving a period's LP, dual or reduced dual with any solver that CVXPY has."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from olprouting.errors import InputError, unknown_name
from olprouting.exact.backend import Abilities, Outcome, not_started
from olprouting.exact.options import DEFAULT_SOLVER, SolveOptions
from olprouting.exact.running import Interruptible, fresh_thread_pool, silence
from olprouting.instances import StopReason
from olprouting.models import period_dual, period_lp, reduced_dual

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from olprouting.exact.period.columns import PeriodColumns

    Floats = npt.NDArray[np.float64]

STOP_REASONS = {
    cp.OPTIMAL: StopReason.OPTIMAL,
    cp.OPTIMAL_INACCURATE: StopReason.OPTIMAL,  # the recheck decides
    cp.INFEASIBLE: StopReason.INFEASIBLE,
    cp.INFEASIBLE_INACCURATE: StopReason.INFEASIBLE,
    cp.settings.INFEASIBLE_OR_UNBOUNDED: StopReason.INFEASIBLE_OR_UNBOUNDED,
    cp.USER_LIMIT: StopReason.OTHER_LIMIT,
    # a reward is bounded, so that an unbounded model is a wrong model
    cp.UNBOUNDED: StopReason.ERROR,
    cp.UNBOUNDED_INACCURATE: StopReason.ERROR,
    cp.SOLVER_ERROR: StopReason.ERROR,
    cp.settings.UNKNOWN: StopReason.ERROR,
}

_HIGHS = {"time_limit_s": "time_limit", "threads": "threads", "seed": "random_seed"}
NATIVE_NAMES = {
    "HIGHS": _HIGHS,
    "CLARABEL": {"time_limit_s": "time_limit", "threads": "max_threads"},
    "SCS": {"time_limit_s": "time_limit_secs"},
    "OSQP": {"time_limit_s": "time_limit"},
    "GLOP": {"time_limit_s": "time_limit_sec"},
    "PDLP": {"time_limit_s": "time_limit_sec"},
}
"""What solvers call the neutral options. Others get them through ``SolveOptions.native``."""


PDLP_TOLERANCE = 1e-9
"""PDLP approaches an optimum step by step; by default it stops too far away for the recheck."""


class _Abandoned(Exception):  # noqa: N818 (no error)
    """Ctrl-C while a solver ran that cannot be stopped from outside."""


@dataclass(frozen=True)
class Program:
    """A CVXPY problem, and where its solution is found.

    Parameters
    ----------
    problem
        The problem.
    start, price
        The variable or the inequality that holds x, and p, as its value or dual value, or None.
    """

    problem: Any
    start: Any
    price: Any


def installed_solvers() -> list[str]:
    """Return CVXPY's names of the solvers that it has here."""
    list_installed: Any = cp.installed_solvers
    names: list[str] = list_installed()
    return names


def solver_name(name: str) -> str:
    """Return CVXPY's spelling of a solver's name; ``auto`` is HiGHS.

    Raises
    ------
    InputError
        If CVXPY does not know it here; the message lists those it has.
    """
    if name == DEFAULT_SOLVER:
        return "HIGHS"
    if name.upper() not in installed_solvers():
        raise unknown_name("CVXPY solver", name, installed_solvers())
    return name.upper()


class Cvxpy:
    """A solver that CVXPY has, for a period's LP and its duals.

    Parameters
    ----------
    name
        CVXPY's name of the solver, in any case.

    Raises
    ------
    InputError
        If CVXPY does not know it here.
    """

    abilities = Abilities()

    def __init__(self, name: str) -> None:
        self._name = solver_name(name)

    def run(
        self, instance: PeriodColumns, formulation: str, options: SolveOptions, start: Any
    ) -> Outcome[Floats]:
        """Solve a period's program; see `Backend`. A reduced dual gives prices only."""
        del start
        return run_program(lambda: _PROGRAMS[formulation](instance), self._name, options)


def run_program(
    build: Callable[[], Program], solver: str, options: SolveOptions
) -> Outcome[Floats]:
    """Build and solve any CVXPY program.

    Parameters
    ----------
    build
        Makes the program.
    solver
        CVXPY's name of the solver.
    options
        How to solve.

    Raises
    ------
    InputError
        If an option is not for this solver.
    """
    began = time.perf_counter()
    native = _native_options(solver, options)
    with nullcontext() if options.verbose else silence():
        program = build()
        if solver == "PDLP":
            program = _with_signs_as_rows(program)
        data, chain, inverse = _canonical(program.problem, solver, native)
        built = time.perf_counter()
        build_s = built - began
        if options.time_limit_s == 0:
            return not_started(build_s)

        def solve() -> Any:
            with fresh_thread_pool():
                return chain.solve_via_data(
                    program.problem, data, verbose=options.verbose, solver_opts=native
                )

        try:
            raw = Interruptible(solve, _abandon).result()
        except _Abandoned:
            stop, message = StopReason.INTERRUPTED, "interrupted"
        except (cp.SolverError, ValueError, TypeError) as error:
            if options.native:
                raise InputError(f"{solver} with native options {native}: {error}") from None
            stop, message = StopReason.ERROR, str(error)
        else:
            stop, message = _unpack(program.problem, raw, chain, inverse)
    wall_s = time.perf_counter() - built
    at_limit = options.time_limit_s is not None and wall_s >= options.time_limit_s
    if stop is StopReason.OTHER_LIMIT and at_limit:
        stop = StopReason.TIME_LIMIT
    if stop is not StopReason.OPTIMAL:  # CVXPY gives points at a limit that violate rows
        return Outcome(stop, None, None, wall_s, build_s, message)
    start, price = _values(program.start), _values(program.price)
    return Outcome(stop, start, None, wall_s, build_s, message, price)


def _canonical(problem: Any, solver: str, native: dict[str, Any]) -> tuple[Any, Any, Any]:
    try:
        data, chain, inverse = problem.get_problem_data(solver, solver_opts=native)
    except (cp.SolverError, ValueError) as error:
        raise InputError(
            f"CVXPY cannot hand this program to solver {solver!r}: {error}; take another"
        ) from None
    return data, chain, inverse


def _with_signs_as_rows(program: Program) -> Program:
    """Return the program with rows for variables >= 0, which CVXPY fails to hand to PDLP."""
    rows: list[Any] = []
    for variable in program.problem.variables():
        if variable.attributes["nonneg"]:
            variable.attributes["nonneg"] = False
            rows.append(variable >= 0)
    problem = cp.Problem(program.problem.objective, program.problem.constraints + rows)
    return replace(program, problem=problem)


def _abandon() -> None:
    raise _Abandoned


def _unpack(problem: Any, raw: Any, chain: Any, inverse: Any) -> tuple[StopReason, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inaccuracy: every solution is rechecked
        try:
            problem.unpack_results(raw, chain, inverse)
        except cp.SolverError as error:
            return StopReason.ERROR, str(error)
    return STOP_REASONS.get(problem.status, StopReason.ERROR), str(problem.status)


def _native_options(solver: str, options: SolveOptions) -> dict[str, Any]:
    names = NATIVE_NAMES.get(solver, {})
    values = {neutral: getattr(options, neutral) for neutral in names}
    if solver == "SCIPY":
        limit = {} if options.time_limit_s is None else {"time_limit": options.time_limit_s}
        return {"scipy_options": limit | dict(options.native)}
    if options.time_limit_s is not None and "time_limit_s" not in names:
        raise InputError(
            f"time_limit_s = {options.time_limit_s}: CVXPY solver {solver!r} does not take it by "
            "this name; give its own name in native"
        )
    native = {names[neutral]: v for neutral, v in values.items() if v is not None}
    if solver == "PDLP":
        native["parameters_proto"] = _pdlp_parameters()
    return native | dict(options.native)


def _pdlp_parameters() -> Any:
    from ortools.pdlp import solvers_pb2

    parameters = solvers_pb2.PrimalDualHybridGradientParams()
    criteria = parameters.termination_criteria.simple_optimality_criteria
    criteria.eps_optimal_absolute = criteria.eps_optimal_relative = PDLP_TOLERANCE
    return parameters


def _values(part: Any) -> Floats | None:
    if part is None:
        return None
    if isinstance(part, cp.Variable):
        return np.atleast_1d(np.asarray(part.value, dtype=np.float64))
    return cvxpy_prices(part)


def _lp(columns: PeriodColumns) -> Program:
    lp = period_lp.build(*columns.arrays)
    return Program(lp.problem, lp.start, lp.within_capacity)


def _dual(columns: PeriodColumns) -> Program:
    dual = period_dual.build(*columns.arrays)
    return Program(dual.problem, dual.no_gain, dual.price)


def _reduced_dual(columns: PeriodColumns) -> Program:
    rewards, usage, capacity, _, limit = columns.arrays
    dual = reduced_dual.build(rewards, usage, capacity, columns.workers, limit)
    return Program(dual.problem, None, dual.price)


_PROGRAMS = {"lp": _lp, "dual": _dual, "reduced-dual": _reduced_dual}


def cvxpy_prices(rows: Any) -> Floats:
    """Return the prices of an inequality of a solved CVXPY LP.

    CVXPY gives multipliers >= 0 for either sense and either direction: they are the prices (see
    `olprouting.exact.period.program`).
    """
    return np.atleast_1d(np.asarray(rows.dual_value, dtype=np.float64))
