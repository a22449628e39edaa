"""The search for a schedule, guided by the dual."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.hindsight.schedule import Schedule
from olprouting.hindsight.schedule_kernels import build, improve

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.hindsight.dual_kernels import Starts
    from olprouting.hindsight.problem import HindsightProblem

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

SWEEPS = ((1.0, 0.98, 0.0), (0.995, 0.0), (0.99, 0.0), (0.97, 0.0), (0.9, 0.0), (0.0,))
"""How strictly prices turn requests away, sweep by sweep (`schedule_kernels.build`)."""

REACHES = (30, 100, 300)
MOST = (8, 16, 32)


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
        self._key = starts.arrival.astype(np.float64)
        count = len(problem)
        self._device, self._start = np.full(count, -1), np.full(count, -1)
        self._slots, self._room = self._empty()
        self.value = 0.0
        self._rounds = 100

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
        arrival = self._starts.arrival
        served = share > 1e-6
        mean = np.where(served, moment / np.where(served, share, 1.0), arrival)
        last = np.where(share > 0.5, mean, mean + self._problem.periods)
        for key in (mean, last):
            order = np.argsort(key, kind="stable")
            for scales in SWEEPS:
                slots, room = self._empty()
                device, start = np.empty_like(self._device), np.empty_like(self._start)
                value = build(
                    self._starts,
                    self._kind,
                    order,
                    prices,
                    np.array(scales),
                    slots,
                    room,
                    device,
                    start,
                )
                if value > self.value:
                    self.value, self._key = value, mean
                    self._slots, self._room, self._device, self._start = slots, room, device, start

    def improve(self, seconds: float) -> None:
        """Search around the best schedule for about so long."""
        if not len(self._problem):
            return
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            self.value += improve(
                self._starts,
                self._kind,
                self._key,
                self._slots,
                self._room,
                self._device,
                self._start,
                self._rounds,
                int(self._rng.choice(REACHES)),
                int(self._rng.choice(MOST)),
                self._rng,
            )
            took = time.perf_counter() - began
            self._rounds = int(min(max(self._rounds * 0.1 / max(took, 1e-6), 10), 1e6))

    def schedule(self) -> Schedule:
        """Return a copy of the best schedule."""
        start = np.where(self._start >= 0, self._start + 1, -1)
        return Schedule(self._device.copy(), start)
