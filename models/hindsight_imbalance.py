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

from .linear import dot, total

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
    x, M, f = model.admit, model.peak, model.full
    active: dict[tuple[int, int], list[Any]] = {
        (g, k): [] for g in workers for k in model.iterations
    }
    tokens: dict[tuple[int, int], list[int]] = {place: [] for place in active}
    for i, g, k in model.starts:
        for age in range(decode[i]):
            active[g, k + age].append(x[i, g, k])
            tokens[g, k + age].append(prompt[i] + age)
    busy = [place for place, admitted in active.items() if admitted]
    model.barrier = pyo.Constraint(  # (3) with (2)
        busy, rule=lambda model, g, k: M[k] >= dot(tokens[g, k], active[g, k])
    )
    model.slots = pyo.Constraint(  # (4)
        busy, rule=lambda model, g, k: total(active[g, k]) <= int(slots[g])
    )
    starts_of: dict[int, list[Any]] = {i: [] for i in requests}
    starts_by: dict[int, list[Any]] = {k: [] for k in model.iterations}
    for i, g, k in model.starts:
        starts_of[i].append(x[i, g, k])
        for later in range(k, iterations + 1):
            starts_by[later].append(x[i, g, k])
    model.once = pyo.Constraint(  # (5)
        list(requests), rule=lambda model, i: total(starts_of[i]) == 1
    )
    released = {k: int((release <= k).sum()) for k in model.iterations}
    begun = [k for k in model.iterations if starts_by[k]]
    model.waiting = pyo.Constraint(  # (6)
        begun, rule=lambda model, k: released[k] - total(starts_by[k]) <= released[k] * f[k]
    )
    model.filled = pyo.Constraint(  # (7)
        begun,
        rule=lambda model, k: (
            total(v for g in workers for v in active[g, k]) >= int(slots.sum()) * f[k]
        ),
    )
    total_load = sum(o * s + o * (o - 1) // 2 for s, o in zip(prompt, decode, strict=True))
    model.imbalance = pyo.Objective(expr=len(slots) * total(M.values()) - total_load)  # (1)
    return model
