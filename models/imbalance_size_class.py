"""Least imbalance of one routing decision: counts per size class and worker.

The assignment program (``imbalance_assignment``) made stronger and smaller. Requests of equal size
are interchangeable, so integer counts n[s,g] replace binaries; and a worker matters only through
b_g, the total of its new sizes, and n_g, their number. Given A[g,h] (tokens), c_g, the distinct
sizes s with supplies m_s, weights gamma^h and growth (1 if an admitted request grows by one token
per offset, 0 if it is frozen), with U = min(sum_s m_s, sum_g c_g):

    minimise    G * sum_h gamma^h * M_h - Gamma * sum_g b_g - K                             (1)
    subject to  b_g = sum_s s * n[s,g],  n_g = sum_s n[s,g]                 for all g       (2)
                M_h >= A[g,h] + b_g + growth * h * n_g                      for all g, h    (3)
                sum_g n[s,g] <= m_s                                         for all s       (4)
                n_g <= c_g                                                  for all g       (5)
                sum_g n_g = U                                                               (6)
                b_g >= b_g'    for interchangeable workers g, g'            (their order)   (7)
                n integer >= 0.

Gamma = sum_h gamma^h, and K = sum_h gamma^h * ( sum_g A[g,h] + growth * h * U ) is a constant
because of (6), so that (1) is the weighted imbalance.

Only workers with free slots have variables; the others, and every row (3) that can never bind, are
in the lower bound of M_h (``barrier_rows``); an M_h without rows is that constant. When the pool
fills every slot n_g = c_g, and (3) has two nonzeros.

(7) is valid: workers with equal A[g,:] and c_g may swap their requests without changing the
objective, so some optimum has their b_g in descending order.

In the model n[s,g] is ``admit[s<size>,w<g>]``, b_g ``added_tokens``, n_g ``added_requests`` and
M_h ``peak[h<h>]``.

Source: balance paper, section 3, for the program; the counts, (3) and (7) are ours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.core as pyo

from .barrier_rows import BarrierRows, Numbers, barrier_rows
from .linear import dot, total


def build(
    loads: Numbers,
    free_slots: npt.NDArray[np.int64],
    sizes: Numbers,
    supplies: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    growth: int,
) -> pyo.ConcreteModel:
    """Return the program as a Pyomo model.

    Parameters
    ----------
    loads
        A[g,h] in tokens, shape (G, H+1).
    free_slots
        c_g >= 0, shape (G,).
    sizes
        The distinct sizes s in tokens, shape (S,).
    supplies
        m_s >= 1, how many requests of each size wait, shape (S,).
    weights
        gamma^h, shape (H+1,).
    growth
        1 if admitted requests grow by one token per offset, 0 if they are frozen.
    """
    rows = barrier_rows(loads, free_slots, np.repeat(sizes, supplies), growth)
    open_workers = np.flatnonzero(free_slots).tolist()
    peaked = np.flatnonzero(rows.binding.any(axis=0)).tolist()
    model = pyo.ConcreteModel("imbalance_size_class")
    model.sizes = pyo.Set(initialize=[f"s{size}" for size in sizes.tolist()])
    model.workers = pyo.Set(initialize=[f"w{g}" for g in open_workers])
    model.offsets = pyo.Set(initialize=[f"h{h}" for h in peaked])
    m = dict(zip(model.sizes, supplies.tolist(), strict=True))
    c = dict(zip(model.workers, free_slots[open_workers].tolist(), strict=True))
    floor = dict(zip(model.offsets, rows.floor[peaked].tolist(), strict=True))
    model.admit = pyo.Var(
        model.sizes,
        model.workers,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda model, s, g: (0, min(m[s], c[g])),  # (4) and (5) imply it of one count
    )
    model.added_tokens = pyo.Var(model.workers, domain=pyo.NonNegativeReals)
    model.added_requests = pyo.Var(model.workers, domain=pyo.NonNegativeReals)
    model.peak = pyo.Var(model.offsets, domain=pyo.Reals, bounds=lambda model, h: (floor[h], None))
    n, b = model.admit, model.added_tokens
    admitted = {g: [n[s, g] for s in model.sizes] for g in model.workers}
    model.token_total = pyo.Constraint(  # (2), and the next
        model.workers, rule=lambda model, g: dot(sizes, admitted[g]) - b[g] == 0
    )
    model.request_total = pyo.Constraint(
        model.workers, rule=lambda model, g: total(admitted[g]) - model.added_requests[g] == 0
    )
    model.slots = pyo.Constraint(  # (5)
        model.workers, rule=lambda model, g: model.added_requests[g] <= c[g]
    )
    _add_barrier(model, loads, rows, growth)
    if len(model.workers):  # a sum over no workers is no row
        model.supply = pyo.Constraint(  # (4)
            model.sizes, rule=lambda model, s: total(n[s, g] for g in model.workers) <= m[s]
        )
        model.admissions = pyo.Constraint(  # (6)
            expr=total(model.added_requests.values()) == rows.admissions
        )
    model.order = pyo.ConstraintList()  # (7)
    for group in interchangeable_workers(loads, free_slots, open_workers):
        for g, following in pairwise(group):
            model.order.add(b[f"w{g}"] >= b[f"w{following}"])
    constant = _constant(loads, weights, growth, rows, peaked)
    model.imbalance = pyo.Objective(  # (1)
        expr=dot(len(loads) * weights[peaked], model.peak.values())
        - float(weights.sum()) * total(b.values())
        + constant
    )
    return model


def set_values(
    model: pyo.ConcreteModel, sizes: Numbers, counts: npt.NDArray[np.int64], peaks: Numbers
) -> None:
    """Give every variable of `model` its value at a feasible point.

    Parameters
    ----------
    model
        A model made by `build`.
    sizes
        The distinct sizes in tokens that it was built for, shape (S,).
    counts
        n[s,g] for the workers with free slots, shape (S, open workers), in the order (7).
    peaks
        M_h in tokens, shape (H+1,).
    """
    for variable, value in zip(model.admit.values(), counts.ravel().tolist(), strict=True):
        variable.set_value(value)
    for worker, column in zip(model.workers, counts.T, strict=True):
        model.added_requests[worker].set_value(column.sum().item())
        model.added_tokens[worker].set_value((sizes @ column).item())
    for offset in model.offsets:
        model.peak[offset].set_value(peaks[int(offset[1:])].item())


def interchangeable_workers(
    loads: Numbers, free_slots: npt.NDArray[np.int64], open_workers: list[int]
) -> list[list[int]]:
    """Return the groups of two or more workers with equal A[g,:] and c_g, of `open_workers`."""
    groups: dict[tuple[int, bytes], list[int]] = {}
    for g in open_workers:
        groups.setdefault((int(free_slots[g]), loads[g].tobytes()), []).append(g)
    return [group for group in groups.values() if len(group) > 1]


def _add_barrier(model: pyo.ConcreteModel, loads: Numbers, rows: BarrierRows, growth: int) -> None:
    """(3), where it can bind; where n_g is settled it has two nonzeros."""

    def barrier(model: pyo.ConcreteModel, worker: str, offset: str) -> Any:
        g, h = int(worker[1:]), int(offset[1:])
        if not rows.binding[g, h]:
            return pyo.Constraint.Skip
        M, b, n = model.peak[offset], model.added_tokens[worker], model.added_requests[worker]
        if rows.fewest[g] == rows.most[g]:
            return M - b >= loads[g, h].item() + growth * h * int(rows.most[g])
        return M - b - growth * h * n >= loads[g, h].item()

    model.barrier = pyo.Constraint(model.workers, model.offsets, rule=barrier)


def _constant(
    loads: Numbers,
    weights: npt.NDArray[np.float64],
    growth: int,
    rows: BarrierRows,
    peaked: list[int],
) -> float:
    """Return -K of (1), and what every M_h without rows contributes at its floor."""
    workers, offsets = loads.shape
    constant = -weights @ (loads.sum(axis=0) + growth * np.arange(offsets) * rows.admissions)
    settled = np.setdiff1d(np.arange(offsets), peaked)
    return float(constant + workers * (weights[settled] @ rows.floor[settled]))
