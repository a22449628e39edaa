"""Least total imbalance of a whole run in hindsight, all arrivals and lengths known.

Request i has prompt s_i, decode length o_i and joins the queue in iteration t_i. Admitted once and
for all, to worker g in iteration k >= t_i by x[i,g,k] = 1, it is active in the iterations
k..k+o_i-1 and loads its worker with s_i tokens plus one per iteration since. G workers have B_g
slots. K is so large that every run ends by then.

    minimise    sum_k ( G * M_k - sum_g L[g,k] )                                            (1)
    subject to  L[g,k] = sum_{(i,l): l <= k < l+o_i} (s_i + k - l) * x[i,g,l]  for all g, k (2)
                M_k >= L[g,k]                                               for all g, k    (3)
                sum_{(i,l): l <= k < l+o_i} x[i,g,l] <= B_g                 for all g, k    (4)
                sum_{g,k} x[i,g,k] = 1                                      for all i       (5)
                x binary,

and no iteration leaves a slot free while a request waits (a maximal policy): with a binary f_k
that says whether all slots are full,

                waiting in k after admission <= n_k * f_k                   for all k       (6)
                sum of (4) over g >= f_k * sum_g B_g                        for all k       (7)

where n_k is the number of requests released by k, and waiting in k is n_k minus the admissions up
to k. sum_g L[g,k] adds up over the run to a constant, so that (1) minimises the sum of the peaks.

In the model x[i,g,k] is ``admit[i,g,k]``, M_k is ``peak[k]`` and f_k is ``full[k]``.

Source: balance paper, section 2, with the future known; the program is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyomo.core as pyo
from pyomo.core.expr import LinearExpression

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


def build(
    prompt_tokens: Ints, decode_tokens: Ints, release: Ints, slots: Ints, iterations: int
) -> pyo.ConcreteModel:
    """Return the program as a Pyomo model.

    Parameters
    ----------
    prompt_tokens, decode_tokens
        s_i and o_i, each >= 1, shape (N,).
    release
        t_i >= 1, shape (N,).
    slots
        B_g >= 1, shape (G,).
    iterations
        K, by which every maximal policy has finished all requests.
    """
    requests, workers = range(len(prompt_tokens)), range(len(slots))
    prompt, decode = prompt_tokens.tolist(), decode_tokens.tolist()
    model = pyo.ConcreteModel("hindsight_imbalance")
    model.iterations = pyo.RangeSet(1, iterations)
    model.starts = pyo.Set(
        initialize=[
            (i, g, k)
            for i in requests
            for g in workers
            for k in range(int(release[i]), iterations - decode[i] + 2)
        ]
    )
    model.admit = pyo.Var(model.starts, domain=pyo.Binary)
    model.peak = pyo.Var(model.iterations, domain=pyo.NonNegativeReals)
    model.full = pyo.Var(model.iterations, domain=pyo.Binary)
    active: dict[tuple[int, int], list[tuple[int, Any]]] = {
        (g, k): [] for g in workers for k in model.iterations
    }
    begun: dict[int, list[Any]] = {k: [] for k in model.iterations}
    for (i, g, k), admit in model.admit.items():
        begun[k].append(admit)
        for age in range(decode[i]):
            active[g, k + age].append((prompt[i] + age, admit))
    _add_barrier(model, active)
    _add_slots(model, active, slots.tolist())
    model.once = pyo.Constraint(
        list(requests),
        rule=lambda model, i: sum(v for (j, _, _), v in model.admit.items() if j == i) == 1,
    )
    released = [int((release <= k).sum()) for k in range(iterations + 1)]
    _add_maximality(model, active, begun, released, int(slots.sum()))
    constant = sum(o * s + o * (o - 1) // 2 for s, o in zip(prompt, decode, strict=True))
    model.imbalance = pyo.Objective(
        expr=LinearExpression(
            constant=-constant,
            linear_coefs=[len(slots)] * iterations,
            linear_vars=list(model.peak.values()),
        )
    )
    return model


def _add_barrier(model: pyo.ConcreteModel, active: Any) -> None:
    """(3) with (2)."""
    model.barrier = pyo.Constraint(list(active))
    for (g, k), loads in active.items():
        if loads:
            model.barrier[g, k] = model.peak[k] >= _sum(loads)


def _add_slots(model: pyo.ConcreteModel, active: Any, slots: list[int]) -> None:
    """(4)."""
    model.slots = pyo.Constraint(list(active))
    for (g, k), loads in active.items():
        if loads:
            model.slots[g, k] = _sum([(1, admit) for _, admit in loads]) <= slots[g]


def _add_maximality(
    model: pyo.ConcreteModel, active: Any, begun: Any, released: list[int], slots: int
) -> None:
    """(6) and (7)."""
    model.waiting = pyo.Constraint(model.iterations)
    model.filled = pyo.Constraint(model.iterations)
    admitted: list[Any] = []
    for k in model.iterations:
        admitted += begun[k]
        if not admitted:
            continue  # nothing is released yet
        started = _sum([(1, admit) for admit in admitted])
        model.waiting[k] = released[k] - started <= released[k] * model.full[k]
        resident = [(1, admit) for (_, i), loads in active.items() if i == k for _, admit in loads]
        if resident:
            model.filled[k] = _sum(resident) >= slots * model.full[k]


def _sum(terms: list[tuple[int, Any]]) -> Any:
    coefficients, variables = zip(*terms, strict=True)
    return LinearExpression(linear_coefs=list(coefficients), linear_vars=list(variables))
