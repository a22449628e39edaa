"""How far prices are from the set of optimal ones: where these are not unique, one is as good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from olprouting.prices.exact_minimum import scarcity_of, usage_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.prices.columns import SaaProblem

    Floats = npt.NDArray[np.float64]

SLACK = 1e-6
"""By how much f may exceed its minimum on the set, relative: that of the exact prices' proof."""


def distance_to_optimal(
    problem: SaaProblem, batch: Floats, memory: Floats, weights: tuple[Floats, Floats], least: float
) -> float | None:
    """Return the weighted distance of prices to the nearest ones that minimise f.

    The set {p >= 0 : f(p) <= minimum (1 + 1e-6)} is a polytope: f(p) = d'p + mean s with
    s >= r - Ap, s >= 0. The nearest point in the weighted 1-norm is an LP's (spec, section 6).

    Parameters
    ----------
    problem
        The sample's dual.
    batch, memory
        The prices in true units, >= 0, shape (G, P). Those beyond ``problem.width`` are not
        compared, as f does not know them.
    weights
        What a unit of difference counts, >= 0: of slots and of KV tokens, shape (G, P). With the
        limits of the workers from the current period on, and 0 before, the distance is in reward.
    least
        The minimum of f, in true units.

    Returns
    -------
    float or None
        0 for optimal prices; None if the LP was not solved.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    width, workers = problem.width, len(problem.slots)
    places = [np.arange(width)] * workers
    given, weight = (
        np.stack(pair, axis=1)[:, :, :width].ravel() for pair in ((batch, memory), weights)
    )
    scarcity, usage = scarcity_of(problem, places), usage_of(problem, places)
    rewards = np.minimum(problem.columns.reward, problem.reward_normalizer * problem.reward_ceiling)
    count, size = usage.shape
    most = least + SLACK * max(abs(least), float(np.abs(rewards).max(initial=0.0)))
    # p = given + up - down, and s: minimise weight'(up + down)
    total = np.concatenate([scarcity, -scarcity, np.full(count, 1 / max(count, 1))])
    margins = sp.hstack([-usage, usage, -sp.eye_array(count)])
    most_down = np.concatenate([np.full(size, np.inf), given, np.full(count, np.inf)])
    solved = milp(
        np.concatenate([weight, weight, np.zeros(count)]),
        constraints=LinearConstraint(
            sp.vstack([sp.csr_array(total[None, :]), margins], format="csc"),
            ub=np.concatenate([[most - scarcity @ given], usage @ given - rewards]),
        ),
        bounds=Bounds(0, most_down),
    )
    return max(0.0, float(solved.fun)) if solved.status == 0 else None
