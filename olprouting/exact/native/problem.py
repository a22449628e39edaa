"""What the compiled search works on: the problem, where the search stands, and work space.

"Worker j" is the one that the search places at depth j, and its row is row j everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import as_records
from olprouting.exact.native.relaxation import Relaxation, new_relaxation
from olprouting.exact.native.relaxation_kernels import relaxed
from olprouting.structs import Struct, by_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from olprouting.compiling import Bools, Floats, Ints

CUTS = 40
"""Linear functions that the search for charges keeps."""


@dataclass(frozen=True)
class Problem(Struct):
    """A decision in the order of the search: open workers only, sizes by class.

    All token figures are whole numbers of the data's unit, held as doubles, and loads are taken
    relative to the largest present load at each offset: what is summed stays small.

    Parameters
    ----------
    loads
        A[g,h] of the open workers in search order, shape (k, H+1).
    full_loads
        Those loads with the growth of full slots, A[g,h] + growth * h * c_g, shape (k, H+1).
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
        Whether every free slot is filled, so that n_g = c_g; else all requests are admitted and
        n_g is to be chosen.
    everything
        Whether all waiting requests are admitted, so that the total of the new sizes is known.
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
    full_loads: Floats
    slots: Ints
    floor: Floats
    weights: Floats
    price: float
    growth: float
    sizes: Floats
    supply: Ints
    above: Bools
    below: Bools
    admissions: int
    fills: bool
    everything: bool
    ordered: Floats
    totals: Floats
    total_classes: Ints
    total_starts: Ints
    total_stops: Ints


@dataclass(frozen=True)
class Bundle(Struct):
    """Work space of the search for the best charges.

    Parameters
    ----------
    slope, level, weight
        Linear functions above the bound, and their weights in the mix that the next charges follow,
        shapes (C, k), (C,), (C,).
    trial
        Charges to be tried, shape (k,).
    mix
        Mean slope, shape (k,).
    share_low, share_high
        Smallest and largest totals at which the charges collect most, shape (k,).
    """

    slope: Floats
    level: Floats
    weight: Floats
    trial: Floats
    mix: Floats
    share_low: Floats
    share_high: Floats


LIMITS = np.dtype(
    [(name, np.float64) for name in ("cut", "reach", "best", "target", "step", "margin", "scale")]
)
"""Values that steer the search.

- cut: nodes whose bound is not below this are left;
- reach: cut for windows, above the former by as much as it takes to see every tie;
- best: value of the incumbent;
- target: a solution of at most this value ends the search;
- step: a solution of value v lowers the cut to v - step;
- margin: values this close are a tie as far as doubles can tell;
- scale: G.
"""

PLACE = np.dtype(
    [
        (name, np.int64)
        for name in ("depth", "phase", "position", "candidate", "nodes", "ties", "steps")
    ]
)
"""Where the search stands, and what it counts.

- depth, phase: the worker whose turn it is, and what is to be done next (see `search_kernels`);
- position, candidate: where the enumeration of its subsets stands (see `subset_kernels`);
- nodes: looked at in all;
- ties: left in this pass although they may tie with the incumbent;
- steps: of the last call.
"""


@dataclass(frozen=True)
class SearchState(Struct):
    """Where the search stands, so that it can stop at any node and go on later.

    Row j belongs to worker j.

    Parameters
    ----------
    left
        Requests of each size not yet placed, shape (S,).
    profile
        Peaks of the full workers and of workers before j, shape (k+1, H+1).
    totals, counts
        b_g and n_g of the placed workers, shape (k,).
    chosen
        Size classes of the requests placed on a worker, in descending order, shape (k, U+1).
    partial
        Sum of the sizes before each position of `chosen`, shape (k, U+1).
    spent
        Sum of the regrets before each position likewise.
    regret
        What it costs the others if worker j takes a request of a size, shape (k, S).
    budget
        Sum of the regrets that a subset must stay below, shape (k,).
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
    limits, place
        One record each, of types `LIMITS` and `PLACE`.
    held, owner
        Size class and worker of each admitted request while an assignment is improved, shape (U,).
    best_chosen, best_counts
        The incumbent, like `chosen` and `counts`.
    best_key
        G * peak - total of the incumbent at each offset: equal keys are equal imbalances.
    relaxation, bundle
        Work space.
    relaxed
        The kernel of that name, which solves the relaxation.
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
    window: Floats
    window_cut: Floats
    least: Floats
    most: Floats
    box: Floats
    point: Floats
    charge: Floats
    shared: Floats
    limits: npt.NDArray[np.void]
    place: npt.NDArray[np.void]
    held: Ints
    owner: Ints
    best_chosen: Ints
    best_counts: Ints
    best_key: Floats
    relaxation: Relaxation
    bundle: Bundle
    relaxed: Callable[[Relaxation, int], float]


def new_limits() -> npt.NDArray[np.void]:
    """Return a record of `LIMITS` for one solve, all 0."""
    return as_records(np.zeros(1, LIMITS))


def new_state(problem: Problem, limits: npt.NDArray[np.void]) -> SearchState:
    """Return a state with room for the search, not yet begun, that keeps to `limits`."""
    workers, offsets = problem.loads.shape
    most = problem.admissions
    relaxation = new_relaxation(problem.full_loads, problem.floor, problem.weights)
    return SearchState(
        left=problem.supply.copy(),
        profile=np.zeros((workers + 1, offsets)),
        totals=np.zeros(workers),
        counts=np.zeros(workers, np.int64),
        chosen=np.zeros((workers, most + 1), np.int64),
        partial=np.zeros((workers, most + 1)),
        spent=np.zeros((workers, most + 1)),
        regret=np.zeros((workers, len(problem.sizes))),
        budget=np.zeros(workers),
        window=np.zeros((workers, 2)),
        window_cut=np.zeros(workers),
        least=np.zeros((workers, most + 1)),
        most=np.zeros((workers, most + 1)),
        box=np.tile([-np.inf, np.inf], (workers + 1, workers, 1)),
        point=np.zeros((workers + 1, workers)),
        charge=np.zeros((workers + 1, workers)),
        shared=np.zeros(workers + 1),
        limits=limits,
        place=as_records(np.zeros(1, PLACE)),
        held=np.zeros(most, np.int64),
        owner=np.zeros(most, np.int64),
        best_chosen=np.zeros((workers, most + 1), np.int64),
        best_counts=np.zeros(workers, np.int64),
        best_key=np.full(offsets, np.nan),
        relaxation=relaxation,
        bundle=Bundle(
            slope=np.zeros((CUTS, workers)),
            level=np.zeros(CUTS),
            weight=np.zeros(CUTS),
            trial=np.zeros(workers),
            mix=np.zeros(workers),
            share_low=np.zeros(workers),
            share_high=np.zeros(workers),
        ),
        relaxed=by_pointer(relaxed, relaxation, 0),
    )
