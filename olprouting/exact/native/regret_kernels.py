"""What it costs the others if a worker takes a request: a budget for its subset.

Let workers after j be charged c_g. If worker j takes the set S, they can collect from the rest R
at most what they could from all of R, less a regret for each request of S: where the N largest
requests go to the highest charges, the one of rank N + 1 takes the place of a larger one that is
gone, and so at the other end for charges below 0. With worker j's own charge c_j, too,

    completion >= min_b [ phi(b) + sum_{g >= j} c_g b_g ] - collected(R) + sum_{i in S} q_i,
    q_i = regret_i - c_j s_i,

for regrets of sets are no less than the sum of those of their requests. Subsets whose q_i, each
taken above the least, sum to what is left below the cut need not be looked at: reduced costs, as a
linear program has them for one request on one worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, compiled, kernel
from olprouting.exact.native.charge_kernels import (
    largest_share,
    placed,
    set_floor,
    set_intervals,
    set_prices,
)

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, SearchState


@compiled
def set_budget(problem: Problem, state: SearchState, j: int, cut: float) -> None:
    """Set each size's regret for worker j, above the least, and what a subset may sum to."""
    workers = len(problem.slots)
    regret = state.regret[j]
    if not problem.fills or j + 1 == workers:
        for c in range(len(regret)):
            regret[c] = 0.0
        state.budget[j] = np.inf
        return
    r, charge = state.relaxation, state.charge[j]
    set_intervals(problem, state, j, j)
    set_floor(state, j)
    set_prices(problem, state, charge, j)
    for g in range(j, workers):
        r.point[g] = state.point[j, g]
    value = state.relaxed(r, j) - largest_share(problem, state, charge, j + 1, j)
    for c in range(len(regret)):
        regret[c] = -charge[j] * problem.sizes[c]
    _add_regrets(problem, j, charge, 1.0, state.most[j], regret)
    _add_regrets(problem, j, charge, -1.0, state.least[j], regret)
    lowest = np.inf
    for c in range(len(regret)):
        if state.left[c] > 0:
            lowest = min(lowest, regret[c])
    for c in range(len(regret)):
        regret[c] -= lowest
    total, _ = placed(state, j)
    state.budget[j] = cut + problem.price * total - value - problem.slots[j] * lowest


@kernel
def _add_regrets(
    problem: Problem, j: int, charge: Floats, sign: float, sums: Floats, regret: Floats
) -> None:
    """Add what the workers whose charge has the sign lose by each size that is gone."""
    taken = 0
    amount = np.inf
    while True:
        following = 0.0  # the next lower charge, in absolute terms, and the slots down to it
        for g in range(j + 1, len(problem.slots)):
            if sign * charge[g] < amount:
                following = max(following, sign * charge[g])
        if taken > 0:
            instead = sums[taken + 1] - sums[taken]
            for c in range(len(problem.sizes)):
                regret[c] += (amount - following) * max(sign * (problem.sizes[c] - instead), 0.0)
        if following <= 0.0:
            break
        amount = following
        for g in range(j + 1, len(problem.slots)):
            if sign * charge[g] == amount:
                taken += problem.slots[g]
