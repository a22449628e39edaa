"""The least total imbalance of a run in hindsight: searched for, and proven if time suffices."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.imbalance.result import ImbalanceResult
from olprouting.hindsight.imbalance.run import (
    FORCED,
    imbalance_bound,
    longest_run,
    run_fault,
    total_imbalance,
)
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import Cluster, StopReason, Trace
from olprouting.instances._checks import positive
from olprouting.options import HindsightOptions

if TYPE_CHECKING:
    from olprouting.progress import OnProgress

SEARCHED = "branch and bound over every run that a maximal policy can make"
STOPPED = "branch and bound, stopped: what is certain of the runs that were left"

_STEPS = 5_000
"""Steps between two looks at the clock: hundredths of a second on small traces."""


def hindsight_imbalance(
    trace: Trace,
    cluster: Cluster,
    *,
    time_limit_s: float = HindsightOptions.time_limit_s,
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
    positive("time_limit_s", time_limit_s, zero_allowed=True)
    _compile()
    began = time.perf_counter()
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
                on_progress("solve", int(passed_s), int(time_limit_s))
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


@functools.cache
def _compile() -> None:
    """Compile or load all kernels, before any time limit runs."""
    from olprouting.hindsight.imbalance.search_kernels import search

    trace = Trace(np.array([2, 3]), np.array([2, 1]), release_iteration=np.array([1, 1]))
    cluster = Cluster(np.array([1, 1]))
    tiny = RunSearch(trace, cluster, longest_run(trace, cluster), None)
    assert tiny.bound_tokens >= 0
    search(tiny._given, tiny._branch, tiny._open, tiny._best, _STEPS)


class RunSearch:
    """All runs that a maximal policy can make, tried or cut off by a bound.

    Parameters
    ----------
    trace
        At least one request, with releases by iteration.
    cluster
        The workers, without KV limits.
    iterations
        K, by which every maximal policy is done.
    start
        A run to begin with, which a maximal policy can make, or None.
    """

    def __init__(
        self, trace: Trace, cluster: Cluster, iterations: int, start: Schedule | None
    ) -> None:
        from olprouting.hindsight.imbalance import search_kernels as kernels

        count, workers = len(trace), cluster.workers
        prompt, decode = trace.prompt_tokens, trace.decode_tokens
        work = decode * prompt + decode * (decode - 1) // 2
        assert trace.release_iteration is not None
        self._given = kernels.Requests(prompt, decode, trace.release_iteration, work, cluster.slots)
        self._branch = kernels.Branch(
            depth=np.zeros(1, np.int64),
            placed=np.full(count, -1),
            worker=np.full(count, -1),
            start=np.full(count, -1),
            load=np.zeros((workers, iterations + 1), np.int64),
            peak=np.zeros(iterations + 1, np.int64),
        )
        tables = [np.zeros((count, max(count, workers)), np.int64) for _ in range(4)]
        self._open = kernels.Open(*np.zeros((4, count), np.int64), *tables)
        self._best = kernels.Best(np.zeros(1, np.int64), np.full(count, -1), np.full(count, -1))
        self._best.peaks[0] = np.iinfo(np.int64).max
        if start is not None:
            self._best.peaks[0] = self._peaks(total_imbalance(trace, cluster, start))
            self._best.worker[:], self._best.start[:] = start.worker, start.start_period
        kernels.open_level(self._given, self._branch, self._open)

    def go_on(self, steps: int) -> bool:
        """Take so many steps; return whether all is done."""
        from olprouting.hindsight.imbalance.search_kernels import search

        return search(self._given, self._branch, self._open, self._best, steps)

    @property
    def best(self) -> Schedule | None:
        """The best run so far."""
        if self._best.worker[0] < 0:
            return None
        return Schedule(self._best.worker.copy(), self._best.start.copy())

    @property
    def bound_tokens(self) -> int:
        """No run has a smaller total."""
        from olprouting.hindsight.imbalance.search_kernels import least_open

        least = least_open(self._given, self._branch, self._open, self._best)
        return len(self._given.slots) * int(least) - int(self._given.work.sum())

    def _peaks(self, total: int) -> int:
        return (total + int(self._given.work.sum())) // len(self._given.slots)
