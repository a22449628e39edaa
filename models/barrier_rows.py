"""Which barrier rows of the imbalance program can bind.

The program (balance paper, section 3) has one row ``M_h >= Lambda[g,h]`` for every worker g and
offset h. With b_g the total of worker g's new sizes and n_g their number,

    Lambda[g,h] = A[g,h] + b_g + growth * h * n_g.

Whatever is decided, n_g and b_g lie in known ranges, so Lambda[g,h] lies between a lowest and a
highest value. Two facts follow, both exact:

* M_h is at least ``floor_h = max_g lowest Lambda[g,h]``, so the floor may be a bound of M_h;
* a row whose highest Lambda[g,h] does not exceed ``floor_h`` never binds and may be left out.

Workers without free slots have one possible load, so all their rows become the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.number[Any]]


@dataclass(frozen=True)
class BarrierRows:
    """The rows that can bind, and the ranges they were judged by.

    Parameters
    ----------
    admissions
        U, how many requests are admitted in all.
    fewest, most
        Range of n_g, shape (G,).
    smallest, largest
        Range of b_g in tokens, shape (G,).
    floor
        Lower bound on M_h in tokens, shape (H+1,).
    binding
        Whether row (g, h) can bind, shape (G, H+1).
    """

    admissions: int
    fewest: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    smallest: Numbers
    largest: Numbers
    floor: Numbers
    binding: npt.NDArray[np.bool_]


def barrier_rows(
    loads: Numbers, free_slots: npt.NDArray[np.int64], sizes: Numbers, growth: int
) -> BarrierRows:
    """Return which barrier rows can bind.

    Parameters
    ----------
    loads
        A[g,h] in tokens, shape (G, H+1).
    free_slots
        c_g, shape (G,).
    sizes
        s_i of every waiting request in tokens, shape (N,), in any order.
    growth
        Tokens that an admitted request grows by per offset: 1 growing, 0 frozen.
    """
    admissions = min(len(sizes), int(free_slots.sum()))
    most = np.minimum(free_slots, admissions)
    fewest = np.maximum(0, admissions - (free_slots.sum() - free_slots))
    ascending = np.concatenate([sizes[:0], np.sort(sizes)])
    totals = np.concatenate([np.zeros(1, ascending.dtype), np.cumsum(ascending)])
    smallest = totals[fewest]
    largest = totals[-1] - totals[len(sizes) - most]
    offsets = growth * np.arange(loads.shape[1])
    lowest = loads + smallest[:, None] + offsets * fewest[:, None]
    highest = loads + largest[:, None] + offsets * most[:, None]
    floor = lowest.max(axis=0)
    return BarrierRows(admissions, fewest, most, smallest, largest, floor, highest > floor)
