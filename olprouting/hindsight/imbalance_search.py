"""Searching the runs of a trace for the one of least total imbalance, a few steps at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.hindsight.imbalance_run import total_imbalance
from olprouting.hindsight.schedule import Schedule

if TYPE_CHECKING:
    from olprouting.instances import Cluster, Trace


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
        from olprouting.hindsight import imbalance_kernels as kernels

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
            self._best.worker[:], self._best.start[:] = start.device, start.start_period
        kernels.open_level(self._given, self._branch, self._open)

    def go_on(self, steps: int) -> bool:
        """Take so many steps; return whether all is done."""
        from olprouting.hindsight.imbalance_kernels import search

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
        from olprouting.hindsight.imbalance_kernels import least_open

        least = least_open(self._given, self._branch, self._open, self._best)
        return len(self._given.slots) * int(least) - int(self._given.work.sum())

    def _peaks(self, total: int) -> int:
        return (total + int(self._given.work.sum())) // len(self._given.slots)
