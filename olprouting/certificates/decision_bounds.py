"""Lower bounds on a decision's optimum that can be checked in exact arithmetic.

Each is an argument on its own, from the definitions:

``zero``
    No imbalance is negative.
``level``
    Every waiting request is admitted (or none is), so that the sum of the loads is known at each
    offset. The peak is no lower than the level up to which the new tokens fill the workers with
    free slots, than any load there is, and than the load of the worker that gets the largest
    request, whichever that is. Where all data are whole, so is every peak.
``peaks``
    A peak is at least any weighted mean of the loads. With shares sigma[g,h] >= 0 that sum to 1
    over the workers,

        value >= sum_{g,h} c[g,h] Lambda[g,h],   c[g,h] = gamma^h (G sigma[g,h] - 1),

    which is linear in the assignment: a request of size s costs alpha_g s + beta_g on worker g,
    alpha_g = sum_h c[g,h], beta_g = sum_h h c[g,h] (0 if frozen). If every slot is filled, the
    cheapest assignment pairs slots and sizes in opposite orders. Otherwise everything is admitted;
    with prices v_g >= 0 of slots the cost is at least
    sum_i min_g (alpha_g s_i + beta_g + v_g) - sum_g v_g c_g. The best shares reach the value of the
    linear relaxation: sigma and v are its dual.
``enumeration``
    All assignments are tried. Requests are placed one after another; placements that leave every
    worker with the same sum and number of new requests are one state.
``search``
    All assignments that several ``peaks`` bounds leave are tried: see `decision_search`.

Where every value is whole a bound may be rounded up; where everything is admitted as well, values
differ by multiples of G.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING

from olprouting.certificates.decision_value import weighted_imbalance
from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from olprouting.certificates.decision_value import ExactDecision
    from olprouting.certificates.reading import Number

MOST_WORK = 3_000_000
"""Loads that an enumeration may touch: larger ones are neither offered nor redone (seconds)."""


@dataclass(frozen=True)
class Peaks:
    """What the ``peaks`` bound needs.

    Parameters
    ----------
    shares
        sigma by (worker, offset); what is not named is 0.
    slot_prices
        v_g, used where slots stay free.
    """

    shares: Mapping[tuple[int, int], Fraction]
    slot_prices: tuple[Fraction, ...]


def level_bound(decision: ExactDecision) -> Fraction | None:
    """Return the ``level`` bound, or None where it does not apply."""
    if decision.admissions == 0:
        return weighted_imbalance(decision, decision.loads)
    if not decision.everything:
        return None
    open_workers = [g for g, slots in enumerate(decision.slots) if slots > 0]
    tokens, largest = sum(decision.sizes), max(decision.sizes)
    least_peaks, sums = [], []
    for h in decision.offsets:
        grown = h if decision.grows else 0
        new = tokens + grown * len(decision.sizes)
        level: Number = _level([decision.loads[g][h] for g in open_workers], new)
        if decision.whole_tokens:
            level = ceil(level)
        column = [row[h] for row in decision.loads]
        least_peaks.append(max([level, *column]))
        sums.append(sum(column) + new)
    bounds = []
    for g in open_workers:
        bound = Fraction(0)
        for h, weight in enumerate(decision.discount):
            own = decision.loads[g][h] + largest + (h if decision.grows else 0)
            bound += weight * (decision.workers * max(least_peaks[h], own) - sums[h])
        bounds.append(bound)
    return min(bounds)


def _level(loads: list[Number], new: Number) -> Fraction:
    """Return the level up to which `new` tokens fill `loads`.

    Filling the m lowest evenly reaches it for the right m, and ends no lower for any other.
    """
    sums = accumulate(sorted(loads))
    return min(Fraction(held + new) / m for m, held in enumerate(sums, start=1))


def peaks_bound(decision: ExactDecision, peaks: Peaks) -> Fraction:
    """Return the ``peaks`` bound, rounded up where that is sound.

    Raises
    ------
    DoesNotHoldError
        If shares or prices are none.
    """
    constant, slopes, fixed = linear_bound(decision, peaks)
    if decision.fills:
        by_worker = list(zip(slopes, decision.slots, strict=True))
        filled = zip(fixed, decision.slots, strict=True)
        least = least_pairing(sorted(decision.sizes), by_worker)
        least += sum((f * n for f, n in filled), Fraction(0))
    else:
        least = _priced(decision, slopes, fixed, peaks.slot_prices)
    return rounded_up(decision, constant + least)


def linear_bound(
    decision: ExactDecision, peaks: Peaks
) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Return a constant, alpha_g and beta_g: no assignment is worth less than this linear sum.

    Raises
    ------
    DoesNotHoldError
        If shares or prices are none.
    """
    _check(decision, peaks)
    # the loads are subtracted whatever the shares are
    constant, slope, moment = (-total for total in decision.totals)
    slopes = [slope] * decision.workers
    fixed = [moment if decision.grows else Fraction(0)] * decision.workers
    for (g, h), share in peaks.shares.items():
        weight = decision.discount[h] * decision.workers * share
        constant += weight * decision.loads[g][h]
        slopes[g] += weight
        if decision.grows:
            fixed[g] += h * weight
    return constant, slopes, fixed


def _check(decision: ExactDecision, peaks: Peaks) -> None:
    sums = dict.fromkeys(decision.offsets, Fraction(0))
    for (g, h), share in peaks.shares.items():
        if not 0 <= g < decision.workers or h not in sums:
            raise DoesNotHoldError(f"proof: there is no worker {g} with offset {h}")
        if share < 0:
            raise DoesNotHoldError(f"proof: the share of worker {g} at offset {h} is negative")
        sums[h] += share
    for h, total in sums.items():
        if total != 1:
            raise DoesNotHoldError(f"proof: the shares at offset {h} do not sum to 1")
    if len(peaks.slot_prices) != decision.workers or min(peaks.slot_prices) < 0:
        raise DoesNotHoldError(f"proof: slot_prices must be {decision.workers} numbers >= 0")


def least_pairing(ascending: Sequence[Number], slopes: Sequence[tuple[Fraction, int]]) -> Fraction:
    """Return the least sum of slope times size when every slot gets a size of its own.

    Parameters
    ----------
    ascending
        Sizes, no fewer than there are slots.
    slopes
        (slope, number of slots) of each worker.
    """
    total, used = Fraction(0), 0
    for slope, slots in sorted(slopes, reverse=True):
        if slope >= 0:
            total += slope * sum(ascending[used : used + slots])
            used += slots
    used = len(ascending)
    for slope, slots in sorted(slopes):
        if slope < 0:
            total += slope * sum(ascending[used - slots : used])
            used -= slots
    return total


def _priced(
    decision: ExactDecision,
    slopes: list[Fraction],
    fixed: list[Fraction],
    prices: Sequence[Fraction],
) -> Fraction:
    """Return a lower bound on the cost when everything is admitted and slots stay free."""
    open_workers = [g for g, slots in enumerate(decision.slots) if slots > 0]
    offers = {(slopes[g], fixed[g] + prices[g]) for g in open_workers}
    cost = sum(
        (min(slope * size + at for slope, at in offers) for size in decision.sizes), Fraction(0)
    )
    return cost - sum((prices[g] * decision.slots[g] for g in open_workers), Fraction(0))


def rounded_up(decision: ExactDecision, bound: Fraction) -> Fraction:
    """Return the least number >= `bound` that a value can be, as far as that is known."""
    if not decision.whole_values:
        return max(bound, Fraction(0))
    whole = max(ceil(bound), 0)
    if decision.everything:
        whole += (_residue(decision) - whole) % decision.workers
    return Fraction(whole)


def largest_below(decision: ExactDecision, target: Fraction) -> Fraction:
    """Return the largest number < `target` that a value can be, where values are whole."""
    whole = ceil(target) - 1
    if decision.everything:
        whole -= (whole - _residue(decision)) % decision.workers
    return Fraction(whole)


def _residue(decision: ExactDecision) -> int:
    """Return what whole values are modulo G if everything is admitted: minus the sum of loads."""
    grown = sum(decision.offsets) if decision.grows else 0
    sums = sum(sum(row) for row in decision.loads) + grown * len(decision.sizes)
    return -int(sums + sum(decision.sizes) * len(decision.offsets))


def enumerated(decision: ExactDecision, most_work: int = MOST_WORK) -> Fraction | None:
    """Return the optimum by enumeration, or None beyond so much work."""
    start = tuple((0, 0) for _ in decision.slots)
    twins = _twins(decision)
    states: set[tuple[tuple[Number, int], ...]] = {start}
    left, work = len(decision.sizes), 0
    for size in decision.sizes:
        left -= 1
        following = set()
        for state in states:
            placed = sum(number for _, number in state)
            if placed + left >= decision.admissions:
                following.add(state)  # this request waits on
            if placed == decision.admissions:
                continue
            for g, (tokens, number) in enumerate(state):
                if number < decision.slots[g]:
                    moved = (*state[:g], (tokens + size, number + 1), *state[g + 1 :])
                    following.add(_ordered(moved, twins))
        work += len(following) * decision.workers
        if work + len(following) * decision.workers * len(decision.offsets) > most_work:
            return None
        states = following
    return min(placed_value(decision, state) for state in states)


def _twins(decision: ExactDecision) -> list[list[int]]:
    """Return the groups of workers that differ in nothing."""
    groups: dict[tuple[tuple[Number, ...], int], list[int]] = {}
    for g, key in enumerate(zip(decision.loads, decision.slots, strict=True)):
        groups.setdefault(key, []).append(g)
    return [group for group in groups.values() if len(group) > 1]


def _ordered(
    state: tuple[tuple[Number, int], ...], twins: list[list[int]]
) -> tuple[tuple[Number, int], ...]:
    if not twins:
        return state
    entries = list(state)
    for group in twins:
        for g, entry in zip(group, sorted(state[g] for g in group), strict=True):
            entries[g] = entry
    return tuple(entries)


def placed_value(decision: ExactDecision, state: Sequence[tuple[Number, int]]) -> Fraction:
    """Return the value if each worker gets requests of this sum and number."""
    loads = [
        [
            load + tokens + (number * h if decision.grows else 0)
            for h, load in enumerate(decision.loads[g])
        ]
        for g, (tokens, number) in enumerate(state)
    ]
    return weighted_imbalance(decision, loads)
