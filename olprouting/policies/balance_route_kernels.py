"""Compiled BR-0 and BR-H: single admissions, then small subsets (balance paper, 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, kernel
from olprouting.policies.fcfs_kernels import smallest_free
from olprouting.policies.score_kernels import (
    best_single_scan,
    best_single_sorted,
    best_subset_enumerated,
    best_subset_reachable,
)

if TYPE_CHECKING:
    from olprouting.policies.parameters import BalanceParameters
    from olprouting.policies.view import View


@kernel
def route_balance(
    parameters: BalanceParameters | None,
    random_ties: bool,
    view: View,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Fill `position` and `worker`, shape (U,), with the pairs that BR-0 or BR-H admits.

    Returns their number: 0 if there are no parameters.
    """
    if parameters is None:
        return 0
    workers, offsets = view.projected_load_tokens.shape
    load = np.empty((workers, offsets))
    peak = np.empty(offsets)
    free = np.empty(workers, np.int64)
    for g in range(workers):
        free[g] = view.free_slots[g]
        for h in range(offsets):
            load[g, h] = view.projected_load_tokens[g, h]
            peak[h] = max(peak[h], load[g, h]) if g > 0 else load[g, h]
    sizes = view.waiting_prompt_tokens
    taken = np.zeros(len(sizes), np.bool_)
    done = admit_singles(
        parameters, random_ties, sizes, rng, load, peak, free, taken, position, worker
    )
    while done < view.admissions:
        done = admit_subset(
            parameters, random_ties, sizes, rng, load, peak, free, taken, done, position, worker
        )
    return done


@kernel
def admit_singles(
    parameters: BalanceParameters,
    random_ties: bool,
    prompt: Ints,
    rng: np.random.Generator,
    load: Floats,
    peak: Floats,
    free: Ints,
    taken: Bools,
    position: Ints,
    worker: Ints,
) -> int:
    """Stage 1: give the emptiest worker its best single request while many slots are free."""
    done = 0
    total_free = 0
    for count in free:
        total_free += count
    if total_free <= parameters.greedy_slots:
        return done
    weights = parameters.offset_weights[: len(peak)]  # a shrunken window: between refreshes
    margins = np.empty(len(peak))
    left = len(prompt)
    positions = ascending(prompt)
    sizes = np.empty(left, np.int64)
    for i in range(left):
        sizes[i] = prompt[positions[i]]
    while total_free > parameters.greedy_slots and left > 0:
        g = emptiest(free, load, random_ties, rng)
        fill_margins(load, peak, g, margins)
        index = best_single_sorted(
            sizes[:left],
            positions[:left],
            margins,
            weights,
            parameters.overflow_penalty,
            parameters.growing,
        )
        position[done] = positions[index]
        worker[done] = g
        taken[positions[index]] = True
        place(load, peak, free, g, sizes[index], 1, parameters.growing)
        done += 1
        total_free -= 1
        left -= 1
        for i in range(index, left):
            sizes[i] = sizes[i + 1]
            positions[i] = positions[i + 1]
    return done


@kernel
def ascending(sizes: Ints) -> Ints:
    """Return the positions of `sizes` by size, equal ones in order: a merge sort from below.

    NumPy's stable argsort would take four seconds to compile.
    """
    items = len(sizes)
    order = np.empty(items, np.int64)
    merged = np.empty(items, np.int64)
    for i in range(items):
        order[i] = i
    run = 1
    while run < items:
        for start in range(0, items, 2 * run):
            middle, end = min(start + run, items), min(start + 2 * run, items)
            left, right = start, middle
            for place in range(start, end):
                if right == end or (left < middle and sizes[order[left]] <= sizes[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        run *= 2
    return order


@kernel
def admit_subset(
    parameters: BalanceParameters,
    random_ties: bool,
    prompt: Ints,
    rng: np.random.Generator,
    load: Floats,
    peak: Floats,
    free: Ints,
    taken: Bools,
    done: int,
    position: Ints,
    worker: Ints,
) -> int:
    """Stage 2: give the neediest worker the best subset of the first R_max waiting requests.

    Returns how many requests are admitted then.
    """
    window = np.empty(parameters.window, np.int64)
    sizes = np.empty(parameters.window, np.int64)
    seen = 0
    for i in range(len(taken)):
        if not taken[i]:
            window[seen] = i
            sizes[seen] = prompt[i]
            seen += 1
            if seen == parameters.window:
                break
    g = neediest(free, load, peak, random_ties, rng)
    margins = np.empty(len(peak))
    fill_margins(load, peak, g, margins)
    weights = parameters.offset_weights[: len(peak)]
    penalty, growing = parameters.overflow_penalty, parameters.growing
    limit = min(free[g], seen)
    best, chosen = best_subset(
        parameters.search_totals, sizes[:seen], limit, margins, weights, penalty, growing
    )
    if best <= 0:
        chosen = chosen[:1]
        chosen[0] = best_single_scan(sizes[:seen], margins, weights, penalty, growing)
    total = 0
    for i in chosen:
        position[done] = window[i]
        worker[done] = g
        taken[window[i]] = True
        total += sizes[i]
        done += 1
    place(load, peak, free, g, total, len(chosen), growing)
    return done


@kernel
def best_subset(
    search_totals: bool | None,
    sizes: Ints,
    limit: int,
    margins: Floats,
    weights: Floats,
    penalty: float,
    growing: int,
) -> tuple[float, Ints]:
    """Return the best score and subset by one of the two searches, which agree."""
    if search_totals is None:
        return best_subset_enumerated(sizes, limit, margins, weights, penalty, growing)
    return best_subset_reachable(sizes, limit, margins, weights, penalty, growing)


@kernel
def place(
    load: Floats, peak: Floats, free: Ints, g: int, total: int, count: int, growing: int
) -> None:
    """Account for `count` requests with `total` prompt tokens on worker g."""
    free[g] -= count
    for h in range(len(peak)):
        load[g, h] += total + growing * h * count
        peak[h] = max(peak[h], load[g, h])


@kernel
def fill_margins(load: Floats, peak: Floats, g: int, margins: Floats) -> None:
    """Fill `margins` with m[g,h], how much worker g can take at every offset below the peak."""
    for h in range(len(peak)):
        margins[h] = peak[h] - load[g, h]


@kernel
def emptiest(free: Ints, load: Floats, random_ties: bool, rng: np.random.Generator) -> int:
    """Return the worker with most free slots; among those the one with the smallest load."""
    measure = np.empty(len(free))
    for g in range(len(free)):
        measure[g] = load[g, 0]
    return smallest_free(free, most(free), measure, random_ties, rng)


@kernel
def neediest(
    free: Ints, load: Floats, peak: Floats, random_ties: bool, rng: np.random.Generator
) -> int:
    """Return the worker first in descending (free slots, smallest margin over the window)."""
    most_free = most(free)
    measure = np.zeros(len(free))
    for g in range(len(free)):
        if free[g] == most_free:
            smallest = peak[0] - load[g, 0]
            for h in range(1, len(peak)):
                smallest = min(smallest, peak[h] - load[g, h])
            measure[g] = -smallest
    return smallest_free(free, most_free, measure, random_ties, rng)


@kernel
def most(free: Ints) -> int:
    """Return the largest number of free slots on a worker."""
    largest = 0
    for count in free:
        largest = max(largest, count)
    return largest
