"""Solving a period's integer program with HiGHS: limits, Ctrl-C, incumbents and the bound."""

# mypy: allow-untyped-calls
# (highspy says that it is typed, and is in part)
from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from models import period_integer
from olprouting.errors import InputError
from olprouting.exact.highs import STOP_REASONS, new_highs, pass_model
from olprouting.exact.highs_threads import fresh_thread_pool
from olprouting.exact.interruptible import Interruptible
from olprouting.exact.matrix import compile_model
from olprouting.exact.period.outcome import PeriodOutcome
from olprouting.instances import StopReason

if TYPE_CHECKING:
    from olprouting.exact.options import SolveOptions
    from olprouting.exact.period.columns import PeriodColumns


def run(columns: PeriodColumns, form: str, solver: str, options: SolveOptions) -> PeriodOutcome:
    """Solve a period's integer program.

    Parameters
    ----------
    columns
        The program's arrays.
    form, solver
        ``"integer"`` and ``"highs"``.
    options
        How to solve.

    Raises
    ------
    InputError
        If HiGHS refuses a native option.
    """
    del form, solver
    began = time.perf_counter()
    matrix = compile_model(period_integer.build(*columns.arrays))
    highs = new_highs(verbose=options.verbose)
    _set_options(highs, options)
    pass_model(highs, matrix)
    built = time.perf_counter()
    if options.time_limit_s == 0:
        message = "limit 0: not started"
        build_s = built - began
        return PeriodOutcome(StopReason.TIME_LIMIT, None, None, None, 0.0, build_s, message)
    highs.HandleUserInterrupt = True  # lets cancelSolve work
    Interruptible(lambda: _run(highs), highs.cancelSolve).result()
    stop, info = STOP_REASONS[highs.getModelStatus().name], highs.getInfo()
    if stop is StopReason.NODE_LIMIT and options.node_limit is None:
        stop = StopReason.OTHER_LIMIT
    start = None
    if info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible):
        start = np.zeros(len(columns.rewards))
        indices = [variable.index() for variable in matrix.columns]
        start[indices] = np.asarray(highs.getSolution().col_value)
    # HiGHS minimises minus the reward
    bound = -info.mip_dual_bound if info.valid and math.isfinite(info.mip_dual_bound) else None
    message = highs.modelStatusToString(highs.getModelStatus())
    wall_s = time.perf_counter() - built
    return PeriodOutcome(stop, start, None, bound, wall_s, built - began, message)


def _run(highs: highspy.Highs) -> None:
    with fresh_thread_pool():
        highs.run()


def _set_options(highs: highspy.Highs, options: SolveOptions) -> None:
    settings: dict[str, Any] = {
        "threads": options.threads,
        "random_seed": options.seed,
        "mip_rel_gap": options.relative_gap,
        "mip_abs_gap": 0.0,
    }
    if options.time_limit_s is not None:
        settings["time_limit"] = float(options.time_limit_s)
    if options.node_limit is not None:
        settings["mip_max_nodes"] = options.node_limit
    for name, value in settings.items():
        highs.setOptionValue(name, value)
    for name, value in options.native.items():
        try:
            accepted = highs.setOptionValue(name, value) == highspy.HighsStatus.kOk
        except (TypeError, RuntimeError):
            accepted = False
        if not accepted:
            raise InputError(f"HiGHS refuses the native option {name} = {value!r}")
