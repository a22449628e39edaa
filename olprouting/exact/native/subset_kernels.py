"""Subsets of the remaining requests whose total lies in a window, one after another.

Requests of equal size are interchangeable, so a subset is a multiset of size classes, written in
descending order. The next subset is found by backtracking: position t gets the largest class that
can still lead into the window, judged by the smallest and the largest sums of what remains, and
whose regret fits in the budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import Floats, kernel

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState

NONE = 0
FOUND = 1
UNFINISHED = 2


@kernel
def remaining_sums(problem: Problem, state: SearchState, j: int) -> None:
    """Fill row j of `least` and `most`: sums of the m smallest and m largest remaining sizes.

    Entries beyond the number of remaining requests repeat the last.
    """
    least, most = state.least[j], state.most[j]
    sizes, left = problem.sizes, state.left
    least[0] = 0.0
    most[0] = 0.0
    filled = 0
    for c in range(len(sizes)):
        for _ in range(min(left[c], len(least) - 1 - filled)):
            filled += 1
            least[filled] = least[filled - 1] + sizes[c]
    taken = 0
    for c in range(len(sizes) - 1, -1, -1):
        for _ in range(min(left[c], filled - taken)):
            taken += 1
            most[taken] = most[taken - 1] + sizes[c]
    for m in range(filled + 1, len(least)):
        least[m] = least[filled]
        most[m] = most[filled]


@kernel
def first_above(values: Floats, start: int, stop: int, limit: float) -> int:
    """Return the first of the entries start..stop-1, which ascend, above `limit`, or `stop`."""
    low = start
    high = stop
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def begin_subsets(problem: Problem, state: SearchState, j: int) -> None:
    """Go to before the first subset of worker j."""
    place = state.place[0]
    state.partial[j, 0] = 0.0
    place.position = 0
    place.candidate = len(problem.sizes) - 1


@kernel
def resume_subsets(state: SearchState, j: int) -> None:
    """Put the last request of worker j's present subset back and go on after it."""
    place = state.place[0]
    last = state.counts[j] - 1
    place.position = last
    if last >= 0:
        c = state.chosen[j, last]
        state.left[c] += 1
        place.candidate = c - 1


@kernel
def next_subset(problem: Problem, state: SearchState, j: int, effort: int) -> int:
    """Move worker j on to its next subset in the window, in at most `effort` steps.

    Returns
    -------
    int
        FOUND: the subset is taken out of `left` and row j of `partial` ends with its total. NONE:
        there are no more, and everything is back in `left`. UNFINISHED: call again.
    """
    place, number = state.place[0], state.counts[j]
    left, chosen, regret = state.left, state.chosen[j], state.regret[j]
    partial, spent = state.partial[j], state.spent[j]
    t = place.position
    c = place.candidate
    if number == 0:
        place.position = -1
        return FOUND if t == 0 and state.window[j, 0] <= 0.0 <= state.window[j, 1] else NONE
    for _ in range(effort):
        if t >= 0:
            c = _next_class(problem, state, j, number - t, t, c)
        if t >= 0 and c >= 0:
            chosen[t] = c
            left[c] -= 1
            partial[t + 1] = partial[t] + problem.sizes[c]
            spent[t + 1] = spent[t] + regret[c]
            t += 1
            if t == number:
                return FOUND
            continue
        t -= 1
        if t < 0:
            return NONE
        left[chosen[t]] += 1
        c = chosen[t] - 1
    place.position = t
    place.candidate = c
    return UNFINISHED


@kernel
def _next_class(
    problem: Problem, state: SearchState, j: int, missing: int, t: int, start: int
) -> int:
    """Return the next class at or before `start` that may come at position t of a subset, or -1.

    So many requests are `missing` from the subset, the one at position t included.
    """
    sizes, left, regret = problem.sizes, state.left, state.regret[j]
    need = state.window[j, 0] - state.partial[j, t]
    limit = state.window[j, 1] - state.partial[j, t] - state.least[j, missing - 1]
    budget = state.budget[j] - state.spent[j, t]
    c = first_above(sizes, 0, start + 1, limit) - 1
    while c >= 0 and (left[c] == 0 or regret[c] >= budget):
        c -= 1
    if c < 0:
        return -1
    if missing == 1:
        return c if sizes[c] >= need else -1
    if sizes[c] * missing < need:
        return -1
    total = 0.0  # of the largest remaining sizes up to this class
    for other in range(c, -1, -1):
        taken = min(missing, left[other])
        total += taken * sizes[other]
        missing -= taken
        if missing == 0:
            return c if total >= need else -1
    return -1
