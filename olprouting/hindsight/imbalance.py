"""The least total imbalance of a run in hindsight: searched for, and proven if time suffices."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.forced_bound import FORCED, imbalance_bound
from olprouting.hindsight.imbalance_result import ImbalanceResult
from olprouting.hindsight.imbalance_run import longest_run, run_fault, total_imbalance
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import StopReason
from olprouting.instances._checks import positive

if TYPE_CHECKING:
    from olprouting.instances import Cluster, Trace
    from olprouting.progress import OnProgress

SEARCHED = "branch and bound over every run that a maximal policy can make"
STOPPED = "branch and bound, stopped: what is certain of the runs that were left"

_STEPS = 5_000
"""Steps between two looks at the clock: hundredths of a second on small traces."""


def hindsight_imbalance(
    trace: Trace,
    cluster: Cluster,
    *,
    time_limit_s: float = 60.0,
    start: Schedule | None = None,
    on_progress: OnProgress | None = None,
) -> ImbalanceResult:
    """Minimise the total imbalance of a run over all maximal policies, lengths known.

    The program of `models/hindsight_imbalance.py`, without KV limits, by a branch and bound whose
    effort hardly depends on lengths. It proves the optimum of one or two dozen requests; with
    more, the bound stays far below the best run.

    Parameters
    ----------
    trace
        At most 2,000 requests, with releases by iteration.
    cluster
        The workers.
    time_limit_s
        Stop after so many seconds, >= 0, but not before a first run is found.
    start
        A run to improve on, such as a policy's, or None.
    on_progress
        Called now and then with (what is being done, seconds passed, time limit).

    Returns
    -------
    ImbalanceResult
        ``optimal`` if proven; at the time limit or after Ctrl-C the best run until then, and the
        better of what the search and `imbalance_bound` prove.

    Raises
    ------
    InputError
        If the trace has no releases by iteration, workers have KV limits, the run would be too
        large, or no maximal policy can make the run to start with.
    """
    from olprouting.hindsight.imbalance_search import RunSearch

    began = time.perf_counter()
    positive("time_limit_s", time_limit_s, zero_allowed=True)
    iterations = longest_run(trace, cluster)
    fault = None if start is None else run_fault(trace, cluster, start)
    if fault is not None:
        raise InputError(f"start: no maximal policy makes this run: {fault}")
    if not len(trace):
        nobody = Schedule(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return ImbalanceResult(
            trace, cluster, 0, FORCED, 0, nobody, StopReason.OPTIMAL, time_limit_s, 0.0
        )
    forced = imbalance_bound(trace, cluster)
    search = RunSearch(trace, cluster, iterations, start)
    reason = StopReason.TIME_LIMIT
    try:
        while True:
            if search.go_on(_STEPS):
                reason = StopReason.OPTIMAL
                break
            passed_s = time.perf_counter() - began
            if on_progress is not None:
                on_progress("search", int(passed_s), int(time_limit_s))
            if passed_s >= time_limit_s and search.best is not None:
                break
    except KeyboardInterrupt:
        reason = StopReason.INTERRUPTED
    schedule, total = search.best, None
    if schedule is not None:
        fault = run_fault(trace, cluster, schedule)
        if fault is not None:
            raise AssertionError(f"no maximal policy makes the run that was found: {fault}")
        total = total_imbalance(trace, cluster, schedule)
    bound, proven_by = search.bound_tokens, STOPPED
    if forced >= bound:
        bound, proven_by = forced, FORCED
    elif reason is StopReason.OPTIMAL:
        proven_by = SEARCHED
    if bound == total:
        reason = StopReason.OPTIMAL
    wall_s = time.perf_counter() - began
    return ImbalanceResult(
        trace, cluster, bound, proven_by, total, schedule, reason, time_limit_s, wall_s
    )
