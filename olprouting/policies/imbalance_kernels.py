"""The policy that lets the projected imbalance grow least, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, Ints, kernel
from olprouting.policies.fcfs_kernels import smallest_free

if TYPE_CHECKING:
    from olprouting.policies.parameters import ImbalanceParameters
    from olprouting.policies.view import View


@kernel
def route_least_imbalance(
    parameters: ImbalanceParameters | None,
    random_ties: bool,
    view: View,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Give the first U requests, one by one, to the worker where the imbalance grows least.

    With loads L_gh and peaks M_h = max_g L_gh, a request that adds w_h on worker g adds
    sum_h gamma^h (G (L_gh + w_h - M_h)+ - w_h) to the imbalance of the window (balance paper,
    section 3, for one request). Workers that exceed no peak are alike in that; among these the
    lightest takes it. Fills `position` and `worker`, shape (U,), and returns U; 0 if there are no
    parameters.
    """
    if parameters is None:
        return 0
    workers, offsets = view.projected_load_tokens.shape
    load = view.projected_load_tokens.copy()
    free = view.free_slots.copy()
    peak = np.empty(offsets)
    for h in range(offsets):
        peak[h] = load[0, h]
        for g in range(1, workers):
            peak[h] = max(peak[h], load[g, h])
    excess = np.empty(workers)
    measure = np.empty(workers)
    weights = parameters.offset_weights[:offsets]  # a shrunken window: between refreshes
    for u in range(view.admissions):
        size = view.waiting_prompt_tokens[u]
        least = np.inf
        for g in range(workers):
            excess[g] = excess_of(load[g], peak, weights, size, parameters.growing)
            if free[g] > 0:
                least = min(least, excess[g])
        for g in range(workers):
            measure[g] = load[g, 0] if excess[g] == least else np.inf
        g = smallest_free(free, 1, measure, random_ties, rng)
        for h in range(offsets):
            load[g, h] += size + parameters.growing * h
            peak[h] = max(peak[h], load[g, h])
        position[u] = u
        worker[u] = g
        free[g] -= 1
    return view.admissions


@kernel
def excess_of(load: Floats, peak: Floats, weights: Floats, size: int, growing: int) -> float:
    """Return by how much a request would raise the peaks on a worker, weighted by offset."""
    total = 0.0
    for h in range(len(peak)):
        total += weights[h] * max(0.0, load[h] + size + growing * h - peak[h])
    return total
