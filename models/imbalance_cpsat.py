"""Least imbalance of one routing decision, in integers for CP-SAT.

The programs of ``imbalance_assignment`` and ``imbalance_size_class``, whose equation numbers are
used below, with every number scaled to an integer: loads and sizes by their common denominator, the
weights gamma^h = (p/q)^h by q^H. In both, worker g matters through b_g and n_g only. CP-SAT
computes in 64-bit integers; keeping the numbers small enough is the caller's part.

The constant of the objective stands beside the model too, because CP-SAT holds it as a double.

Source: balance paper, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.sat.python import cp_model

from .barrier_rows import BarrierRows, barrier_rows
from .imbalance_size_class import interchangeable_workers

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CpSatModel:
    """A model, the table that it decides, and what its objective leaves out.

    Parameters
    ----------
    model
        The CP-SAT model.
    table
        The counts, items by workers.
    tokens, requests
        b_g and n_g, by worker.
    peaks
        M_h, by offset, where it has rows.
    rows
        The ranges of b_g and n_g, and the barrier rows that they leave.
    constant
        The constant of the objective, exactly.
    """

    model: cp_model.CpModel
    table: list[list[cp_model.IntVar]]
    tokens: dict[int, cp_model.IntVar]
    requests: dict[int, cp_model.IntVar]
    peaks: dict[int, cp_model.IntVar]
    rows: BarrierRows
    constant: int = 0


def build_assignment(
    loads: Integers, free_slots: Integers, sizes: Integers, weights: list[int], growth: int
) -> CpSatModel:
    """Return the assignment program; the table is requests by workers.

    Parameters
    ----------
    loads
        A[g,h], shape (G, H+1).
    free_slots
        c_g, shape (G,).
    sizes
        s_i, shape (N,); request i contributes w[i,h] = s_i + growth * h.
    weights
        Integer weights of the offsets, length H+1.
    growth
        What an admitted request grows by per offset, in the unit of the loads.
    """
    model = cp_model.CpModel()
    workers = list(range(len(free_slots)))
    table = [[model.new_bool_var(f"place_r{i}_w{g}") for g in workers] for i in range(len(sizes))]
    once = np.ones_like(sizes)
    built = _add_totals(model, table, workers, free_slots, sizes, once, growth, loads)
    return _add_barrier(built, loads, weights, growth)


def build_size_class(
    loads: Integers,
    free_slots: Integers,
    sizes: Integers,
    supplies: Integers,
    weights: list[int],
    growth: int,
) -> CpSatModel:
    """Return the size-class program; the table is sizes by workers with free slots.

    Parameters
    ----------
    loads
        A[g,h], shape (G, H+1).
    free_slots
        c_g, shape (G,).
    sizes, supplies
        The distinct sizes and how many requests have each, shape (S,).
    weights
        Integer weights of the offsets, length H+1.
    growth
        What an admitted request grows by per offset, in the unit of the loads.
    """
    model = cp_model.CpModel()
    workers = np.flatnonzero(free_slots).tolist()
    table = [
        [
            model.new_int_var(0, int(min(supply, free_slots[g])), f"admit_s{size}_w{g}")
            for g in workers
        ]
        for size, supply in zip(sizes.tolist(), supplies.tolist(), strict=True)
    ]
    built = _add_totals(model, table, workers, free_slots, sizes, supplies, growth, loads)
    for group in interchangeable_workers(loads, free_slots, workers):
        for g, following in pairwise(group):
            model.add(built.tokens[g] >= built.tokens[following])  # (7)
    return _add_barrier(built, loads, weights, growth)


def add_hint(built: CpSatModel, sizes: Integers, counts: Integers, peaks: Integers) -> None:
    """Hint every variable at a feasible point: CP-SAT may drop a hint that leaves some out.

    Parameters
    ----------
    built
        A model of this module.
    sizes
        The size of each item of the table.
    counts
        The table, items by workers.
    peaks
        M_h, shape (H+1,).
    """
    for row, values in zip(built.table, counts.tolist(), strict=True):
        for variable, value in zip(row, values, strict=True):
            built.model.add_hint(variable, value)
    for k, g in enumerate(built.tokens):
        built.model.add_hint(built.tokens[g], int(sizes @ counts[:, k]))
        built.model.add_hint(built.requests[g], int(counts[:, k].sum()))
    for h, peak in built.peaks.items():
        built.model.add_hint(peak, int(peaks[h]))


def _add_totals(
    model: cp_model.CpModel,
    table: list[list[Any]],
    workers: list[int],
    free_slots: Integers,
    sizes: Integers,
    supplies: Integers,
    growth: int,
    loads: Integers,
) -> CpSatModel:
    """(2), (4), (5) and (6)."""
    rows = barrier_rows(loads, free_slots, np.repeat(sizes, supplies), growth)
    built = CpSatModel(model, table, {}, {}, {}, rows)
    for k, g in enumerate(workers):
        column = [row[k] for row in table]
        # n_g <= c_g is the upper end of its range
        built.requests[g] = model.new_int_var(
            int(rows.fewest[g]), int(rows.most[g]), f"requests_w{g}"
        )
        built.tokens[g] = model.new_int_var(
            int(rows.smallest[g]), int(rows.largest[g]), f"tokens_w{g}"
        )
        model.add(built.requests[g] == sum(column))
        model.add(built.tokens[g] == cp_model.LinearExpr.weighted_sum(column, sizes.tolist()))
    for row, supply in zip(table, supplies.tolist(), strict=True):
        model.add(sum(row) <= supply)
    model.add(sum(built.requests.values()) == rows.admissions)
    return built


def _add_barrier(built: CpSatModel, loads: Integers, weights: list[int], growth: int) -> CpSatModel:
    """(3) and (1); return the model with the constant of (1)."""
    model, workers, rows = built.model, len(loads), built.rows
    highest = loads + rows.largest[:, None] + np.outer(rows.most, growth * np.arange(len(weights)))
    terms = [-sum(weights) * tokens for tokens in built.tokens.values()]
    constant = 0
    for h, (weight, floor) in enumerate(zip(weights, rows.floor.tolist(), strict=True)):
        constant -= weight * (int(loads[:, h].sum()) + growth * h * rows.admissions)
        if not rows.binding[:, h].any():
            constant += workers * weight * floor
            continue
        peak = built.peaks[h] = model.new_int_var(floor, int(highest[:, h].max()), f"peak_h{h}")
        terms.append(workers * weight * peak)
        for g in np.flatnonzero(rows.binding[:, h]).tolist():
            grown = growth * h * built.requests[g]
            model.add(peak >= int(loads[g, h]) + built.tokens[g] + grown)
    model.minimize(sum(terms) + constant)
    return replace(built, constant=constant)
