"""The relaxation at a node of the search, as its kernels take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.structs import Struct

if TYPE_CHECKING:
    from olprouting.compiling import Bools, Floats, Ints

FEW_WORKERS = 9
"""Largest k whose 2^k sets are looked at; of more workers a flow finds the steepest set."""


@dataclass(frozen=True)
class Relaxation(Struct):
    """The program with every whole total in an interval, and where it is least.

    It concerns workers j, j+1, ... only; rows before j are not looked at.

    Parameters
    ----------
    base
        Loads without the new requests' own sizes, shape (k, H+1).
    floor
        Peaks that are there anyway, shape (H+1,).
    weights, total_weight
        Of the peaks, shape (H+1,), and their sum.
    prices
        What a token on each worker takes off the objective, shape (k,).
    low, high
        Interval of each worker's total, shape (k,).
    point
        Totals: where to begin, then where the objective is least, shape (k,).
    members
        The workers that can set a peak, shape (k,).
    chosen
        Which of them move together, shape (k,).
    up, down, gain
        Figures of each set of few workers, shape (2^min(k, 9),).
    reach
        Step at which each offset's slope changes, shape (H+1,).
    """

    base: Floats
    floor: Floats
    weights: Floats
    total_weight: float
    prices: Floats
    low: Floats
    high: Floats
    point: Floats
    members: Ints
    chosen: Bools
    up: Floats
    down: Floats
    gain: Floats
    reach: Floats


def new_relaxation(base: Floats, floor: Floats, weights: Floats) -> Relaxation:
    """Return a relaxation whose prices and intervals are to be filled in."""
    workers, offsets = base.shape
    sets = 1 << min(workers, FEW_WORKERS)
    return Relaxation(
        base=base,
        floor=floor.copy(),
        weights=weights,
        total_weight=sum(weights.tolist()),
        prices=np.zeros(workers),
        low=np.zeros(workers),
        high=np.zeros(workers),
        point=np.zeros(workers),
        members=np.zeros(workers, np.int64),
        chosen=np.zeros(workers, np.bool_),
        up=np.zeros(sets),
        down=np.zeros(sets),
        gain=np.zeros(sets),
        reach=np.zeros(offsets),
    )
