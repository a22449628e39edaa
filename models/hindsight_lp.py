"""The best schedule in hindsight: which requests to start when and where, all arrivals known.

Column (d,j,k) starts request j on worker d at period k, for the reward r_(d,j,k). It is active in
the periods k..min(k + a_j, T+1) - 1 and holds v_j + (i - k) KV tokens in period i. Worker d has
B_d slots and M_d KV tokens. Two forms of one program; periods are counted from 1.

Naive form, one row per worker and period for either resource:

    maximise    sum_(d,j,k) r_(d,j,k) * x_(d,j,k)                                           (1)
    subject to  sum_{(j,k) active at i} x_(d,j,k) <= B_d                    for all d, i    (2)
                sum_{(j,k) active at i} (v_j + i - k) * x_(d,j,k) <= M_d    for all d, i    (3)
                sum_{d,k} x_(d,j,k) <= 1                                    for all j       (4)
                x >= 0.

State-space form: with the occupancy N_(d,i) and the tokens K_(d,i), N_(d,0) = K_(d,0) = 0,

    N_(d,i) = N_(d,i-1) + sum_{starts at i} x - sum_{ends at i} x                           (5)
    K_(d,i) = K_(d,i-1) + N_(d,i) + sum_{starts at i} (v_j - 1) * x
                                  - sum_{ends at i} (v_j + a_j - 1) * x                     (6)
    N_(d,i) <= B_d,  K_(d,i) <= M_d                                                         (7)

replace (2) and (3); the ends at i are the columns whose first inactive period is i. A resident
grows by one token per period, hence N in (6); what starts at i is counted there too, hence v_j - 1.
A column has at most five nonzeros, however long its request is.

With G identical workers, adding up (2) and (3) over the workers loses nothing in the LP: spread
any solution of one worker with G*B slots and G*M tokens evenly. With whole starts it does.

Source: bid-price paper, sections 2 and 3, over all periods at once; the state-space form is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


class HindsightLp(NamedTuple):
    """The program and its parts: x, its columns, rows (2)/(3) or (7), rows (4)."""

    problem: Any
    start: Any
    worker: Ints
    request: Ints
    period: Ints
    slots: Any
    tokens: Any
    once: Any


def naive(
    rewards: Floats,
    active: Ints,
    tokens: Ints,
    slots: Ints,
    kv_tokens: Ints,
    *,
    integer: bool = False,
) -> HindsightLp:
    """Return the naive form as a CVXPY problem.

    Parameters
    ----------
    rewards
        r, shape (D, J, T); NaN where a start is not allowed.
    active, tokens
        a_j >= 1 periods and v_j >= 0 KV tokens at the start, shape (J,).
    slots, kv_tokens
        B_d and M_d, shape (D,).
    integer
        Whether starts are whole.
    """
    worker, request, period, start = _columns(rewards, integer)
    workers, _, periods = rewards.shape
    lasts = np.minimum(active[request], periods - period)
    column = np.repeat(np.arange(len(request)), lasts)
    age = np.arange(len(column)) - np.repeat(np.cumsum(lasts) - lasts, lasts)
    row = worker[column] * periods + period[column] + age
    shape = (workers * periods, len(request))
    held = tokens[request[column]] + age
    use_slots = sp.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    use_tokens = sp.csr_array((held.astype(np.float64), (row, column)), shape=shape)
    within_slots = use_slots @ start <= np.repeat(slots, periods)
    within_tokens = use_tokens @ start <= np.repeat(kv_tokens, periods)
    columns = (worker, request, period)
    return _program(rewards, start, columns, within_slots, within_tokens, [])


def state_space(
    rewards: Floats,
    active: Ints,
    tokens: Ints,
    slots: Ints,
    kv_tokens: Ints,
    *,
    integer: bool = False,
) -> HindsightLp:
    """Return the state-space form as a CVXPY problem; the arguments are those of `naive`."""
    worker, request, period, start = _columns(rewards, integer)
    workers, _, periods = rewards.shape
    size = workers * periods
    first = worker * periods + period
    end = period + active[request]
    ends = np.flatnonzero(end < periods)
    row = np.concatenate([first, worker[ends] * periods + end[ends]])
    column = np.concatenate([np.arange(len(request)), ends])
    signs = np.concatenate([np.ones(len(request)), -np.ones(len(ends))])
    before = tokens[request] - 1
    last = (tokens + active)[request[ends]] - 1
    change_slots = sp.csr_array((signs, (row, column)), shape=(size, len(request)))
    held = signs * np.concatenate([before, last])
    change_tokens = sp.csr_array((held, (row, column)), shape=(size, len(request)))
    step = sp.diags_array([1.0, -1.0], offsets=[0, -1], shape=(periods, periods))
    steps = sp.csr_array(sp.block_diag([step] * workers))
    occupancy = cp.Variable(size, name="occupancy")
    resident = cp.Variable(size, name="tokens")
    balance = [
        steps @ occupancy == change_slots @ start,
        steps @ resident == occupancy + change_tokens @ start,
    ]
    within_slots = occupancy <= np.repeat(slots, periods)
    within_tokens = resident <= np.repeat(kv_tokens, periods)
    columns = (worker, request, period)
    return _program(rewards, start, columns, within_slots, within_tokens, balance)


def _columns(rewards: Floats, integer: bool) -> tuple[Ints, Ints, Ints, Any]:
    """Return worker, request and period (from 0) of every column, and x."""
    worker, request, period = np.nonzero(~np.isnan(rewards))
    start: Any = cp.Variable(len(request), name="start", integer=integer, nonneg=True)
    return worker, request, period, start


def _program(
    rewards: Floats,
    start: Any,
    columns: tuple[Ints, Ints, Ints],
    within_slots: Any,
    within_tokens: Any,
    balance: list[Any],
) -> HindsightLp:
    worker, request, period = columns
    entries = (np.ones(len(request)), (request, np.arange(len(request))))
    once = sp.csr_array(entries, shape=(rewards.shape[1], len(request))) @ start <= 1
    rows = [within_slots, within_tokens, once, *balance]
    problem = cp.Problem(cp.Maximize(rewards[columns] @ start), rows)
    return HindsightLp(
        problem, start, worker, request, period + 1, within_slots, within_tokens, once
    )
