"""The least total imbalance of a run in hindsight: proven on small traces, bounded on others."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.hindsight.forced_bound import FORCED, imbalance_bound
from olprouting.hindsight.imbalance_result import ImbalanceResult
from olprouting.hindsight.imbalance_run import longest_run, releases, run_fault, total_imbalance
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import StopReason
from olprouting.instances._checks import positive

if TYPE_CHECKING:
    from olprouting.instances import Cluster, Trace


def hindsight_imbalance(
    trace: Trace, cluster: Cluster, *, time_limit_s: float = 60.0
) -> ImbalanceResult:
    """Minimise the total imbalance of a run over all maximal policies, lengths known.

    The program of `models/hindsight_imbalance.py`, solved by HiGHS. Without KV limits.

    Parameters
    ----------
    trace
        A few requests with releases by iteration.
    cluster
        The workers.
    time_limit_s
        For the solver, >= 0.

    Returns
    -------
    ImbalanceResult
        ``optimal`` if proven; at the time limit, the better of HiGHS's bound and
        `imbalance_bound`.

    Raises
    ------
    InputError
        If the trace has no releases by iteration, a prompt is beyond 2^40 tokens, workers have KV
        limits, or the program would have more than 200,000 binaries.
    """
    from models import hindsight_imbalance as model
    from olprouting.exact.highs import STOP_REASONS, new_highs, pass_model
    from olprouting.exact.interruptible import Interruptible
    from olprouting.exact.matrix import compile_model

    began = time.perf_counter()
    positive("time_limit_s", time_limit_s, zero_allowed=True)
    release = releases(trace, cluster)
    iterations = longest_run(trace, cluster)
    simple = imbalance_bound(trace, cluster)
    if not len(trace):
        empty = Schedule(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return ImbalanceResult(
            trace, cluster, 0, FORCED, 0, empty, StopReason.OPTIMAL, time_limit_s, 0.0
        )
    program = model.build(
        trace.prompt_tokens, trace.decode_tokens, release, cluster.slots, iterations
    )
    matrix = compile_model(program)
    solver = new_highs(verbose=False)
    for name, value in (
        ("time_limit", float(time_limit_s)),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.5),
        ("threads", 1),
    ):
        solver.setOptionValue(name, value)
    pass_model(solver, matrix)
    solver.HandleUserInterrupt = True
    Interruptible(solver.run, solver.cancelSolve).result()
    info = solver.getInfo()
    reason = STOP_REASONS.get(solver.getModelStatus().name, StopReason.ERROR)
    lower = math.ceil(info.mip_dual_bound - 0.01) if math.isfinite(info.mip_dual_bound) else 0
    bound, proven_by = max(lower, 0), "HiGHS's branch and bound, rounded up: totals are whole"
    if simple > bound:
        bound, proven_by = simple, FORCED
    total, schedule = None, None
    if info.primal_solution_status == 2:
        values = np.asarray(solver.getSolution().col_value)
        device, start = np.full(len(trace), -1), np.full(len(trace), -1)
        for (i, g, k), admit in program.admit.items():
            if values[matrix.column_of[id(admit)]] > 0.5:
                device[i], start[i] = g, k
        schedule = Schedule(device, start)
        fault = run_fault(trace, cluster, schedule)
        if fault is not None:
            raise AssertionError(f"no maximal policy makes the run that HiGHS returned: {fault}")
        total = total_imbalance(trace, cluster, schedule)
    if reason in (StopReason.OPTIMAL, StopReason.OPTIMAL_WITHIN_GAP):
        reason = StopReason.OPTIMAL if total == bound else StopReason.OPTIMAL_WITHIN_GAP
    wall_s = time.perf_counter() - began
    return ImbalanceResult(
        trace, cluster, bound, proven_by, total, schedule, reason, time_limit_s, wall_s
    )
