"""Compiled Algorithm 2 under observation: best and averaged iterates, and a proof of quality.

Only evaluations over the whole history count here. At evaluated iterates the columns of positive
margin are the subgradient's own primal solution; averaged with the steps' factors they approach an
optimal schedule of the sample. Shrunk until they fit, they are a feasible one, whose value bounds
the minimum of f from below, as f(p) does from above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, kernel
from olprouting.prices.descent_kernels import descent_step, draw, live_ranges, locate
from olprouting.prices.pricing_kernels import all_margins, end_of, full_sample_value, normalised

if TYPE_CHECKING:
    from olprouting.prices.columns import SaaProblem


@compiled
def descend_tracked(
    problem: SaaProblem,
    last: Floats,
    steps: int,
    batch_columns: int,
    step_size: float,
    shrinking: bool,
    every: int,
    rng: np.random.Generator,
    best: Floats,
    averaged: Floats,
) -> tuple[float, int, float]:
    """Take the steps of `descend` from `last`, in place, and fill `best` and `averaged`.

    Prices have shape (2, G, P): of slots and of KV tokens.

    Parameters
    ----------
    problem
        The dual; it has at least one column.
    last
        The start, then the last iterate.
    steps, batch_columns, step_size, shrinking, rng
        As for `descend`.
    every
        Evaluate f over the whole history before the first step, after every `every`-th and after
        the last one.
    best
        The evaluated iterate of smallest f.
    averaged
        The mean of the iterates after each step, weighted by the steps' factors.

    Returns
    -------
    tuple
        f of the best iterate, the step after which it was found, and the lower bound, >= 0.
    """
    count, positions = len(problem.columns.reward), problem.slots.shape[1]
    size = min(batch_columns, count)
    order = np.arange(count)
    live = live_ranges(last[0], last[1])
    points, places = np.empty(2 * size, np.int64), np.empty((2, size), np.int64)
    uniforms = np.empty(size)
    sums, margins = np.empty((3, last.shape[1], positions + 1)), np.empty(count)
    share = np.zeros(count)
    share_weight, total_weight, lower = 0.0, 0.0, 0.0
    best_value, best_step = np.inf, 0
    flat_last, flat_best, flat_averaged = last.ravel(), best.ravel(), averaged.ravel()
    averaged.fill(0.0)
    for step in range(steps + 1):
        evaluated = step % every == 0 or step == steps
        if evaluated:
            all_margins(problem, last[0], last[1], sums, margins)
            value = full_sample_value(problem, last[0], last[1], margins)
            if value < best_value:
                best_value, best_step = value, step
                for i in range(len(flat_last)):
                    flat_best[i] = flat_last[i]
        factor = step_size
        if step < steps:
            if step == 0 or size < count:
                if size < count:
                    for i in range(size):
                        uniforms[i] = rng.random()
                    draw(order, uniforms)
                locate(problem, order, points, places)
            factor = descent_step(
                problem,
                last[0],
                last[1],
                order,
                points,
                places,
                live,
                step + 1,
                step_size,
                shrinking,
            )
            total_weight += factor
            for i in range(len(flat_last)):
                flat_averaged[i] += factor * flat_last[i]
        if evaluated:
            weight = factor if factor > 0 else step_size
            share_weight += weight
            for column in range(count):
                if margins[column] > 0:
                    share[column] += weight
            if step == steps or step & (step - 1) == 0:  # then start afresh: early iterates mislead
                for column in range(count):
                    share[column] /= share_weight
                lower = max(lower, schedule_value(problem, share))
                share.fill(0.0)
                share_weight = 0.0
    for i in range(len(flat_last)):
        flat_averaged[i] = flat_averaged[i] / total_weight if total_weight > 0 else flat_last[i]
    return best_value, best_step, lower


@kernel
def schedule_value(problem: SaaProblem, share: Floats) -> float:
    """Return the mean reward of a feasible schedule near `share`, shape (N,), in [0, 1].

    Every column is shrunk by the worst ratio of scarcity to use among its positions.
    """
    columns = problem.columns
    fit = fit_ratios(problem, share)
    value = 0.0
    for column in range(len(share)):
        if share[column] > 0:
            ratio = 1.0
            g = columns.worker[column]
            for i in range(columns.first[column], end_of(problem, column)):
                ratio = min(ratio, fit[g, i])
            value += ratio * share[column] * normalised(problem, column)
    return float(value / len(share))


@kernel
def fit_ratios(problem: SaaProblem, share: Floats) -> Floats:
    """Return min(1, scarcity / mean use) over both resources, shape (G, P)."""
    columns = problem.columns
    workers, positions = problem.slots.shape
    starts = np.zeros((2, workers, positions + 1))
    for column in range(len(share)):
        i, j = columns.first[column], end_of(problem, column)
        if i < j:
            g, weight = columns.worker[column], share[column] / len(share)
            starts[0, g, i] += weight
            starts[0, g, j] -= weight
            starts[1, g, i] += weight * (columns.tokens[column] - i)
            starts[1, g, j] -= weight * (columns.tokens[column] - i)
    fit = np.ones((workers, positions))
    for g in range(workers):
        slots, base = 0.0, 0.0
        for i in range(problem.width):
            slots += starts[0, g, i]
            base += starts[1, g, i]
            tokens = problem.mem_scale * (base + i * slots)
            fit[g, i] = min(
                ratio_of(problem.slot_factor * problem.slots[g, i], slots),
                ratio_of(problem.kv_factor * problem.kv_tokens[g, i], tokens),
            )
    return fit


@kernel
def ratio_of(scarcity: float, used: float) -> float:
    """Return min(1, scarcity / used), 1 where (up to rounding) nothing is used."""
    if used <= max(scarcity, 1e-12):
        return 1.0
    return scarcity / used
