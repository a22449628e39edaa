"""Subsets of the remaining requests whose total lies in a window, one after another.

Requests of equal size are interchangeable, so a subset is a multiset of size classes, written in
descending order. The next subset is found by backtracking: position t gets the largest class that
can still lead into the window, judged by the smallest and the largest sums of what remains, and
whose regret fits in the budget.
"""

from __future__ import annotations

from olprouting.compiling import Floats, Ints, compiled, inlined

NONE = 0
FOUND = 1
UNFINISHED = 2


@compiled
def remaining_sums(sizes: Floats, left: Ints, least: Floats, most: Floats) -> None:
    """Fill `least` and `most`: sums of the m smallest and m largest remaining sizes, m = 0, 1, ...

    Entries beyond the number of remaining requests repeat the last.
    """
    least[0] = 0.0
    most[0] = 0.0
    filled = 0
    for c in range(len(sizes)):
        for _ in range(left[c]):
            if filled + 1 == len(least):
                break
            filled += 1
            least[filled] = least[filled - 1] + sizes[c]
    for m in range(filled + 1, len(least)):
        least[m] = least[filled]
    filled = 0
    for c in range(len(sizes) - 1, -1, -1):
        for _ in range(left[c]):
            if filled + 1 == len(most):
                break
            filled += 1
            most[filled] = most[filled - 1] + sizes[c]
    for m in range(filled + 1, len(most)):
        most[m] = most[filled]


@inlined
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


@inlined
def largest_from(sizes: Floats, left: Ints, start: int, number: int) -> float:
    """Return the sum of the `number` largest remaining sizes of classes up to `start`, or -1."""
    total = 0.0
    missing = number
    c = start
    while missing > 0 and c >= 0:
        taken = min(missing, left[c])
        total += taken * sizes[c]
        missing -= taken
        c -= 1
    return total if missing == 0 else -1.0


@compiled
def next_subset(
    sizes: Floats,
    left: Ints,
    least: Floats,
    number: int,
    window: Floats,
    regret: Floats,
    budget: float,
    chosen: Ints,
    partial: Floats,
    spent: Floats,
    place: Ints,
    effort: int,
) -> int:
    """Move `chosen` on to the next subset of `number` requests in the window.

    Parameters
    ----------
    regret, budget
        See `regret_kernels`; ``spent[t]`` is the regret of the first t requests.
    place
        [position, class to try there at most]: where the enumeration stands. `begin_subsets` and
        `resume_subsets` set it; at most `effort` steps are made from there.

    Returns
    -------
    int
        FOUND: the subset is taken out of `left` and ``partial[number]`` is its total. NONE: there
        are no more, and everything is back in `left`. UNFINISHED: call again.
    """
    t = place[0]
    candidate = place[1]
    if number == 0:
        place[0] = -1
        return FOUND if t == 0 and window[0] <= 0.0 <= window[1] else NONE
    for _ in range(effort):
        if t >= 0:
            rest = number - t - 1
            candidate = _next_class(
                sizes,
                left,
                rest,
                candidate,
                window[0] - partial[t],
                window[1] - partial[t] - least[rest],
                regret,
                budget - spent[t],
            )
        if t >= 0 and candidate >= 0:
            chosen[t] = candidate
            left[candidate] -= 1
            partial[t + 1] = partial[t] + sizes[candidate]
            spent[t + 1] = spent[t] + regret[candidate]
            t += 1
            if t == number:
                return FOUND
            continue
        t -= 1
        if t < 0:
            return NONE
        left[chosen[t]] += 1
        candidate = chosen[t] - 1
    place[0] = t
    place[1] = candidate
    return UNFINISHED


@inlined
def begin_subsets(classes: int, partial: Floats, place: Ints) -> None:
    """Set `place` to before the first subset."""
    partial[0] = 0.0
    place[0] = 0
    place[1] = classes - 1


@inlined
def resume_subsets(left: Ints, number: int, chosen: Ints, place: Ints) -> None:
    """Put the last request of the present subset back and set `place` to after it."""
    place[0] = number - 1
    if number > 0:
        left[chosen[number - 1]] += 1
        place[1] = chosen[number - 1] - 1


@inlined
def _next_class(
    sizes: Floats,
    left: Ints,
    further: int,
    start: int,
    need: float,
    limit: float,
    regret: Floats,
    budget: float,
) -> int:
    """Return the next class at or before `start` that may be taken, or -1."""
    c = first_above(sizes, 0, start + 1, limit) - 1
    while c >= 0 and (left[c] == 0 or regret[c] >= budget):
        c -= 1
    if c < 0:
        return -1
    if further == 0:
        return c if sizes[c] >= need else -1
    if sizes[c] * (further + 1) < need:
        return -1
    return c if largest_from(sizes, left, c, further + 1) >= max(need, 0.0) else -1
