"""Solving a period's LP or integer program with any solver that Pyomo has."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError

from olprouting.errors import InputError
from olprouting.exact.period.outcome import PeriodOutcome
from olprouting.exact.period.price_signs import pyomo_prices
from olprouting.exact.period.silence import silence
from olprouting.exact.pyomo_solver import (
    NATIVE_NAMES,
    STOP_REASONS,
    PyomoSolver,
    lost_in_bound,
)
from olprouting.instances import StopReason
from olprouting.models import period_integer

if TYPE_CHECKING:
    from olprouting.exact.options import SolveOptions
    from olprouting.exact.period.columns import PeriodColumns


def run(columns: PeriodColumns, form: str, solver: str, options: SolveOptions) -> PeriodOutcome:
    """Solve a period's program.

    Parameters
    ----------
    columns
        The program's arrays.
    form
        ``"lp"`` or ``"integer"``.
    solver
        Pyomo's name of the solver.
    options
        How to solve.

    Raises
    ------
    InputError
        If Pyomo does not know the solver.
    SolverUnavailableError
        If it is not installed or not licensed.
    """
    PyomoSolver(solver)  # refuses an unknown or unusable name
    began = time.perf_counter()
    model = period_integer.build(*columns.arrays, integer=form == "integer")
    if form == "lp":
        model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    build_s = time.perf_counter() - began
    if options.time_limit_s == 0:  # which Pyomo takes as no limit
        message = "limit 0: not started"
        return PeriodOutcome(StopReason.TIME_LIMIT, None, None, None, 0.0, build_s, message)
    quiet: AbstractContextManager[None] = nullcontext() if options.verbose else silence()
    try:
        with quiet, _thread_pool(solver):
            results = pyo.SolverFactory(solver).solve(model, **_call(solver, options))
            stop = STOP_REASONS[results.solver.termination_condition]
            # an LP's point at a limit may violate rows; an integer incumbent is rechecked
            has_start = stop is StopReason.OPTIMAL or form == "integer"
            has_start = has_start and len(results.solution) > 0
            if has_start:
                model.solutions.load_from(results)
    except KeyboardInterrupt:
        wall_s = time.perf_counter() - began - build_s
        return PeriodOutcome(
            StopReason.INTERRUPTED, None, None, None, wall_s, build_s, "interrupted"
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"Pyomo's {solver} cannot solve a period: {type(error).__name__}: {error}"
        ) from None
    except ApplicationError as error:
        wall_s = time.perf_counter() - began - build_s
        return PeriodOutcome(StopReason.ERROR, None, None, None, wall_s, build_s, str(error))
    wall_s = time.perf_counter() - began - build_s
    message = str(results.solver.termination_message or results.solver.termination_condition)
    upper = results.problem.upper_bound
    bound = None
    if form == "integer" and upper is not None:
        bound = float(upper) + lost_in_bound(solver, stop, upper)
    if not has_start:
        return PeriodOutcome(stop, None, None, bound, wall_s, build_s, message)
    start = np.array([variable.value or 0.0 for variable in model.start.values()])
    price = None
    if form == "lp":
        price = np.zeros(len(columns.capacity))
        rows = list(model.within_capacity)
        price[rows] = pyomo_prices(model, model.within_capacity.values())
    return PeriodOutcome(stop, start, price, bound, wall_s, build_s, message)


def _call(solver: str, options: SolveOptions) -> dict[str, Any]:
    names = NATIVE_NAMES.get(solver, {})
    values = {neutral: getattr(options, neutral) for neutral in names}
    native = {names[neutral]: v for neutral, v in values.items() if v is not None}
    call: dict[str, Any] = {
        "load_solutions": False,
        "tee": options.verbose,
        "options": native | dict(options.native),
    }
    if options.time_limit_s is not None and "time_limit_s" not in names:
        call["timelimit"] = options.time_limit_s
    return call


def _thread_pool(solver: str) -> AbstractContextManager[None]:
    if "highs" not in solver:
        return nullcontext()
    from olprouting.exact.highs_threads import fresh_thread_pool

    return fresh_thread_pool()
