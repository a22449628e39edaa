"""A period problem as the arrays that the models take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from olprouting.exact.period.rows import all_rows, binding_rows

if TYPE_CHECKING:
    from olprouting.instances import PeriodProblem

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PeriodColumns:
    """Columns (j,g) in device-major order, column g*J + j, and the kept capacity rows.

    Parameters
    ----------
    rewards
        r of each column, shape (n,).
    usage
        What each column uses of each kept resource, shape (m, n): slots or KV tokens.
    capacity
        Residuals of the kept resources, shape (m,).
    request
        j of each column, shape (n,).
    limit
        How often each request may start, shape (J,).
    row_place
        Flat index of each row in an array of shape (G, 2, T-k+1), whose middle axis is slots,
        tokens; shape (m,).
    shape
        That array's shape.
    """

    rewards: Floats
    usage: sp.csr_array
    capacity: Floats
    request: npt.NDArray[np.int64]
    limit: Floats
    row_place: npt.NDArray[np.int64]
    shape: tuple[int, int, int]

    @property
    def devices(self) -> int:
        """Number of devices G."""
        return self.shape[0]

    @property
    def rows_in_full(self) -> int:
        """Number of rows of the program as written, 2 * G * (T-k+1)."""
        return int(np.prod(self.shape))

    @property
    def arrays(self) -> tuple[Floats, sp.csr_array, Floats, npt.NDArray[np.int64], Floats]:
        """Rewards, usage, capacity, request and limit: what the models take."""
        return self.rewards, self.usage, self.capacity, self.request, self.limit

    def replace(self, **changes: Any) -> PeriodColumns:
        """Return a copy with some arrays changed."""
        return replace(self, **changes)

    def by_period(self, price: Floats) -> tuple[Floats, Floats]:
        """Return row prices as slot and token prices, each (G, T-k+1); rows left out cost 0."""
        table = np.zeros(self.rows_in_full)
        table[self.row_place] = price
        table = table.reshape(self.shape)
        return table[:, 0].copy(), table[:, 1].copy()


def period_columns(problem: PeriodProblem, *, reduce_rows: bool = True) -> PeriodColumns:
    """Return the arrays of a period problem.

    Parameters
    ----------
    problem
        The problem.
    reduce_rows
        Leave out the capacity rows that cannot bind (see `olprouting.exact.period.rows`). The
        optimum and the prices stay the same: rows left out have price 0.
    """
    choose = binding_rows if reduce_rows else all_rows
    last = problem.active_remaining - 1
    slots, tokens = _usage_by_period(problem)
    blocks, capacities, places = [], [], []
    for g in range(problem.devices):
        for resource, (table, residual) in enumerate(
            ((slots, problem.slots[g]), (tokens, problem.kv_tokens[g]))
        ):
            kept = choose(residual, last)
            blocks.append(table[kept])
            capacities.append(residual[kept])
            places.append((2 * g + resource) * problem.remaining + kept)
    pairs = [sp.vstack(blocks[2 * g : 2 * g + 2]) for g in range(problem.devices)]
    return PeriodColumns(
        rewards=np.tile(problem.rewards, problem.devices),
        usage=sp.csr_array(sp.block_diag(pairs, format="csr")),
        capacity=np.concatenate(capacities).astype(np.float64),
        request=np.tile(np.arange(problem.waiting), problem.devices),
        limit=np.ones(problem.waiting),
        row_place=np.concatenate(places),
        shape=(problem.devices, 2, problem.remaining),
    )


def _usage_by_period(problem: PeriodProblem) -> tuple[sp.csr_array, sp.csr_array]:
    """Return slots and KV tokens that each request uses in each remaining period, (T-k+1, J).

    A request started now is active from the first remaining period on, and its tokens grow by
    one per period.
    """
    active = problem.active_remaining
    ends = np.concatenate([[0], np.cumsum(active)])
    age = np.arange(ends[-1]) - np.repeat(ends[:-1], active)
    held = np.repeat(problem.tokens_at_start, active) + age
    shape = (problem.remaining, problem.waiting)
    slots = sp.csc_array((np.ones(len(age)), age, ends), shape=shape).tocsr()
    return slots, sp.csc_array((held.astype(np.float64), age, ends), shape=shape).tocsr()
