"""The set of optimal prices: how far others are from it, and between which ends it lies.

Where prices are not unique, one is as good as another. The set
{p >= 0 : f(p) <= minimum (1 + 1e-6)} is a polytope: f(p) = d'p + mean s with s >= r - Ap, s >= 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from olprouting.exact.ranges import RangeFinder
from olprouting.prices.exact_minimum import scarcity_of, usage_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.prices.columns import SaaProblem

    Floats = npt.NDArray[np.float64]

SLACK = 1e-6
"""By how much f may exceed its minimum on the set, relative: that of the exact prices' proof."""


class Nearest(NamedTuple):
    """The optimal prices nearest to given ones.

    Attributes
    ----------
    distance
        Weighted, >= 0.
    batch, memory
        The optimal prices, in true units, shape (G, P); beyond the problem's width those given.
    """

    distance: float
    batch: Floats
    memory: Floats


class OptimalSet:
    """All prices that minimise f.

    Parameters
    ----------
    problem
        The sample's dual.
    least
        The minimum of f, in true units.
    """

    def __init__(self, problem: SaaProblem, least: float) -> None:
        self._problem = problem
        self._scarcity, self._usage = _parts(problem)
        self._rewards = _rewards(problem)
        self._most = least + SLACK * max(abs(least), float(self._rewards.max(initial=0.0)))
        count, size = self._usage.shape
        total = np.concatenate([self._scarcity, np.full(count, 1 / max(count, 1))])
        margins = sp.hstack([self._usage, sp.eye_array(count)])
        self._size = size + count
        self._finder = RangeFinder(
            sp.csr_array(sp.vstack([sp.csr_array(total[None, :]), margins])),
            np.concatenate([[-np.inf], self._rewards]),
            np.concatenate([[self._most], np.full(count, np.inf)]),
        )

    def ends(self, batch: Floats, memory: Floats) -> tuple[float, float]:
        """Return the least and the greatest weighted sum of optimal prices, infinite without limit.

        Parameters
        ----------
        batch, memory
            Weights of the prices of slots and of KV tokens, >= 0, shape (G, P); such that sums are
            of the order of a reward. Those beyond the problem's width do not count.
        """
        direction = np.zeros(self._size)
        given = _by_worker(self._problem, batch, memory)
        direction[: len(given)] = given
        return self._finder.of(direction)


def nearest_optimal(
    problem: SaaProblem, batch: Floats, memory: Floats, weights: tuple[Floats, Floats], least: float
) -> Nearest | None:
    """Return the prices nearest to given ones, in the weighted 1-norm, that minimise f: an LP's.

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
    Nearest or None
        Of distance 0 for optimal prices; None if the LP was not solved.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    given, weight = _by_worker(problem, batch, memory), _by_worker(problem, *weights)
    scarcity, usage = _parts(problem)
    rewards = _rewards(problem)
    count, size = usage.shape
    most = least + SLACK * max(abs(least), float(np.abs(rewards).max(initial=0.0)))
    # p = given + up - down, and s: minimise weight'(up + down)
    total = np.concatenate([scarcity, -scarcity, np.full(count, 1 / max(count, 1))])
    margins = sp.hstack([-usage, usage, -sp.eye_array(count)])
    most_down = np.concatenate([np.full(size, np.inf), given, np.full(count, np.inf)])
    rows = LinearConstraint(
        sp.vstack([sp.csr_array(total[None, :]), margins], format="csc"),
        ub=np.concatenate([[most - scarcity @ given], usage @ given - rewards]),
    )
    for presolve in (True, False):  # presolve takes a thin set for an empty one now and then
        solved = milp(
            np.concatenate([weight, weight, np.zeros(count)]),
            constraints=rows,
            bounds=Bounds(0, most_down),
            options={"presolve": presolve},
        )
        if solved.status == 0:
            break
    else:
        return None
    moved = np.maximum(given + solved.x[:size] - solved.x[size : 2 * size], 0)
    table = moved.reshape(len(batch), 2, problem.width)
    nearest = [prices.copy() for prices in (batch, memory)]
    for which, prices in enumerate(nearest):
        prices[:, : problem.width] = table[:, which]
    return Nearest(max(0.0, float(solved.fun)), *nearest)


def _by_worker(problem: SaaProblem, batch: Floats, memory: Floats) -> Floats:
    """Return both tables as one vector, as f has it: of each worker slots, then KV tokens."""
    return np.stack([batch, memory], axis=1)[:, :, : problem.width].ravel()


def _parts(problem: SaaProblem) -> tuple[Floats, sp.csr_array]:
    """Return d, and what the columns use, at all positions in use."""
    places = [np.arange(problem.width)] * len(problem.slots)
    return scarcity_of(problem, places), usage_of(problem, places)


def _rewards(problem: SaaProblem) -> Floats:
    most = problem.reward_normalizer * problem.reward_ceiling
    return np.minimum(problem.columns.reward, most)
