"""Columns, what starting a request on a worker earns and uses, and the dual of a sample of them.

The column of starting a request at period k on worker g has the reward r, and uses in each active
period one slot and m(age) KV tokens of that worker (`olprouting.instances.request_curves`). The KV
tokens grow by one per period, so that five numbers hold the whole column; it is never written out.

Columns stand on coordinates (worker, position). On ``"absolute"`` positions, those of the paper,
position i is period i+1 and a column starts at its own period. On ``"relative"`` positions it is
the i-th period from the start: all columns begin at 0, and a price is one of "i periods ahead".
They suit a receding horizon, whose last period moves with the first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, member_named
from olprouting.instances.request_curves import Batching, active_periods, kv_tokens_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    IntsLike = int | Sequence[int] | npt.NDArray[np.int64]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Positions(StrEnum):
    """What the second coordinate of a price counts."""

    ABSOLUTE = "absolute"
    """Periods 1..T (paper)."""
    RELATIVE = "relative"
    """Periods since the start."""


def parse_positions(positions: Positions | str) -> Positions:
    """Return the positions of this name.

    Raises
    ------
    InputError
        If there are none.
    """
    return member_named(Positions, "positions", positions)


class Columns(NamedTuple):
    """Columns as compiled code takes them; all arrays have shape (N,) and are writable.

    Attributes
    ----------
    reward
        r, float64.
    worker
        g, from 0, int64.
    first
        Position of the first active period, from 0, int64.
    active
        For how many periods the request is active, >= 1, int64; it may reach past the last one.
    tokens
        KV tokens at age 0, >= 0, int64.
    """

    reward: Floats
    worker: Ints
    first: Ints
    active: Ints
    tokens: Ints

    @property
    def size(self) -> int:
        """Number of columns N."""
        return len(self.reward)

    def rows(self, chosen: slice | Ints) -> Columns:
        """Return some of the columns; a slice copies nothing."""
        reward, worker, first, active, tokens = self
        return Columns(
            reward[chosen], worker[chosen], first[chosen], active[chosen], tokens[chosen]
        )


class SaaProblem(NamedTuple):
    """f(p) = d'p + mean over the columns of (r - a'p)+, for compiled code.

    Rewards, KV tokens and d are in the units of `olprouting.prices.scaling`: r is
    min(reward / reward_normalizer, reward_ceiling), a KV token weighs `mem_scale`, and

        d of slots = slots * slot_factor,    d of memory = kv_tokens * kv_factor.

    Source: bid-price paper, equations (6) and (11).

    Attributes
    ----------
    columns
        The history, shape (N,) each.
    slots, kv_tokens
        Residual capacities, float64, >= 0, shape (G, P), P positions.
    slot_factor, kv_factor
        1 / max(1, n_remain), and the same times `mem_scale`.
    mem_scale
        Weight of a KV token, > 0.
    reward_normalizer
        > 0.
    reward_ceiling
        Largest normalised reward; infinity where rewards are not clipped.
    width
        Positions in use, 1..P. Columns end there, and residuals beyond it are 0, so that prices
        beyond it stay as they are.
    """

    columns: Columns
    slots: Floats
    kv_tokens: Floats
    slot_factor: float
    kv_factor: float
    mem_scale: float
    reward_normalizer: float
    reward_ceiling: float
    width: int


def make_columns(
    reward: npt.ArrayLike,
    worker: IntsLike,
    start_period: IntsLike,
    prompt_tokens: IntsLike,
    decode_tokens: IntsLike,
    *,
    batching: Batching | str = Batching.DECODE,
    age_offset: int | None = None,
    positions: Positions | str = Positions.ABSOLUTE,
) -> Columns:
    """Return columns; the arguments broadcast to shape (N,).

    Parameters
    ----------
    reward
        r, finite (`olprouting.instances.reward`).
    worker
        g >= 0.
    start_period
        k >= 1.
    prompt_tokens, decode_tokens
        s >= 0 and the predicted o >= 1.
    batching
        ``"decode"`` or ``"mixed"`` (bid-price paper, equation (1) or appendix A).
    age_offset
        KV tokens held at age 0 beyond the prompt, >= 0; None is that of the batching mode.
    positions
        ``"absolute"`` or ``"relative"``.

    Raises
    ------
    InputError
        If a number is out of range (its index is named) or a name is unknown.
    """
    integers = [worker, start_period, prompt_tokens, decode_tokens]
    arrays = [_whole(name, array) for name, array in zip(_LEAST, integers, strict=True)]
    rewards = np.asarray(reward, dtype=np.float64)
    try:
        r, g, k, s, o = np.broadcast_arrays(np.atleast_1d(rewards), *arrays)
    except ValueError:
        raise InputError("the columns' arrays have different lengths") from None
    if not np.isfinite(r).all():
        row = int(np.argmin(np.isfinite(r)))
        raise InputError(f"reward[{row}] = {r[row]} must be finite")
    if age_offset is not None and age_offset < 0:
        raise InputError(f"age_offset = {age_offset} must be >= 0")
    relative = parse_positions(positions) is Positions.RELATIVE
    return Columns(
        reward=r.copy(),
        worker=g.copy(),
        first=np.zeros(len(r), np.int64) if relative else k - 1,
        active=active_periods(o, batching),
        tokens=kv_tokens_at(0, s, o, batching, age_offset),
    )


def no_columns() -> Columns:
    """Return columns of shape (0,)."""
    none = np.zeros(0, np.int64)
    return Columns(np.zeros(0), none, none.copy(), none.copy(), none.copy())


_LEAST = {"worker": 0, "start_period": 1, "prompt_tokens": 0, "decode_tokens": 1}


def _whole(name: str, values: IntsLike) -> Ints:
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{name} must hold integers, got {array.ravel()[0]!r}")
    low = array < _LEAST[name]
    if low.any():
        row = int(np.argmax(low))
        raise InputError(f"{name}[{row}] = {array[row]} must be >= {_LEAST[name]}")
    return array.astype(np.int64)
