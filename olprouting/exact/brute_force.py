"""Backend that tries every assignment of a tiny decision: the referee of the others."""

from __future__ import annotations

import time
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.exact.backend import Abilities, BeyondRangeError, Outcome
from olprouting.exact.bounds import plain
from olprouting.exact.check import objective
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Assignment

MAX_ASSIGNMENTS = 200_000
"""Larger decisions are refused."""


def assignments(decision: Decision) -> Iterator[Assignment]:
    """Yield every maximal assignment of `decision`, each once.

    Raises
    ------
    BeyondRangeError
        If there are more than `MAX_ASSIGNMENTS`.
    """
    number = _count(decision.free_slots.tolist(), decision.waiting, decision.admissions)
    if number > MAX_ASSIGNMENTS:
        raise BeyondRangeError(
            f"brute force: {number} assignments exceed {MAX_ASSIGNMENTS}; use another solver"
        )
    waiting = tuple(range(decision.waiting))
    for pairs in _fill(decision.free_slots.tolist(), waiting, decision.admissions, 0):
        yield tuple(sorted(pairs))


class BruteForce:
    """Enumeration in exact arithmetic."""

    abilities = Abilities(("enumeration",), on_incumbent=True)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome[Assignment]:
        """Solve `decision`; see `Backend`."""
        if options.native:
            raise InputError(f"brute-force has no option {next(iter(options.native))!r}")
        began = time.perf_counter()
        best = _Best(options, decision)
        try:
            stop = best.search(began)
        except KeyboardInterrupt:
            stop = StopReason.INTERRUPTED
        bound = best.value if stop is StopReason.OPTIMAL else None
        wall_s = time.perf_counter() - began
        return Outcome(stop, best.assignment, bound, wall_s, 0.0, "enumerated")


class _Best:
    """The best assignment so far."""

    def __init__(self, options: SolveOptions, decision: Decision) -> None:
        self._options, self._decision = options, decision
        self.assignment: Assignment | None = None
        self.value: int | Fraction | None = None

    def search(self, began: float) -> StopReason:
        """Look at every assignment, until told to stop."""
        limit_s, tell = self._options.time_limit_s, self._options.on_incumbent
        for candidate in assignments(self._decision):
            elapsed_s = time.perf_counter() - began
            if limit_s is not None and elapsed_s >= limit_s:
                return StopReason.TIME_LIMIT
            value = objective(self._decision, candidate)
            if self.value is None or value < self.value:
                self.assignment, self.value = candidate, value
                if tell is not None and tell(plain(value), None, elapsed_s):
                    return StopReason.INTERRUPTED
        return StopReason.OPTIMAL


def _fill(
    free: list[int], waiting: tuple[int, ...], left: int, worker: int
) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to place `left` of `waiting` on workers `worker`, `worker` + 1, ..."""
    if left == 0:
        yield []
        return
    if worker == len(free):
        return
    for number in range(min(free[worker], left) + 1):
        for chosen in combinations(waiting, number):
            rest = tuple(i for i in waiting if i not in chosen)
            for others in _fill(free, rest, left - number, worker + 1):
                yield [(i, worker) for i in chosen] + others


def _count(free: list[int], waiting: int, admissions: int) -> int:
    """Return the number of maximal assignments, without making them."""
    ways = {0: 1}  # number placed so far -> number of ways
    for slots in free:
        following: dict[int, int] = {}
        for placed, number in ways.items():
            for more in range(min(slots, admissions - placed) + 1):
                total = placed + more
                choices = comb(waiting - placed, more)
                following[total] = following.get(total, 0) + number * choices
        ways = following
    return ways.get(admissions, 0)
