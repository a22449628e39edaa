"""Compiled pricing: a'p of any column in O(1), from prefix sums of the prices.

For a column on worker g that is active at positions i..j-1 and holds `tokens` at age 0,

    a'p = sum p_bat + mem_scale * sum (tokens + position - i) * p_mem
        = sum p_bat + mem_scale * ((tokens - i) * sum p_mem + sum position * p_mem),

each sum over positions i..j-1: a difference of two prefix sums.

Source: bid-price paper, equation (10); the prefix sums are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, kernel

if TYPE_CHECKING:
    from olprouting.prices.columns import SaaProblem


@kernel
def prefix_sums(batch: Floats, memory: Floats, begin: int, end: int, sums: Floats) -> None:
    """Fill `sums`, shape (3, G, >= end-begin+1), with prefix sums of prices of shape (G, P).

    ``sums[:, g, i]`` are the sums of p_bat, p_mem and i * p_mem over positions begin..begin+i-1 of
    worker g, with i counted from `begin`.
    """
    for g in range(len(batch)):
        slot_row, memory_row = batch[g, begin:end], memory[g, begin:end]
        total_batch, total_memory, moment = 0.0, 0.0, 0.0
        sums[0, g, 0], sums[1, g, 0], sums[2, g, 0] = 0.0, 0.0, 0.0
        for i in range(len(slot_row)):
            total_batch += slot_row[i]
            total_memory += memory_row[i]
            moment += i * memory_row[i]
            sums[0, g, i + 1] = total_batch
            sums[1, g, i + 1] = total_memory
            sums[2, g, i + 1] = moment


@kernel
def price_between(sums: Floats, g: int, i: int, j: int, tokens: int, mem_scale: float) -> float:
    """Return a'p of a column on worker g, active at positions i..j-1."""
    memory = sums[1, g, j] - sums[1, g, i]
    moment = sums[2, g, j] - sums[2, g, i]
    used = (tokens - i) * memory + moment
    return float(sums[0, g, j] - sums[0, g, i] + mem_scale * used)


@kernel
def normalised(problem: SaaProblem, column: int) -> float:
    """Return the reward of a column in the problem's units."""
    reward = problem.columns.reward[column] / problem.reward_normalizer
    return float(min(reward, problem.reward_ceiling))


@kernel
def end_of(problem: SaaProblem, column: int) -> int:
    """Return one past the last position that a column uses."""
    columns = problem.columns
    return int(min(columns.first[column] + columns.active[column], problem.width))


@compiled
def all_margins(
    problem: SaaProblem, batch: Floats, memory: Floats, sums: Floats, margins: Floats
) -> None:
    """Fill `margins`, shape (N,), with r - a'p of every column; `sums` is scratch (3, G, P+1)."""
    columns = problem.columns
    prefix_sums(batch, memory, 0, problem.width, sums)
    for column in range(len(margins)):
        i, j = columns.first[column], end_of(problem, column)
        cost = 0.0
        if i < j:
            g, tokens = columns.worker[column], columns.tokens[column]
            cost = price_between(sums, g, i, j, tokens, problem.mem_scale)
        margins[column] = normalised(problem, column) - cost


@kernel
def full_sample_value(problem: SaaProblem, batch: Floats, memory: Floats, margins: Floats) -> float:
    """Return f(p) over the whole history, given the margins of all its columns at p."""
    value = 0.0
    for g in range(len(batch)):
        for i in range(problem.width):
            value += problem.slot_factor * problem.slots[g, i] * batch[g, i]
            value += problem.kv_factor * problem.kv_tokens[g, i] * memory[g, i]
    gain = 0.0
    for margin in margins:
        gain += max(margin, 0.0)
    return float(value + gain / max(1, len(margins)))


@compiled
def evaluate(problem: SaaProblem, batch: Floats, memory: Floats) -> float:
    """Return f(p) over the whole history: by weak duality a bound on the sample's LP."""
    sums = np.empty((3, len(batch), problem.width + 1))
    margins = np.empty(len(problem.columns.reward))
    all_margins(problem, batch, memory, sums, margins)
    return float(full_sample_value(problem, batch, memory, margins))
