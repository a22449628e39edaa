"""Looking for an assignment that refutes a bound: exchanges that lower the imbalance.

From a given assignment, requests of two workers are exchanged, an admitted request with one that
waits on, or a request moves to a free slot, as long as that helps. Doubles steer; whoever uses the
assignments that come out must evaluate them exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from olprouting.certificates.decision_value import ExactDecision, Pairs

    Floats = npt.NDArray[np.float64]

MOST_STEPS = 400
"""Exchanges after which a descent ends; on 16 workers with 400 waiting they take seconds."""

Step = tuple[float, tuple[int, int], tuple[int, int]]
"""The value after a step, and two requests with the worker that each goes to; -1 is the queue."""


def descend(decision: ExactDecision, pairs: Pairs) -> Iterator[list[tuple[int, int]]]:
    """Yield assignments that are better and better in doubles.

    Parameters
    ----------
    decision
        The decision.
    pairs
        A feasible assignment.
    """
    place = [-1] * len(decision.sizes)
    for request, worker in pairs:
        place[request] = worker
    search = _Descent(decision)
    for _ in range(MOST_STEPS):
        step = search.best_step(place)
        if step is None:
            return
        for request, worker in step:
            place[request] = worker
        yield [(i, g) for i, g in enumerate(place) if g >= 0]


class _Descent:
    def __init__(self, decision: ExactDecision) -> None:
        self._slots, self._workers = decision.slots, decision.workers
        self._sizes = np.array([float(size) for size in decision.sizes])
        self._loads = np.array([[float(load) for load in row] for row in decision.loads])
        self._weights = np.array([float(weight) for weight in decision.discount])
        self._aging = np.arange(len(self._weights)) * float(decision.grows)

    def best_step(self, place: list[int]) -> list[tuple[int, int]] | None:
        """Return the (request, worker) changes that lower the value most, or None."""
        loads = self._loads.copy()
        for i, g in enumerate(place):
            if g >= 0:
                loads[g] += self._sizes[i] + self._aging
        now = float(self._weights @ (self._workers * loads.max(axis=0) - loads.sum(axis=0)))
        best = now - 1e-9 * max(abs(now), 1.0)
        found = None
        groups = [self._distinct(place, g) for g in range(-1, self._workers)]
        for a in range(-1, self._workers):
            for b in range(max(a + 1, 0), self._workers):
                for value, step in self._between(loads, place, groups, a, b):
                    if value < best:
                        best, found = value, step
        return found

    def _distinct(self, place: list[int], worker: int) -> list[int]:
        """Return a worker's requests (or those of the queue), one of each size."""
        return list({self._sizes[i]: i for i, g in enumerate(place) if g == worker}.values())

    def _between(
        self, loads: Floats, place: list[int], groups: list[list[int]], a: int, b: int
    ) -> Iterator[tuple[float, list[tuple[int, int]]]]:
        """Yield the best exchange of two places, and the best move to a free slot of either."""
        mine, theirs = groups[a + 1], groups[b + 1]
        if mine and theirs:
            # shape (mine, theirs, offsets): what a gains and b loses
            gain = (self._sizes[theirs][None, :] - self._sizes[mine][:, None])[:, :, None]
            value = self._values(loads, a, b, gain)
            i, j = np.unravel_index(int(value.argmin()), value.shape)
            yield float(value[i, j]), [(mine[i], b), (theirs[j], a)]
        for source, target in ((a, b), (b, a)):
            if source < 0 or target < 0 or not groups[source + 1]:
                continue
            if place.count(target) < self._slots[target]:
                moving = groups[source + 1]
                gain = (self._sizes[moving][:, None] + self._aging)[None, :, :]
                value = self._values(loads, target, source, gain)[0]
                k = int(value.argmin())
                yield float(value[k]), [(moving[k], target)]

    def _values(self, loads: Floats, a: int, b: int, gain: Floats) -> Floats:
        """Return the value if the loads of a gain so much and those of b lose it."""
        others = [g for g in range(self._workers) if g not in (a, b)]
        peak = loads[others].max(axis=0, initial=0.0)
        total = loads.sum(axis=0)
        if a >= 0:
            peak = np.maximum(peak, loads[a] + gain)
        else:  # the queue holds no load
            total = total - gain
        peak = np.maximum(peak, loads[b] - gain)
        value: Floats = (self._workers * peak - total) @ self._weights
        return value
