"""The plain arrays that the compiled search works on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from olprouting.compiling import Floats, Ints


class Problem(NamedTuple):
    """A decision in the order of the search: open workers only, sizes by class.

    All token figures are whole numbers of the data's unit, held as doubles, and loads are taken
    relative to the largest present load at each offset: what is summed stays small.

    Parameters
    ----------
    loads
        A[g,h] of the open workers in search order, shape (k, H+1).
    slots
        c_g, shape (k,).
    floor
        Largest present load at each offset, shape (H+1,): zeros, by the choice of reference.
    weights
        G * gamma^h, shape (H+1,).
    price
        Gamma, the sum of gamma^h: what one admitted token takes off the objective.
    growth
        What an admitted request grows per offset: one token, or 0 if frozen.
    sizes, supply
        Distinct sizes, ascending, and how many requests of each wait, shape (S,).
    above, below
        Whether worker j needs no larger (no smaller) total than worker g, since its load is at no
        offset smaller (larger) and both get equally many requests, shape (k, k).
    admissions
        U.
    fills
        1 if every free slot is filled, so that n_g = c_g; 0 if all requests are admitted and n_g
        is to be chosen.
    everything
        1 if all waiting requests are admitted, so that the total of the new sizes is known.
    ordered
        Loads of workers j, j+1, ..., sorted at each offset, shape (k, k, H+1); row j is used up
        to k - j.
    totals
        The totals that numbers of requests can have, ascending for each number, shape (Z,).
    total_classes
        Size classes of the requests of each total, padded with -1, shape (Z, 3).
    total_starts, total_stops
        Which of `totals` belong to each number, shape (U+1,); both 0 if they are not listed.
    """

    loads: Floats
    slots: Ints
    floor: Floats
    weights: Floats
    price: float
    growth: float
    sizes: Floats
    supply: Ints
    above: Ints
    below: Ints
    admissions: int
    fills: int
    everything: int
    ordered: Floats
    totals: Floats
    total_classes: Ints
    total_starts: Ints
    total_stops: Ints


def loads_when_full(problem: Problem) -> Floats:
    """Return the loads with the growth of full slots, without the new requests' own sizes."""
    grown = problem.growth * problem.slots[:, None] * np.arange(len(problem.weights))
    loads: Floats = problem.loads + grown
    return loads


class State(NamedTuple):
    """Where the search stands, so that it can stop at any node and go on later.

    Row j belongs to the worker at depth j.

    Parameters
    ----------
    left
        Requests of each size not yet placed, shape (S,).
    profile
        Peaks of the full workers and of workers before j, shape (k+1, H+1).
    totals, counts
        b_g and n_g of the placed workers, shape (k,).
    chosen
        Size classes of the requests placed on a worker, in descending order, shape (k, U).
    partial
        Sum of the sizes before each position of `chosen`, shape (k, U+1).
    spent
        Sum of the regrets before each position likewise.
    regret
        What it costs the others if worker j takes a request of a size, shape (k, S).
    budget
        Sum of the regrets that a subset must stay below, shape (k,).
    fence
        Interval that the search keeps the total of a worker in, shape (k, 2); infinite in a proof.
    window
        Interval of totals that worker j may still have, shape (k, 2).
    window_cut
        Cut for which the window was made, shape (k,).
    least
        Sums of the smallest remaining sizes when worker j was reached, shape (k, U+1).
    most
        Sums of the largest remaining sizes likewise.
    box
        Intervals that depth j leaves for the totals of workers j, j+1, ..., shape (k+1, k, 2).
    point
        Minimiser of the relaxation at depth j, shape (k+1, k).
    charge
        Charges of the relaxation at depth j for requests that several workers want, shape (k+1, k).
    shared
        What these charges collect at most, shape (k+1,).
    cursor
        [depth, phase, position, class] of the search and of its subset enumeration.
    tally
        [nodes, ties skipped, steps of the last call].
    best_chosen, best_counts
        The incumbent, like `chosen` and `counts`.
    best_key
        G * peak - total of the incumbent at each offset: equal keys are equal imbalances.
    """

    left: Ints
    profile: Floats
    totals: Floats
    counts: Ints
    chosen: Ints
    partial: Floats
    spent: Floats
    regret: Floats
    budget: Floats
    fence: Floats
    window: Floats
    window_cut: Floats
    least: Floats
    most: Floats
    box: Floats
    point: Floats
    charge: Floats
    shared: Floats
    cursor: Ints
    tally: Ints
    best_chosen: Ints
    best_counts: Ints
    best_key: Floats
