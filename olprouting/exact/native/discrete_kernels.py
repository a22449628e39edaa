"""A bound that knows which totals a few requests can have.

The relaxation lets a worker have any whole total. A worker with one to three free slots has far
fewer: the sums of so many waiting requests. Given the peaks P_h that are fixed, let

    E_g(b) = sum_h w_h * max(0, A[g,h] + growth * h * c_g + b - P_h)

be what worker g alone raises them by. The peaks rise by at least max_g E_g(b_g), hence

    value >= sum_h w_h * P_h + min over e >= 0 of (e - sum_g price_g * b_g(e))

with b_g(e) the largest total that worker g can have with E_g <= e. Only finitely many e matter,
which one sweep visits. For H = 0 nothing is lost but that two workers may want the same request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Floats, Ints, compiled
from olprouting.exact.native.subset_kernels import first_above

if TYPE_CHECKING:
    from olprouting.exact.native.problem import Problem, State

MOST_EVENTS = 300
"""A sweep is given up after so many values of e."""


@compiled
def discrete_bound(
    problem: Problem, state: State, j: int, charge: Floats, fixed: float, most: float, cut: float
) -> float:
    """Return a bound on completing workers j, j+1, ..., or -inf if it is below `cut`.

    Parameters
    ----------
    problem, state
        The search; workers before j are placed.
    charge
        Charges for requests that several workers want, shape (k,); used from j on.
    fixed
        Value of what is placed, less what the charges collect at most.
    most
        No more than this can be gained by the totals of all.
    cut
        Smaller bounds are of no use.
    """
    workers = len(problem.slots)
    if not problem.fills:
        return -np.inf
    for g in range(j, workers):
        if problem.total_stops[problem.slots[g]] == 0:
            return -np.inf  # its totals are not listed
    place = np.empty(workers, np.int64)
    following = np.empty(workers, np.int64)
    price = np.zeros(workers)
    cost = np.full(workers, np.inf)  # E of the following total
    raised = 0.0
    for g in range(j, workers):
        price[g] = problem.price - charge[g]
        cap = np.inf
        grown = problem.growth * problem.slots[g]
        for h in range(len(problem.weights)):
            cap = min(cap, state.profile[j, h] - problem.loads[g, h] - grown * h)
        start = problem.total_starts[problem.slots[g]]
        stop = problem.total_stops[problem.slots[g]]
        after = first_above(problem.totals, start, stop, cap)
        place[g] = available(problem, state.left, after - 1, start - 1, -1)
        following[g] = available(problem, state.left, after, stop, 1)
        if place[g] < start:
            place[g] = following[g]
            if place[g] == stop:
                return np.inf
            raised = max(raised, _raised_by(problem, state, j, g, problem.totals[place[g]]))
            following[g] = available(problem, state.left, place[g] + 1, stop, 1)
        if following[g] < stop:
            cost[g] = _raised_by(problem, state, j, g, problem.totals[following[g]])
    gain = 0.0
    each = 0.0
    for g in range(j, workers):
        gain += price[g] * problem.totals[place[g]]
        each += price[g] * state.most[j, problem.slots[g]]
    most = min(most, each)
    best = np.inf
    for _ in range(MOST_EVENTS):
        cheapest = j
        for g in range(j + 1, workers):
            if cost[g] < cost[cheapest]:
                cheapest = g
        if cost[cheapest] > raised:
            best = min(best, fixed + raised - min(gain, most))
            if best < cut:
                return -np.inf
            raised = cost[cheapest]
            if fixed + raised - most >= cut:
                return best
        g = cheapest
        gain += price[g] * (problem.totals[following[g]] - problem.totals[place[g]])
        place[g] = following[g]
        stop = problem.total_stops[problem.slots[g]]
        following[g] = available(problem, state.left, place[g] + 1, stop, 1)
        cost[g] = np.inf
        if following[g] < stop:
            cost[g] = _raised_by(problem, state, j, g, problem.totals[following[g]])
    return -np.inf


@compiled
def _raised_by(problem: Problem, state: State, j: int, g: int, total: float) -> float:
    """Return by how much worker g with this total raises the peaks, weighted."""
    raised = 0.0
    grown = problem.growth * problem.slots[g]
    for h in range(len(problem.weights)):
        above = problem.loads[g, h] + grown * h + total - state.profile[j, h]
        if above > 0.0:
            raised += problem.weights[h] * above
    return raised


@compiled
def available(problem: Problem, left: Ints, entry: int, end: int, step: int) -> int:
    """Return the next entry whose requests are not placed yet, or `end`."""
    while entry != end:
        first = problem.total_classes[entry, 0]
        second = problem.total_classes[entry, 1]
        third = problem.total_classes[entry, 2]
        enough = left[first] >= 1 + (second == first) + (third == first)
        if second >= 0 and second != first:
            enough = enough and left[second] >= 1 + (third == second)
        if third >= 0 and third not in (first, second):
            enough = enough and left[third] >= 1
        if enough:
            return entry
        entry += step
    return end


@compiled
def fill_totals(sizes: Floats, supply: Ints, number: int, totals: Floats, classes: Ints) -> int:
    """Fill the totals of 1 to 3 requests, not sorted, and their size classes; return how many."""
    count = 0
    for a in range(len(sizes)):
        if number == 1:
            totals[count] = sizes[a]
            classes[count, 0] = a
            classes[count, 1] = -1
            classes[count, 2] = -1
            count += 1
            continue
        for b in range(a, len(sizes)):
            if b == a and supply[a] < 2:
                continue
            if number == 2:
                totals[count] = sizes[a] + sizes[b]
                classes[count, 0] = a
                classes[count, 1] = b
                classes[count, 2] = -1
                count += 1
                continue
            for c in range(b, len(sizes)):
                if supply[c] < 1 + (c == b) + (c == a):
                    continue
                totals[count] = sizes[a] + sizes[b] + sizes[c]
                classes[count, 0] = a
                classes[count, 1] = b
                classes[count, 2] = c
                count += 1
    return count
