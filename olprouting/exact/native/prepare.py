"""From a decision to the arrays of the search, and back from its choice to an assignment."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.backend import BeyondRangeError
from olprouting.exact.check import discount_numerators, exact_data
from olprouting.exact.native.problem import Problem
from olprouting.exact.native.total_kernels import fill_totals
from olprouting.instances import Decision, Growth

if TYPE_CHECKING:
    from olprouting.compiling import Bools, Floats, Ints
    from olprouting.instances import Assignment

LARGEST = 2.0**50
"""Largest sum of tokens, times G and H + 1, that the search takes: doubles hold it exactly."""

MOST_LISTED_SLOTS = 3
MOST_TOTALS = 20_000
"""Totals are listed for workers with so few slots, if there are no more."""

ROUNDING = 1e-12
"""What doubles may lose in a sum of about a hundred terms, generously."""


@dataclass(frozen=True)
class Prepared:
    """A decision made ready for the search.

    Parameters
    ----------
    problem
        The arrays.
    workers
        Index of each open worker, in search order.
    places
        Place of each worker in that order, shape (G,); -1 for full ones.
    class_of
        Size class of each request, shape (W,).
    offset
        Value of a solution in the search plus this is its objective, both in `unit`.
    unit
        The data's common denominator.
    margin
        Rounding error of a value, in `unit`; 0 if all values are whole.
    step
        By how much distinct values differ at least; 0 if that is not known.
    """

    decision: Decision
    problem: Problem
    workers: Ints
    places: Ints
    class_of: Ints
    offset: Fraction
    unit: int
    margin: float
    step: int

    def objective(self, value: float) -> Fraction:
        """Return a value of the search as an objective in tokens."""
        return (Fraction(value) + self.offset) / self.unit


def prepare(decision: Decision, order: Ints | None = None) -> Prepared:
    """Return `decision` ready for the search.

    Parameters
    ----------
    decision
        The decision.
    order
        Its open workers in the order in which the search shall place them, or None.

    Raises
    ------
    BeyondRangeError
        If its numbers are too large for doubles to hold every sum exactly.
    """
    data = exact_data(decision)
    loads, sizes = data.loads, data.sizes
    grown = data.unit if decision.growth is Growth.GROWING else 0
    span = int(loads.max()) + sum(sizes.tolist()) + data.unit * decision.waiting * decision.horizon
    if span * decision.workers * (decision.horizon + 1) > LARGEST:
        raise BeyondRangeError(
            f"native: loads and sizes of up to {span} / {data.unit} tokens are beyond exact "
            "double arithmetic; use cpsat, or count in larger units"
        )
    reference = loads.max(axis=0)
    relative = (loads - reference).astype(np.float64)
    order = _first_order(decision) if order is None else order
    places = np.full(decision.workers, -1)
    places[order] = np.arange(len(order))
    gammas = np.array(_discounts(decision.gamma, decision.horizon))
    distinct, class_of, supply = np.unique(sizes, return_inverse=True, return_counts=True)
    admissions = decision.admissions
    fills = int(decision.free_slots.sum()) <= decision.waiting
    everything = admissions == decision.waiting
    open_loads = np.ascontiguousarray(relative[order])
    slots = decision.free_slots[order]
    equal = not fills and grown > 0 and decision.horizon > 0  # numbers may differ: twins only
    above, below = worker_orders(open_loads, slots, equal=equal)
    full_growth = grown * slots[:, None] * np.arange(decision.horizon + 1)
    problem = Problem(
        loads=open_loads,
        full_loads=open_loads + full_growth,
        slots=slots.copy(),
        floor=np.zeros(len(reference)),
        weights=decision.workers * gammas,
        price=float(gammas.sum()),
        growth=float(grown),
        sizes=distinct.astype(np.float64),
        supply=supply.astype(np.int64),
        above=above,
        below=below,
        admissions=admissions,
        fills=fills,
        everything=everything,
        ordered=ordered_loads(open_loads) if everything else np.zeros((0, 0, 0)),
        totals=np.zeros(0),
        total_classes=np.zeros((0, 3), np.int64),
        total_starts=np.zeros(admissions + 1, np.int64),
        total_stops=np.zeros(admissions + 1, np.int64),
    )
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    constant = decision.workers * reference - loads.sum(axis=0)
    constant = constant - grown * admissions * np.arange(decision.horizon + 1)
    offset = Fraction(sum(map(int.__mul__, numerators, constant.tolist())), scale)
    exact = decision.horizon == 0 or decision.gamma == 1
    step = (decision.workers if everything else 1) if exact else 0
    extent = (
        float(np.abs(relative).max())
        + sum(sizes.tolist())
        + grown * decision.waiting * decision.horizon
    )
    margin = 0.0 if exact else ROUNDING * float(problem.weights.sum()) * extent
    return Prepared(decision, problem, order, places, class_of, offset, data.unit, margin, step)


def with_totals(prepared: Prepared) -> Prepared:
    """Return the decision with lists of the totals that few free slots can have."""
    p = prepared.problem
    if not p.fills:
        return prepared
    starts, stops = np.zeros_like(p.total_starts), np.zeros_like(p.total_stops)
    lists, classes, end = [p.totals], [p.total_classes], 0
    for number in np.unique(p.slots).tolist():
        length = math.comb(len(p.sizes) + number - 1, number)
        if number > MOST_LISTED_SLOTS or length > MOST_TOTALS:
            continue
        totals, own = np.empty(length), np.empty((length, MOST_LISTED_SLOTS), np.int64)
        count = fill_totals(p.sizes, p.supply, number, totals, own)
        order = np.argsort(totals[:count], kind="stable")
        lists.append(totals[order])
        classes.append(own[order])
        starts[number], stops[number] = end, end + count
        end += count
    listed = replace(
        p,
        totals=np.concatenate(lists),
        total_classes=np.concatenate(classes),
        total_starts=starts,
        total_stops=stops,
    )
    return replace(prepared, problem=listed)


def reordered(prepared: Prepared, order: Ints) -> Prepared:
    """Return the decision with its open workers in another order; listed totals stay."""
    other, p = prepare(prepared.decision, order), prepared.problem
    listed = replace(
        other.problem,
        totals=p.totals,
        total_classes=p.total_classes,
        total_starts=p.total_starts,
        total_stops=p.total_stops,
    )
    return replace(other, problem=listed)


def assignment_of(prepared: Prepared, chosen: Ints, counts: Ints) -> Assignment:
    """Return the assignment of chosen size classes: within a size, the earliest requests first."""
    supply = prepared.problem.supply
    requests = np.argsort(prepared.class_of, kind="stable").tolist()
    following = (np.cumsum(supply) - supply).tolist()
    pairs = []
    for j, worker in enumerate(prepared.workers.tolist()):
        for c in chosen[j, : counts[j]].tolist():
            pairs.append((requests[following[c]], worker))
            following[c] += 1
    return tuple(sorted(pairs))


def placed_classes(prepared: Prepared, assignment: Assignment) -> tuple[Ints, Ints]:
    """Return size class and worker (in search order) of each admitted request."""
    requests, workers = np.array(assignment, np.int64).reshape(-1, 2).T
    return prepared.class_of[requests], prepared.places[workers]


def key_of(prepared: Prepared, assignment: Assignment) -> Floats:
    """Return G * peak - total at each offset, which tells the imbalances of assignments apart."""
    p = prepared.problem
    held, owner = placed_classes(prepared, assignment)
    peaks = np.maximum(loads_with(p, held, owner).max(axis=0), p.floor)
    key: Floats = prepared.decision.workers * peaks - p.sizes[held].sum()
    return key


def critical_first(prepared: Prepared, assignment: Assignment) -> Ints:
    """Return the open workers: those that matter for the peaks first, and those with least choice.

    Once the peaks are set the largest requests are simply dealt out. With lookahead the workers
    that set a peak in a good assignment matter; for H = 0 only one does, and all that could. A
    worker's choice is judged by how many requests have about the mean size that it gets there, to
    the power of its slots: workers that set the peak need the few smallest requests, workers far
    below it the few largest.
    """
    decision = prepared.decision
    sizes = exact_data(decision).sizes.astype(np.float64)
    near = max(1.0, (sizes.max() - sizes.min()) / 20)
    if decision.horizon:
        loads = loads_with(prepared.problem, *placed_classes(prepared, assignment))
        matter = (loads == loads.max(axis=0)).any(axis=1)
    else:
        matter = _can_set_a_peak(prepared.problem)
    critical = set(prepared.workers[matter].tolist())
    choice = {}
    for worker in prepared.workers.tolist():
        own = [request for request, g in assignment if g == worker]
        target = sizes[own].mean() if own else sizes.mean()
        similar = np.count_nonzero(np.abs(sizes - target) <= near)
        choice[worker] = int(decision.free_slots[worker]) * float(np.log1p(similar))
    place = prepared.places.tolist()
    return np.array(
        sorted(choice, key=lambda g: (g not in critical, choice[g], place[g])), np.int64
    )


def _can_set_a_peak(problem: Problem) -> Bools:
    """Which workers may set a peak above those that are there anyway."""
    if not problem.fills:
        return np.ones(len(problem.slots), np.bool_)
    ordered = np.repeat(problem.sizes, problem.supply)
    least = problem.full_loads + np.append(0.0, np.cumsum(ordered))[problem.slots, None]
    most = problem.full_loads + np.append(0.0, np.cumsum(ordered[::-1]))[problem.slots, None]
    sure = np.maximum(least.max(axis=0), problem.floor)
    matters: Bools = ((most > sure) | (least > problem.floor)).any(axis=1)
    return matters


def loads_with(problem: Problem, held: Ints, owner: Ints) -> Floats:
    """Return the loads of the open workers, in search order, at each offset, shape (k, H+1)."""
    totals = np.bincount(owner, problem.sizes[held], len(problem.slots))
    counts = np.bincount(owner, minlength=len(problem.slots))
    grown = problem.growth * np.arange(len(problem.weights))
    loads: Floats = problem.loads + totals[:, None] + counts[:, None] * grown
    return loads


@lru_cache(maxsize=64)
def _discounts(gamma: Fraction, horizon: int) -> tuple[float, ...]:
    """Return gamma^h, each the double nearest to it."""
    return tuple(float(gamma**h) for h in range(horizon + 1))


def _first_order(decision: Decision) -> Ints:
    """Return the open workers, fewest slots first."""
    loads, slots = decision.projected_load_tokens, decision.free_slots
    open_workers = np.flatnonzero(slots).tolist()
    return np.array(sorted(open_workers, key=lambda g: (slots[g], -loads[g, 0], g)), np.int64)


def worker_orders(loads: Floats, slots: Ints, *, equal: bool) -> tuple[Bools, Bools]:
    """Return which pairs (j, g < j) of equally many slots are ordered by load: `above`, `below`.

    Equal workers are ordered one way only; with `equal`, no others are.
    """
    alike = np.tril(slots[:, None] == slots, -1)
    above = (loads[:, None] >= loads).all(axis=2) & alike
    below = (loads[:, None] <= loads).all(axis=2) & alike
    twins = above & below
    if equal:
        above, below = twins, np.zeros_like(twins)
    return above, below & ~twins


def ordered_loads(loads: Floats) -> Floats:
    """Return loads of workers j, j+1, ..., sorted at each offset; see `Problem`."""
    workers, offsets = loads.shape
    ordered = np.zeros((workers, workers, offsets))
    for j in range(workers):
        ordered[j, : workers - j] = np.sort(loads[j:], axis=0)
    return ordered
