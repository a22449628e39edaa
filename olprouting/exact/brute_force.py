"""Backend that tries every assignment of a tiny decision: the referee of the others."""

from __future__ import annotations

import time
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.check import objective
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from olprouting.exact.options import SolveOptions
    from olprouting.instances.solve_result import Assignment

MAX_ASSIGNMENTS = 200_000
"""Larger decisions are refused."""


def assignments(decision: Decision) -> Iterator[Assignment]:
    """Yield every maximal assignment of `decision`, each once.

    Raises
    ------
    InputError
        If there are more than `MAX_ASSIGNMENTS`.
    """
    number = _count(decision.free_slots.tolist(), decision.waiting, decision.admissions)
    if number > MAX_ASSIGNMENTS:
        raise InputError(
            f"brute force: {number} assignments exceed {MAX_ASSIGNMENTS}; use another solver"
        )
    waiting = tuple(range(decision.waiting))
    for pairs in _fill(decision.free_slots.tolist(), waiting, decision.admissions, 0):
        yield tuple(sorted(pairs))


class BruteForce:
    """Enumeration in exact arithmetic."""

    abilities = Abilities(("enumeration",), warm_start=False, on_incumbent=True, node_limit=False)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome:
        """Solve `decision`; see `Backend`."""
        if options.native:
            raise InputError(f"brute-force has no option {next(iter(options.native))!r}")
        began = time.perf_counter()
        best: Assignment | None = None
        value: int | Fraction | None = None
        stop = StopReason.OPTIMAL
        for candidate in assignments(decision):
            elapsed_s = time.perf_counter() - began
            if options.time_limit_s is not None and elapsed_s >= options.time_limit_s:
                stop = StopReason.TIME_LIMIT
                break
            candidate_value = objective(decision, candidate)
            if value is None or candidate_value < value:
                best, value = candidate, candidate_value
                if options.on_incumbent and options.on_incumbent(_plain(value), None, elapsed_s):
                    stop = StopReason.INTERRUPTED
                    break
        bound = value if stop is StopReason.OPTIMAL else None
        return Outcome(stop, best, bound, time.perf_counter() - began, 0.0, "enumerated")


def _plain(value: int | Fraction) -> int | float:
    return value if isinstance(value, int) else float(value)


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
