"""Bisecting the peak of a decision that is a question of packing only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.native.fill_kernels import FOUND, IMPOSSIBLE, UNFINISHED, fill_completely

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.compiling import Ints
    from olprouting.exact.native.problem import Problem

FIRST_STEPS = 1_000_000
MOST_STEPS = 4_000_000
STEPS_FACTOR = 2
"""Steps for each peak: the first time, at most, and by how much they grow from time to time."""

MISSES = 3
"""Peaks given up each time."""


@dataclass(frozen=True)
class Packed:
    """What came of one peak.

    Parameters
    ----------
    value
        Value of a division with that peak.
    placed
        Size class and worker of each request in such a division, or None.
    impossible
        Whether there is none.
    """

    value: float
    placed: tuple[Ints, Ints] | None
    impossible: bool


class Packing:
    """Myopic decisions that admit everything: only the peak varies.

    Parameters
    ----------
    seed
        Of the orders in which workers are tried: luck decides how soon one ends.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._steps = FIRST_STEPS

    def bisect(self, problem: Problem, least: float, best: float) -> Iterator[Packed]:
        """Yield what comes of peaks between those of two values, until enough is known or tried.

        Parameters
        ----------
        problem
            The decision.
        least
            No division has a smaller value.
        best
            Value of the best division known.
        """
        if not problem.everything or len(problem.weights) > 1:
            return
        held = np.repeat(np.arange(len(problem.sizes)), problem.supply)[::-1]
        sizes, place = problem.sizes[held], np.zeros_like(held)
        order = self._rng.permutation(len(problem.slots))
        loads = problem.loads[order, 0]
        slots = np.minimum(problem.slots[order], problem.admissions)
        weight, tokens = problem.weights[0], problem.price * sizes.sum()
        low, high = ((value + tokens) // weight for value in (least, best))
        peak, misses = low, 0
        while peak < high and misses < MISSES:
            end = fill_completely(sizes, peak - loads, slots, self._steps, place)
            placed = (held, order[place]) if end == FOUND else None
            yield Packed(weight * peak - tokens, placed, end == IMPOSSIBLE)
            low, high = (low, peak) if end == FOUND else (peak + 1, high)
            misses += end == UNFINISHED
            peak = (low + high) // 2
        self._steps = min(STEPS_FACTOR * self._steps, MOST_STEPS)
