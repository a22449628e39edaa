"""A period problem as the arrays that the models take, without the rows that cannot bind.

While no request ends, what new requests use does not fall: their number stays, and each grows by
one token per period. So among consecutive periods without an end, the last has the largest use;
if the residual capacity does not rise in between, it also has the smallest residual, and its row
implies the others. That leaves, of each worker's slots and of its tokens,

* the last active period of a waiting request (after it the use may fall), and
* a period after which the residual rises (a resident has ended, or capacity varies by itself).

Periods after the last end of all have no use, hence no row. The reduction is exact for the LP and
for the integer program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

if TYPE_CHECKING:
    from olprouting.instances import PeriodProblem

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PeriodColumns:
    """Columns (j,g) in worker-major order, column g*J + j, and the kept capacity rows.

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
    request: Ints
    limit: Floats
    row_place: Ints
    shape: tuple[int, int, int]

    @property
    def workers(self) -> int:
        """Number of workers G."""
        return self.shape[0]

    @property
    def rows_in_full(self) -> int:
        """Number of rows of the program as written, 2 * G * (T-k+1)."""
        return int(np.prod(self.shape))

    @property
    def arrays(self) -> tuple[Floats, sp.csr_array, Floats, Ints, Floats]:
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
        Leave out the capacity rows that cannot bind (see the module). The optimum and the prices
        stay the same: rows left out have price 0.
    """
    last = problem.active_remaining - 1
    slots, tokens = _usage_by_period(problem)
    blocks, capacities, places = [], [], []
    for g in range(problem.workers):
        for resource, (table, residual) in enumerate(
            ((slots, problem.slots[g]), (tokens, problem.kv_tokens[g]))
        ):
            kept = binding_rows(residual, last) if reduce_rows else np.arange(problem.remaining)
            blocks.append(table[kept])
            capacities.append(residual[kept])
            places.append((2 * g + resource) * problem.remaining + kept)
    pairs = [sp.vstack(blocks[2 * g : 2 * g + 2]) for g in range(problem.workers)]
    return PeriodColumns(
        rewards=np.tile(problem.rewards, problem.workers),
        usage=sp.csr_array(sp.block_diag(pairs, format="csr")),
        capacity=np.concatenate(capacities).astype(np.float64),
        request=np.tile(np.arange(problem.waiting), problem.workers),
        limit=np.ones(problem.waiting),
        row_place=np.concatenate(places),
        shape=(problem.workers, 2, problem.remaining),
    )


def binding_rows(residual: Ints, last_active: Ints) -> Ints:
    """Return the offsets of the rows that can bind, ascending.

    Parameters
    ----------
    residual
        One worker's residual slots or tokens in each remaining period, shape (T-k+1,).
    last_active
        Offset of each waiting request's last active period if admitted now, shape (J,).
    """
    if len(last_active) == 0:
        return np.zeros(0, dtype=np.int64)
    kept = np.zeros(len(residual), dtype=np.bool_)
    kept[:-1] = residual[1:] > residual[:-1]
    kept[last_active] = True
    kept[last_active.max() + 1 :] = False
    return np.flatnonzero(kept)


def _usage_by_period(problem: PeriodProblem) -> tuple[sp.csr_array, sp.csr_array]:
    """Return slots and KV tokens that each request uses in each remaining period, (T-k+1, J).

    A request admitted now is active from the first remaining period on, and its tokens grow by
    one per period.
    """
    active = problem.active_remaining
    ends = np.concatenate([[0], np.cumsum(active)])
    age = np.arange(ends[-1]) - np.repeat(ends[:-1], active)
    held = np.repeat(problem.tokens_at_start, active) + age
    shape = (problem.remaining, problem.waiting)
    slots = sp.csc_array((np.ones(len(age)), age, ends), shape=shape).tocsr()
    return slots, sp.csc_array((held.astype(np.float64), age, ends), shape=shape).tocsr()
