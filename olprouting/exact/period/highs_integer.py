"""Solving a period's integer program with HiGHS: limits, Ctrl-C, incumbents and the bound."""

# mypy: allow-untyped-calls
# (highspy says that it is typed, and is in part)
from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import highspy
import numpy as np

from olprouting.exact.highs import STOP_REASONS, new_highs, pass_model, run_alone, set_options
from olprouting.exact.interruptible import Interruptible
from olprouting.exact.matrix import compile_model
from olprouting.exact.period.outcome import PeriodOutcome
from olprouting.instances import StopReason
from olprouting.models import period_integer

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
        If HiGHS has no such native option, or refuses its value.
    """
    del form, solver
    began = time.perf_counter()
    matrix = compile_model(period_integer.build(*columns.arrays))
    highs = new_highs(verbose=options.verbose)
    set_options(highs, options, mip_abs_gap=0.0)
    pass_model(highs, matrix)
    built = time.perf_counter()
    if options.time_limit_s == 0:
        message = "limit 0: not started"
        build_s = built - began
        return PeriodOutcome(StopReason.TIME_LIMIT, None, None, None, 0.0, build_s, message)
    highs.HandleUserInterrupt = True  # lets cancelSolve work
    Interruptible(lambda: run_alone(highs), highs.cancelSolve).result()
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
