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

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyomo.core as pyo

from .linear import dot, total

if TYPE_CHECKING:
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
    model = pyo.ConcreteModel("imbalance_assignment")
    model.requests = pyo.Set(initialize=[f"r{i}" for i in range(len(contributions))])
    model.workers = pyo.Set(initialize=[f"w{g}" for g in range(loads.shape[0])])
    model.offsets = pyo.Set(initialize=[f"h{h}" for h in range(loads.shape[1])])
    model.place = pyo.Var(model.requests, model.workers, domain=pyo.Binary)
    model.peak = pyo.Var(model.offsets, domain=pyo.Reals)
    x, M = model.place, model.peak
    A = dict(zip(product(model.workers, model.offsets), loads.ravel().tolist(), strict=True))
    w = dict(zip(model.offsets, contributions.T, strict=True))
    c = dict(zip(model.workers, free_slots.tolist(), strict=True))
    U = min(len(contributions), int(free_slots.sum()))
    at = {g: [x[i, g] for i in model.requests] for g in model.workers}
    model.barrier = pyo.Constraint(  # (3) with (2)
        model.workers,
        model.offsets,
        rule=lambda model, g, h: M[h] + dot(-w[h], at[g]) >= A[g, h],
    )
    if len(model.requests):  # a sum over no requests is no row
        model.once = pyo.Constraint(  # (4)
            model.requests, rule=lambda model, i: total(x[i, g] for g in model.workers) <= 1
        )
        model.slots = pyo.Constraint(  # (5)
            model.workers, rule=lambda model, g: total(at[g]) <= c[g]
        )
        model.admissions = pyo.Constraint(expr=total(x.values()) == U)  # (6)
    of_request = np.repeat(contributions @ weights, len(model.workers))
    model.imbalance = pyo.Objective(  # (1)
        expr=dot(len(model.workers) * weights, M.values())
        - dot(of_request, x.values())
        - float(loads.sum(axis=0) @ weights)
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
