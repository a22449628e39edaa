"""Proofs in exact arithmetic that an incumbent which meets the root bound is optimal.

With gamma < 1 values are sums of doubles, which meet a bound up to rounding. Two are had exactly:

- the level bound (see `bound_kernels`) has whole peaks behind it, so its value is a fraction;
- the charged relaxation, where each worker is charged nothing or the whole price of a token. Its
  prices then are Gamma and 0, and an assignment attains it (complementary slackness) if

  - no exchange collects more: workers that are charged have no smaller request than any other
    worker, or than any that keeps waiting;
  - no set X of workers, moved by a token, lowers phi. Upwards, its prices must be at most the
    weight of the offsets with a worker of X at the peak; downwards, at least that of the offsets
    whose peak is all in X (see `relaxation_kernels`). Workers with the n largest requests need not
    move up, nor those with the n smallest down.

  Other charges are left to a search through the ties, which is short with the few subsets that
  they leave; charges of nothing leave very many.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.check import discount_numerators
from olprouting.exact.native.prepare import loads_with

if TYPE_CHECKING:
    from olprouting.compiling import Bools, Ints
    from olprouting.exact.native.prepare import Prepared
    from olprouting.exact.native.problem import SearchState

MOST_WORKERS = 12
"""With more workers at peaks nothing is proven, since all their sets are looked at."""


def attains_relaxation(prepared: Prepared, state: SearchState, held: Ints, owner: Ints) -> bool:
    """Whether the charges of the root prove an assignment optimal, without rounding.

    Parameters
    ----------
    prepared
        A decision whose free slots are all filled.
    state
        The search's state after the root bound.
    held, owner
        Size class and worker of each admitted request, see `placed_classes`.
    """
    p, charge = prepared.problem, state.charge[0]
    charged = charge == p.price
    if not (charged | (charge == 0)).all():
        return False
    waiting = np.flatnonzero(p.supply > np.bincount(held, minlength=len(p.supply)))
    on_charged = charged[owner]
    others = np.append(held[~on_charged], waiting)
    if held[on_charged].min(initial=len(p.sizes)) < others.max(initial=-1):
        return False
    totals = np.bincount(owner, p.sizes[held], minlength=len(p.slots))
    loads = loads_with(p, held, owner)
    peaks = np.maximum(loads.max(axis=0), p.floor)
    at_peak = loads == peaks
    sets_a_peak = at_peak.any(axis=1)
    members = np.flatnonzero(sets_a_peak)
    can_rise = totals < state.most[0][p.slots]
    if (~sets_a_peak & can_rise & ~charged).any() or len(members) > MOST_WORKERS:
        return False
    can_fall = totals > state.least[0][p.slots]
    decision = prepared.decision
    numerators, _ = discount_numerators(decision.gamma, decision.horizon)
    prices = np.where(charged[members], 0, 1).astype(object) * sum(numerators)
    columns = np.vstack([at_peak[members], p.floor == peaks])
    kinds, kind = np.unique(columns, axis=1, return_inverse=True)  # offsets of equal setters
    setters, fixed = kinds[:-1].T, kinds[-1]
    weights = np.array([0] * len(fixed), object)
    for own, numerator in zip(kind.ravel().tolist(), numerators, strict=True):
        weights[own] += decision.workers * numerator
    rising, falling = (_sets(free[members]) for free in (can_rise, can_fall))
    touched = rising.astype(np.int64) @ setters.T > 0
    alone = (falling.astype(np.int64) @ setters.T == setters.sum(axis=1)) & ~fixed
    return bool(
        (rising @ prices <= touched @ weights).all() and (falling @ prices >= alone @ weights).all()
    )


def _sets(free: Bools) -> Bools:
    """Return all sets of free workers, shape (n, k)."""
    workers = len(free)
    sets: Bools = np.arange(1 << workers)[:, None] >> np.arange(workers) & 1 > 0
    return sets[~(sets & ~free).any(axis=1)]


def exact_level_bound(prepared: Prepared) -> Fraction:
    """Return the level bound at the root, exactly, as an objective in tokens.

    All requests are admitted: at each offset the workers are filled up to a level, as far as their
    slots allow, one of them gets the largest request, and the q largest are on q workers or two of
    them on one.
    """
    p = prepared.problem
    loads = p.loads.astype(np.int64)
    offsets = np.arange(loads.shape[1])
    tokens = int((p.sizes * p.supply).sum())
    grown = int(p.growth)
    amount = tokens + grown * offsets * p.admissions
    descending = np.repeat(p.sizes, p.supply).astype(np.int64)[::-1]
    slots = np.minimum(p.slots, p.admissions)
    caps = np.append(0, np.cumsum(descending))[slots][:, None] + grown * offsets * slots[:, None]
    low, high = loads.min(axis=0), (loads + caps).max(axis=0)
    while (low < high).any():
        middle = (low + high) // 2
        enough = np.clip(middle - loads, 0, caps).sum(axis=0) >= amount
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    level = np.maximum(low, p.floor.astype(np.int64))
    ordered = np.sort(loads, axis=0)
    largest = descending[: len(loads), None] + grown * offsets
    spread = np.maximum.accumulate(ordered[: len(largest)] + largest, axis=0)
    pairs = ordered[0] + largest[:-1] + largest[1:]
    level = np.maximum(level, np.minimum(spread[1:], pairs).max(axis=0, initial=0))
    with_largest = loads + largest[0]
    values = [_value(prepared, np.maximum(level, own), tokens) for own in with_largest]
    return min(values)


def _value(prepared: Prepared, peaks: Ints, total: int) -> Fraction:
    decision = prepared.decision
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    columns: list[Any] = (decision.workers * peaks - total).tolist()
    raised = Fraction(sum(map(int.__mul__, numerators, columns)), scale)
    return (raised + prepared.offset) / prepared.unit
