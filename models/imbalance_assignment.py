"""Least imbalance of one routing decision: request-to-worker assignment (balance paper, IO_H).

Given A[g,h] (projected load of worker g at offset h, tokens), c_g (free slots), w[i,h]
(contribution of request i at offset h if admitted, tokens) and weights gamma^h, with
U = min(N, sum_g c_g):

    minimise    sum_h gamma^h * ( G * M_h - sum_g Lambda[g,h] )                             (1)
    subject to  Lambda[g,h] = A[g,h] + sum_i w[i,h] * x[i,g]                for all g, h    (2)
                M_h >= Lambda[g,h]                                          for all g, h    (3)
                sum_g x[i,g] <= 1                                           for all i       (4)
                sum_i x[i,g] <= c_g                                         for all g       (5)
                sum_{i,g} x[i,g] = U                                                        (6)
                x binary.

(1) is the weighted imbalance over the window 0..H; (6) makes the policy maximal: it may not leave
a slot free while a request waits. H = 0 is the myopic program IO_0. Lambda is substituted by (2).

In the model x[i,g] is ``place[r<i>,w<g>]`` and M_h is ``peak[h<h>]``.

Source: balance paper, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyomo.core as pyo
from pyomo.core.expr import LinearExpression

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .barrier_rows import Numbers


def build(
    loads: Numbers,
    free_slots: npt.NDArray[np.int64],
    contributions: Numbers,
    weights: npt.NDArray[np.float64],
) -> pyo.ConcreteModel:
    """Return the program as a Pyomo model.

    Parameters
    ----------
    loads
        A[g,h] in tokens, shape (G, H+1).
    free_slots
        c_g >= 0, shape (G,).
    contributions
        w[i,h] in tokens, shape (N, H+1).
    weights
        gamma^h, shape (H+1,).
    """
    workers, offsets = range(loads.shape[0]), range(loads.shape[1])
    requests = range(len(contributions))
    model = pyo.ConcreteModel("imbalance_assignment")
    model.requests = pyo.Set(initialize=[f"r{i}" for i in requests])
    model.workers = pyo.Set(initialize=[f"w{g}" for g in workers])
    model.offsets = pyo.Set(initialize=[f"h{h}" for h in offsets])
    model.place = pyo.Var(model.requests, model.workers, domain=pyo.Binary)
    model.peak = pyo.Var(model.offsets, domain=pyo.Reals)
    x = [[model.place[f"r{i}", f"w{g}"] for g in workers] for i in requests]
    peak = [model.peak[f"h{h}"] for h in offsets]
    _add_barrier(model, loads, contributions, x, peak)
    _add_capacity(model, free_slots, x)
    admitted_weight = (contributions @ weights).tolist()
    model.imbalance = pyo.Objective(
        expr=LinearExpression(
            constant=-float(loads.sum(axis=0) @ weights),
            linear_coefs=[len(workers) * float(weight) for weight in weights]
            + [-admitted_weight[i] for i in requests for _ in workers],
            linear_vars=peak + [x[i][g] for i in requests for g in workers],
        )
    )
    return model


def set_values(model: pyo.ConcreteModel, counts: npt.NDArray[np.int64], peaks: Numbers) -> None:
    """Give every variable of `model` its value at a feasible point.

    Parameters
    ----------
    model
        A model made by `build`.
    counts
        x[i,g], shape (N, G).
    peaks
        M_h in tokens, shape (H+1,).
    """
    for variable, value in zip(model.place.values(), counts.ravel().tolist(), strict=True):
        variable.set_value(value)
    for variable, value in zip(model.peak.values(), peaks.tolist(), strict=True):
        variable.set_value(value)


def _add_barrier(
    model: pyo.ConcreteModel, loads: Numbers, contributions: Numbers, x: Any, peak: Any
) -> None:
    """(3) with (2): M_h - sum_i w[i,h] x[i,g] >= A[g,h]."""
    model.barrier = pyo.Constraint(model.workers, model.offsets)
    for g in range(loads.shape[0]):
        placed = [row[g] for row in x]
        for h in range(loads.shape[1]):
            body = LinearExpression(
                linear_coefs=[1, *(-contributions[:, h]).tolist()], linear_vars=[peak[h], *placed]
            )
            model.barrier[f"w{g}", f"h{h}"] = body >= loads[g, h].item()


def _add_capacity(model: pyo.ConcreteModel, free_slots: npt.NDArray[np.int64], x: Any) -> None:
    """(4), (5) and (6)."""
    if not x:
        return  # a sum over no requests is no row
    model.once = pyo.Constraint(model.requests)
    for i, row in enumerate(x):
        model.once[f"r{i}"] = _sum(row) <= 1
    model.slots = pyo.Constraint(model.workers)
    for g, free in enumerate(free_slots.tolist()):
        model.slots[f"w{g}"] = _sum([row[g] for row in x]) <= free
    admissions = min(len(x), int(free_slots.sum()))
    model.admissions = pyo.Constraint(expr=_sum([v for row in x for v in row]) == admissions)


def _sum(variables: list[Any]) -> Any:
    return LinearExpression(linear_coefs=[1] * len(variables), linear_vars=variables)
