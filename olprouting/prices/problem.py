"""The sample average of the dual, in the units in which prices are learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.prices.columns import Columns

    Floats = npt.NDArray[np.float64]


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
