"""Root bounds in exact arithmetic.

With gamma < 1 values are sums of doubles, and an incumbent that meets the root bound does so only
up to rounding. Both root bounds have whole peaks behind them, so their values are rational numbers
that can be computed; these functions do that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.check import discount_numerators
from olprouting.exact.native.problem import loads_when_full
from olprouting.exact.native.relaxation_kernels import MOST_WORKERS, who_matters

if TYPE_CHECKING:
    from olprouting.compiling import Bools, Floats, Ints
    from olprouting.exact.native.prepare import Prepared
    from olprouting.exact.native.problem import State


def exact_level_bound(prepared: Prepared) -> Fraction:
    """Return the bound of ``_level_bound`` at the root, exactly, as an objective in tokens.

    All requests are admitted: at each offset the workers are filled up to a level, one of them
    gets the largest request, and the q largest are on q workers or two of them on one.
    """
    p = prepared.problem
    loads = p.loads.astype(np.int64)
    offsets = np.arange(loads.shape[1])
    tokens = int((p.sizes * p.supply).sum())
    grown = int(p.growth)
    amount = tokens + grown * offsets * p.admissions
    ordered = np.sort(loads, axis=0)
    number = np.arange(1, len(loads) + 1)[:, None]
    # filling the m lowest workers evenly reaches the level or, for a wrong m, above it
    heights = -(-(np.cumsum(ordered, axis=0) + amount) // number)
    level = np.maximum(heights.min(axis=0), p.floor.astype(np.int64))
    largest = np.repeat(p.sizes, p.supply).astype(np.int64)[::-1][: len(loads), None]
    largest = largest + grown * offsets
    spread = np.maximum.accumulate(ordered[: len(largest)] + largest, axis=0)
    pairs = ordered[0] + largest[:-1] + largest[1:]
    level = np.maximum(level, np.minimum(spread[1:], pairs).max(axis=0, initial=0))
    with_largest = loads + largest[0]
    values = [_value(prepared, np.maximum(level, own), tokens) for own in with_largest]
    return min(values)


def exact_charged_bound(prepared: Prepared, state: State) -> Fraction | None:
    """Return the root relaxation's least value at its charges, exactly, as an objective in tokens.

    None if the point in `state` is not proven to attain it: a whole point does if no set of
    workers, moved up or down by one inside the intervals, has a negative slope. Only workers that
    can set a peak need be looked at together. Everything is whole in a common unit.
    """
    p = prepared.problem
    point = state.point[0]
    low, high = state.least[0][p.slots], state.most[0][p.slots]
    numerators, scale = discount_numerators(prepared.decision.gamma, prepared.decision.horizon)
    one = sum(numerators)
    charges = [
        Fraction(one, scale) if charge == p.price else Fraction(charge)
        for charge in state.charge[0].tolist()
    ]
    unit = scale * math.lcm(*(charge.denominator for charge in charges))
    weights = [prepared.decision.workers * number * unit // scale for number in numerators]
    prices = [int((Fraction(one, scale) - charge) * unit) for charge in charges]
    base = loads_when_full(p)
    matter = who_matters(base, p.floor, low, high)
    for g in np.flatnonzero(~matter).tolist():
        if (prices[g] > 0 and point[g] < high[g]) or (prices[g] < 0 and point[g] > low[g]):
            return None
    members = np.flatnonzero(matter)
    if len(members) > MOST_WORKERS or not _is_least(
        base[members] + point[members, None],
        p.floor,
        weights,
        [prices[g] for g in members.tolist()],
        point[members] < high[members],
        point[members] > low[members],
    ):
        return None
    peaks = np.maximum((base + point[:, None]).max(axis=0), p.floor).astype(np.int64)
    value = sum(map(int.__mul__, weights, peaks.tolist()))
    value -= sum(map(int.__mul__, prices, point.astype(np.int64).tolist()))
    collected = _most_collected(prepared, charges)
    return (Fraction(value, unit) - collected + prepared.offset) / prepared.unit


def _is_least(
    loads: Floats,
    floor: Floats,
    weights: list[int],
    prices: list[int],
    can_rise: Bools,
    can_fall: Bools,
) -> bool:
    """Whether no set of workers, moved by one, lowers the weighted peaks minus the prices."""
    workers = len(loads)
    bits = 1 << np.arange(workers)
    peaks = np.maximum(loads.max(axis=0, initial=-np.inf), floor)
    at_peak = ((loads == peaks) * bits[:, None]).sum(axis=0)
    subsets = np.arange(1, 1 << workers)
    gains = np.zeros(len(subsets), object)
    for price, bit in zip(prices, bits, strict=True):
        gains += _where((subsets & bit) != 0, price)
    up, down = np.zeros(len(subsets), object), np.zeros(len(subsets), object)
    for mask, fixed in set(zip(at_peak.tolist(), (floor == peaks).tolist(), strict=True)):
        same = (at_peak == mask) & ((floor == peaks) == fixed)
        weight = sum(weights[h] for h in np.flatnonzero(same).tolist())
        up += _where((subsets & mask) != 0, weight)
        if mask and not fixed:
            down += _where((mask & ~subsets) == 0, weight)
    rising, falling = int((bits * can_rise).sum()), int((bits * can_fall).sum())
    rises = (subsets & ~rising != 0) | (up - gains >= 0)
    falls = (subsets & ~falling != 0) | (gains - down >= 0)
    return bool((rises & falls).all())


def _where(there: Bools, amount: int) -> Any:
    """Return an array of big integers: the amount where `there`, else 0."""
    return there.astype(np.int64).astype(object) * amount


def _most_collected(prepared: Prepared, charges: list[Fraction]) -> Fraction:
    """Return the most that charges can collect: largest requests where they are highest."""
    p = prepared.problem
    sizes = np.repeat(p.sizes, p.supply).astype(np.int64).tolist()
    collected = Fraction(0)
    for sign, queue in ((1, sizes[::-1]), (-1, sizes)):
        taken = 0
        owed = [(sign * charge, g) for g, charge in enumerate(charges) if sign * charge > 0]
        for amount, g in sorted(owed, reverse=True):
            count = int(p.slots[g])
            collected += sign * amount * sum(queue[taken : taken + count])
            taken += count
    return collected


def _value(prepared: Prepared, peaks: Ints, total: int) -> Fraction:
    decision = prepared.decision
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    columns: list[Any] = (decision.workers * peaks - total).tolist()
    raised = Fraction(sum(map(int.__mul__, numerators, columns)), scale)
    return (raised + prepared.offset) / prepared.unit
