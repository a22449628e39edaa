"""All optimal prices of a period: whether there are others, and between which ends each lies.

Prices are optimal if and only if they are feasible for the dual and complementary to an optimal x:
a resource with capacity to spare costs nothing, a request with some share unadmitted has option
value 0, and a start that is made has exactly its option value as margin. That leaves a polyhedron.
A linear function with random coefficients is constant on it only if it is a single point (with
probability 1), so that its least and greatest value tell. The polyhedron is that of the program as
written: prices can move between periods whose rows a reduction left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from olprouting.exact.period.check_period import used
from olprouting.exact.period.columns import period_columns
from olprouting.exact.period.scaling import scaled
from olprouting.exact.ranges import RangeFinder

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import PeriodProblem

    Floats = npt.NDArray[np.float64]

TIGHT = 1e-7
"""Relative slack below which a row counts as tight, and share below which x counts as 0."""


class Range(NamedTuple):
    """Least and greatest values over all optimal prices, of one shape; infinite without a limit.

    Attributes
    ----------
    low, high
        In reward; NaN where that could not be settled.
    """

    low: Floats
    high: Floats


def prices_unique(problem: PeriodProblem, x: Floats) -> bool | None:
    """Return whether the optimal prices are unique, or None if that could not be settled.

    Parameters
    ----------
    problem
        The problem.
    x
        An optimal solution, shape (J, G).
    """
    if (problem.slots == 0).any() or (problem.kv_tokens == 0).any():
        return False  # any higher price of what there is nothing of is optimal too
    if problem.waiting == 0:
        return True
    return OptimalPrices(problem, x).is_unique()


class OptimalPrices:
    """All optimal prices of a period.

    Parameters
    ----------
    problem
        The period, with a request at least.
    x
        An optimal solution of its LP, shape (J, G).
    """

    def __init__(self, problem: PeriodProblem, x: Floats) -> None:
        self._scaled = scaled(period_columns(problem, reduce_rows=False))
        self._problem = problem
        program = self._scaled.columns
        use = np.stack(used(problem, x), axis=1).ravel()
        capacity = np.stack([problem.slots, problem.kv_tokens], axis=1).ravel()
        self._tight = np.flatnonzero(use >= capacity - TIGHT * np.maximum(capacity, 1))
        all_admitted = x.sum(axis=1) >= 1 - TIGHT
        costs = program.usage[self._tight].T
        values = sp.eye_array(problem.waiting, format="csr")[program.request][:, all_admitted]
        matrix = sp.csr_array(sp.hstack([costs, values]))
        admitted = x.T.ravel() > TIGHT
        self._size = matrix.shape[1]
        most = np.where(admitted, program.rewards, np.inf)
        self._finder = RangeFinder(matrix, program.rewards, most)

    def is_unique(self) -> bool | None:
        """Whether there is one point alone, or None if that could not be settled."""
        if not len(self._tight):
            return True  # all prices are 0
        direction = np.zeros(self._size)
        prices = len(self._tight)
        direction[:prices] = np.random.default_rng(0).uniform(1, 2, prices)
        return self._finder.is_constant(direction)

    def prices(self) -> tuple[Range, Range]:
        """Return between which ends the price of a slot, and of a KV token, lies.

        Where least and greatest price are equal, the price is unique.

        Returns
        -------
        tuple of Range
            Per worker and remaining period, shape (G, T-k+1) each.
        """
        shape = (2, self._problem.workers, 2, self._problem.remaining)
        ends = np.zeros(shape)
        for at, place in enumerate(self._tight.tolist()):
            direction = np.zeros(self._size)
            direction[at] = 1 / self._scaled.row_unit[place]
            ends.reshape(2, -1)[:, place] = self._of(direction)
        return Range(*ends[:, :, 0]), Range(*ends[:, :, 1])

    def mean_price(self, resource: int, offset: int) -> tuple[float, float]:
        """Return between which ends the mean of the workers' prices in a period lies.

        Parameters
        ----------
        resource
            0 for slots, 1 for KV tokens.
        offset
            Of the period, from the first that remains.
        """
        workers, remaining = self._problem.slots.shape
        place = (2 * np.arange(workers) + resource) * remaining + offset
        direction = np.zeros(self._size)
        direction[: len(self._tight)] = (
            np.isin(self._tight, place) / self._scaled.row_unit[self._tight]
        )
        return self._of(direction / workers)

    def cost(self, request: int, worker: int) -> tuple[float, float]:
        """Return between which ends lies what a request's slots and KV tokens on a worker cost.

        It is often unique where single prices are not.
        """
        column = worker * self._problem.waiting + request
        use = self._scaled.columns.usage[:, [column]].toarray().ravel()
        direction = np.zeros(self._size)
        direction[: len(self._tight)] = use[self._tight]
        return self._of(direction)

    def _of(self, direction: Floats) -> tuple[float, float]:
        low, high = self._finder.of(direction)
        return low * self._scaled.reward_unit, high * self._scaled.reward_unit
