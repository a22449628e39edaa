"""All runs that a maximal policy can make, unless there are too many.

Iteration by iteration, every set of requests is admitted in every way. What counts of a run so far
is its total, which requests wait, and per worker the loads and remaining lengths; of equal
situations the one with the least total is kept. A run that can no longer end below the target is
dropped: with R tokens still to be added up in the loads of all iterations to come, and F the sum of
the peaks that the active requests alone will have, its total grows by no less than G F - R, nor
than what R lacks to a multiple of G.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.certificates.verification import TooLongError

if TYPE_CHECKING:
    from olprouting.certificates.imbalance_value import ExactRuns

MOST_STEPS = 1_000_000
"""Longer searches are not made; this many steps take seconds. A step is a situation, or an
iteration of the active requests of one."""

FEW = 30
"""Situations that are kept where all are too many: those of the least totals so far."""

Worker = tuple[int, tuple[tuple[int, int], ...]]
"""Slots, and (load in the coming iteration, remaining iterations) of each active request."""

Situation = tuple[tuple[Worker, ...], tuple[tuple[int, int], ...]]
"""Workers, and (prompt, decode) of the requests that wait, each in order."""


def least_below(runs: ExactRuns, target: int) -> int | None:
    """Return the least total of a run that is below `target`, or None if there is none.

    Raises
    ------
    TooLongError
        If the search takes more than `MOST_STEPS` steps.
    """
    return _Search(runs, target).run()


def some_below(runs: ExactRuns, target: int) -> int | None:
    """Return the total of a run that is below `target`, if one comes of few situations at a time.

    It need not be the least, and none is no proof.
    """
    try:
        return _Search(runs, target, FEW).run()
    except TooLongError:
        return None


class _Search:
    def __init__(self, runs: ExactRuns, target: int, most: int | None = None) -> None:
        self._workers, self._target, self._most = runs.workers, target, most
        self._start: tuple[Worker, ...] = tuple((slots, ()) for slots in sorted(runs.slots))
        self._coming = sorted(zip(runs.release, runs.prompt, runs.decode, strict=True))
        self._steps = 0

    def run(self) -> int | None:
        """Search everything."""
        found: dict[Situation, int] = {(self._start, ()): 0}
        if self._target <= 0:
            return None  # no imbalance is negative
        k = 0
        while found:
            if all(self._idle(situation) for situation in found):
                if not self._coming:
                    return min(found.values())
                k = max(k, self._coming[0][0])
            while self._coming and self._coming[0][0] <= k:
                _, prompt, decode = self._coming.pop(0)
                found = {
                    (workers, tuple(sorted([*waiting, (prompt, decode)]))): total
                    for (workers, waiting), total in found.items()
                }
            later = sum(_work(prompt, decode) for _, prompt, decode in self._coming)
            found = self._step(found, later)
            if self._most is not None:
                found = dict(sorted(found.items(), key=lambda one: (one[1], one[0]))[: self._most])
            k += 1
        return None

    def _idle(self, situation: Situation) -> bool:
        return situation == (self._start, ())

    def _step(self, found: dict[Situation, int], later: int) -> dict[Situation, int]:
        """Return the situations after one iteration; `later` is the work of unreleased requests."""
        following: dict[Situation, int] = {}
        for (workers, waiting), before in found.items():
            for admitted, left in self._admissions(workers, waiting):
                loads = [sum(load for load, _ in active) for _, active in admitted]
                total = before + self._workers * max(loads) - sum(loads)
                after = tuple(sorted((slots, _grown(active)) for slots, active in admitted))
                rest = later + sum(_work(*request) for request in left)
                # without an admission, all that is added was foreseen
                grows = self._growth(after, rest) if left != waiting else 0
                if total + grows < self._target:
                    situation = (after, left)
                    following[situation] = min(total, following.get(situation, total))
        return following

    def _admissions(
        self, workers: tuple[Worker, ...], waiting: tuple[tuple[int, int], ...]
    ) -> set[Situation]:
        """Return every way to admit as many as there are free slots, and who waits on."""
        free = sum(slots - len(active) for slots, active in workers)
        count = min(len(waiting), free)
        states: set[Situation] = {(workers, ())}
        for place, request in enumerate(waiting):
            following: set[Situation] = set()
            for state, left in states:
                placed = place - len(left)
                if placed + len(waiting) - place - 1 >= count:
                    following.add((state, (*left, request)))
                if placed < count:
                    following.update((placing, left) for placing in _placed(state, request))
            states = following
            self._count(len(states))
        return states

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise TooLongError

    def _growth(self, workers: tuple[Worker, ...], waiting_work: int) -> int:
        """Return what is certainly added to the total, if so much work is not active yet."""
        work = waiting_work
        peaks: list[int] = []
        for _, active in workers:
            work += sum(_work(load, left) for load, left in active)
            longest = max((left for _, left in active), default=0)
            self._count(longest)
            for h in range(longest):
                own = sum(load + h for load, left in active if h < left)
                if h == len(peaks):
                    peaks.append(0)
                peaks[h] = max(peaks[h], own)
        return max(self._workers * sum(peaks) - work, -work % self._workers)


def _placed(workers: tuple[Worker, ...], request: tuple[int, int]) -> set[tuple[Worker, ...]]:
    """Return the workers after each way to place a request."""
    return {
        tuple(sorted([*workers[:g], (slots, tuple(sorted([*active, request]))), *workers[g + 1 :]]))
        for g, (slots, active) in enumerate(workers)
        if len(active) < slots
    }


def _grown(active: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((load + 1, left - 1) for load, left in active if left > 1))


def _work(load: int, left: int) -> int:
    """Return the loads of a request in its remaining iterations, summed."""
    return left * load + left * (left - 1) // 2
