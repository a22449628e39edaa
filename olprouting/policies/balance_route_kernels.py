"""Compiled BR-0 and BR-H: single admissions, then small subsets (balance paper, 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, compiled, inlined
from olprouting.policies.fcfs_kernels import smallest_free
from olprouting.policies.score_kernels import (
    best_single_scan,
    best_single_sorted,
    best_subset_enumerated,
    best_subset_reachable,
)

if TYPE_CHECKING:
    from olprouting.policies.rules import RuleParameters
    from olprouting.policies.view import View


@compiled
def route_balance(
    parameters: RuleParameters,
    view: View,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> None:
    """Fill `position` and `worker`, shape (U,), with the pairs that BR-0 or BR-H admits."""
    load = view.projected_load_tokens.copy()
    peak = load[0].copy()
    for g in range(1, len(load)):
        for h in range(len(peak)):
            peak[h] = max(peak[h], load[g, h])
    weights = parameters.offset_weights[: len(peak)]  # a shrunken window: between refreshes
    free = view.free_slots.copy()
    taken = np.zeros(len(view.waiting_prompt_tokens), np.bool_)
    done = admit_singles(parameters, weights, view, rng, load, peak, free, taken, position, worker)
    admit_subsets(parameters, weights, view, rng, load, peak, free, taken, done, position, worker)


@inlined
def admit_singles(
    parameters: RuleParameters,
    weights: Floats,
    view: View,
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
    positions = np.argsort(view.waiting_prompt_tokens, kind="mergesort")
    sizes = view.waiting_prompt_tokens[positions]
    left = len(sizes)
    while total_free > parameters.greedy_slots and left > 0:
        g = emptiest(free, load, parameters.random_ties, rng)
        index = best_single_sorted(
            sizes[:left],
            positions[:left],
            margins_of(load, peak, g),
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


@inlined
def admit_subsets(
    parameters: RuleParameters,
    weights: Floats,
    view: View,
    rng: np.random.Generator,
    load: Floats,
    peak: Floats,
    free: Ints,
    taken: Bools,
    done: int,
    position: Ints,
    worker: Ints,
) -> None:
    """Stage 2: give one worker at a time the best subset of the first R_max waiting requests."""
    window = np.empty(parameters.window, np.int64)
    sizes = np.empty(parameters.window, np.int64)
    while done < view.admissions:
        g = neediest(free, load, peak, parameters.random_ties, rng)
        seen = 0
        for i in range(len(taken)):
            if not taken[i]:
                window[seen] = i
                sizes[seen] = view.waiting_prompt_tokens[i]
                seen += 1
                if seen == parameters.window:
                    break
        limit = min(free[g], seen)
        margins = margins_of(load, peak, g)
        penalty = parameters.overflow_penalty
        growing = parameters.growing
        if parameters.enumerate_subsets:
            best, chosen = best_subset_enumerated(
                sizes[:seen], limit, margins, weights, penalty, growing
            )
        else:
            best, chosen = best_subset_reachable(
                sizes[:seen], limit, margins, weights, penalty, growing
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


@compiled
def place(
    load: Floats, peak: Floats, free: Ints, g: int, total: float, count: int, growing: int
) -> None:
    """Account for `count` requests with `total` prompt tokens on worker g."""
    free[g] -= count
    for h in range(len(peak)):
        load[g, h] += total + growing * h * count
        peak[h] = max(peak[h], load[g, h])


@compiled
def margins_of(load: Floats, peak: Floats, g: int) -> Floats:
    """Return m[g,h], how much worker g can take at every offset below the peak."""
    margins = np.empty(len(peak))
    for h in range(len(peak)):
        margins[h] = peak[h] - load[g, h]
    return margins


@inlined
def emptiest(free: Ints, load: Floats, random_ties: bool, rng: np.random.Generator) -> int:
    """Return the worker with most free slots; among those the one with the smallest load."""
    measure = np.empty(len(free))
    for g in range(len(free)):
        measure[g] = load[g, 0]
    return smallest_free(free, most(free), measure, random_ties, rng)


@inlined
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


@compiled
def most(free: Ints) -> int:
    """Return the largest number of free slots on a worker."""
    largest = 0
    for count in free:
        largest = max(largest, count)
    return largest
