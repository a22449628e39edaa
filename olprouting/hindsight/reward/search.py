"""The search for a schedule, guided by the dual."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from olprouting.hindsight.reward.annealing import Annealing
from olprouting.hindsight.reward.neighbourhood_kernels import improve, list_wishes
from olprouting.hindsight.reward.schedule_kernels import build
from olprouting.hindsight.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from olprouting.hindsight.reward.dual_kernels import Starts
    from olprouting.hindsight.reward.problem import HindsightProblem

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

SWEEPS = ((1.0, 0.98, 0.0), (0.995, 0.0), (0.99, 0.0), (0.97, 0.0), (0.9, 0.0), (0.0,))
"""How strictly prices turn requests away, sweep by sweep (`schedule_kernels.build`)."""

REACHES = (10, 30, 100)
MOST = (4, 8, 16)

WISHES = 32
"""Requests listed for every block of periods."""

MOST_BLOCKS = 2500
SHORTEST_BLOCK = 8


class _State(NamedTuple):
    """A schedule and the room it leaves; replaced as a whole: Ctrl-C finds no half of it."""

    key: Floats
    slots: Ints
    room: Ints
    worker: Ints
    start: Ints


class ScheduleSearch:
    """The best schedule so far, and its improvement.

    Attributes
    ----------
    value
        Its reward, in floating point.
    """

    def __init__(self, problem: HindsightProblem, starts: Starts, seed: int) -> None:
        self._problem = problem
        self._starts = starts
        self._kind = problem.classes()[0]
        self._rng = np.random.default_rng(seed)
        nobody = np.full(len(problem), -1)
        self._state = _State(np.zeros(len(problem)), *self._empty(), nobody, nobody.copy())
        self.value = 0.0
        self._rounds = 100
        self._block = max(SHORTEST_BLOCK, -(-problem.periods // MOST_BLOCKS))
        self._wishes = np.full((-(-problem.periods // self._block), WISHES), -1)

    def _empty(self) -> tuple[Ints, Ints]:
        shape = (len(self._problem.slots), self._problem.periods)
        slots = np.broadcast_to(self._problem.slots[:, None], shape)
        return slots.copy(), np.broadcast_to(self._problem.kv_tokens[:, None], shape).copy()

    def rebuild(self, prices: Floats, share: Floats, moment: Floats) -> None:
        """Build schedules in the order of the dual's starts, and keep the best.

        Parameters
        ----------
        prices
            Shape (2, C, T).
        share, moment
            As in `SmoothedDual`.
        """
        list_wishes(self._starts, prices, self._block, self._wishes)
        arrival = self._starts.arrival
        served = share > 1e-6
        mean = np.where(served, moment / np.where(served, share, 1.0), arrival)
        last = np.where(share > 0.5, mean, mean + self._problem.periods)
        for key in (mean, last):
            order = np.argsort(key, kind="stable")
            for scales in SWEEPS:
                starts = np.empty((2, len(order)), np.int64)
                state = _State(mean, *self._empty(), *starts)
                value = build(self._starts, self._kind, order, prices, np.array(scales), *state[1:])
                if value > self.value:
                    self.value, self._state = value, state

    def improve(self, seconds: float) -> None:
        """Search around the best schedule for about so long."""
        if not len(self._problem):
            return
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            self.value += improve(
                self._starts,
                self._kind,
                *self._state,
                self._wishes,
                self._block,
                self._rounds,
                int(self._rng.choice(REACHES)),
                int(self._rng.choice(MOST)),
                self._rng,
            )
            took = time.perf_counter() - began
            self._rounds = int(min(max(self._rounds * 0.1 / max(took, 1e-6), 10), 1e6))

    def anneal(self, prices: Floats, share: Callable[[int], float]) -> Iterator[None]:
        """Anneal from the best schedule on, and keep the result if it is better; yield meanwhile.

        Parameters
        ----------
        prices
            Shape (2, C, T).
        share
            As in `Annealing.run`.
        """
        best = self._state
        admitted = int((best.start >= 0).sum())
        if not admitted:
            return
        soft = Annealing(self._problem, self._starts, prices, best.worker, best.start)
        mean_reward = self.value / admitted
        yield from soft.run(self._wishes, self._block, mean_reward, share, self._rng)
        slots, room = self._empty()
        value, worker, start = soft.settled(slots, room)
        if value > self.value:
            self.value, self._state = value, _State(best.key, slots, room, worker, start)

    def schedule(self) -> Schedule:
        """Return a copy of the best schedule."""
        start = self._state.start
        return Schedule(self._state.worker.copy(), np.where(start >= 0, start + 1, -1))
