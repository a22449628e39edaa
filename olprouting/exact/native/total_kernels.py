"""The totals that a few requests can have, and which of them can still be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import Floats, Ints, compiled, kernel

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem


@kernel
def available_below(problem: Problem, left: Ints, entry: int, end: int) -> int:
    """Return the last entry before `entry` whose requests are not placed yet, or `end`."""
    entry -= 1
    while entry > end and not _is_available(problem, left, entry):
        entry -= 1
    return entry


@kernel
def available_from(problem: Problem, left: Ints, entry: int, end: int) -> int:
    """Return the first entry from `entry` on whose requests are not placed yet, or `end`."""
    while entry < end and not _is_available(problem, left, entry):
        entry += 1
    return entry


@kernel
def _is_available(problem: Problem, left: Ints, entry: int) -> bool:
    """Whether the requests of a total are not placed yet."""
    first = problem.total_classes[entry, 0]
    second = problem.total_classes[entry, 1]
    third = problem.total_classes[entry, 2]
    enough: bool = left[first] >= 1 + (second == first) + (third == first)
    if second >= 0 and second != first:
        enough = enough and left[second] >= 1 + (third == second)
    if third >= 0 and third not in (first, second):
        enough = enough and left[third] >= 1
    return enough


@compiled
def fill_totals(sizes: Floats, supply: Ints, number: int, totals: Floats, classes: Ints) -> int:
    """Fill the totals of 1 to 3 requests, not sorted, and their size classes; return how many."""
    count = 0
    for a in range(len(sizes)):
        if number == 1:
            totals[count] = sizes[a]
            classes[count, 0] = a
            classes[count, 1] = -1
            classes[count, 2] = -1
            count += 1
            continue
        for b in range(a, len(sizes)):
            if b == a and supply[a] < 2:
                continue
            if number == 2:
                totals[count] = sizes[a] + sizes[b]
                classes[count, 0] = a
                classes[count, 1] = b
                classes[count, 2] = -1
                count += 1
                continue
            for c in range(b, len(sizes)):
                if supply[c] < 1 + (c == b) + (c == a):
                    continue
                totals[count] = sizes[a] + sizes[b] + sizes[c]
                classes[count, 0] = a
                classes[count, 1] = b
                classes[count, 2] = c
                count += 1
    return count
