"""Complementary slackness in fractions: a proof that an assignment attains the relaxation.

With gamma < 1 an incumbent meets the root bound only up to rounding. It does so exactly if there
are charges c_g, that is prices d_g = Gamma - c_g, such that

- no exchange collects more: a worker with a larger request than another is charged no less, where
  requests that keep waiting count as those of a worker that is charged nothing;
- no set X of workers, moved by a token, lowers phi(b) + sum c_g b_g. Upwards, d(X) must be at most
  the weight of the offsets with a worker of X at the peak; downwards, at least that of the offsets
  whose peak is all in X (see `relaxation_kernels`). Workers with the n largest requests need not
  move up, nor those with the n smallest down.

The charges of the root bound are such up to rounding. Prices that agree are made equal, and sets
whose slope is about 0 give linear equations whose right sides are exact; prices that these leave
open stay as they are. Then both conditions are checked in fractions, save for sets whose slope is
far from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.check import discount_numerators
from olprouting.exact.native.problem import loads_when_full

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.compiling import Bools, Floats, Ints
    from olprouting.exact.native.prepare import Prepared
    from olprouting.exact.native.problem import Problem, State

MOST_WORKERS = 12
"""With more workers at peaks nothing is proven, since all their sets are looked at."""

NEAR = 1e-8
"""Prices and slopes this close, relative to the sum of weights, are compared in fractions."""

NOTHING, FULL = 0, 1
"""Classes of the prices 0 and Gamma; other prices have classes of their own."""


def attains_relaxation(prepared: Prepared, state: State, held: Ints, owner: Ints) -> bool:
    """Whether charges near those of the root prove an assignment optimal, without rounding.

    Parameters
    ----------
    prepared
        A decision whose free slots are all filled.
    state
        The search's state after the root bound.
    held, owner
        Size class and worker of each admitted request, see `placed_classes`.
    """
    p = prepared.problem
    totals = np.bincount(owner, p.sizes[held], minlength=len(p.slots))
    loads = loads_when_full(p) + totals[:, None]
    peaks = np.maximum(loads.max(axis=0), p.floor)
    at_peak = loads == peaks
    can_rise = totals < state.most[0][p.slots]
    can_fall = totals > state.least[0][p.slots]
    prices = p.price - state.charge[0]
    classes = _classes_of(prices, p)
    set_a_peak = at_peak.any(axis=1)
    members = np.flatnonzero(set_a_peak)
    if (~set_a_peak & can_rise & (classes != NOTHING)).any() or len(members) > MOST_WORKERS:
        return False
    peaks_of = _Peaks.of(prepared, at_peak[members], p.floor == peaks)
    near = NEAR * float(p.weights.sum())
    rising = peaks_of.tight_sets(1, prices[members], can_rise[members], near)
    falling = peaks_of.tight_sets(-1, prices[members], can_fall[members], near)
    if rising is None or falling is None:
        return False
    exact = _exact_prices(prepared, [rising, falling], prices, classes, members)
    own = np.array([exact[c] for c in classes[members].tolist()], object)
    return (
        _in_order(p, held, owner, classes, exact)
        and all(rising.sets @ own <= rising.weights)
        and all(falling.sets @ own >= falling.weights)
    )


@dataclass(frozen=True)
class _Tight:
    """Sets of workers whose prices and moving weight agree up to rounding.

    Parameters
    ----------
    sets
        Which workers are in each, shape (n, k).
    weights
        The weight that moves with each, exactly, shape (n,).
    """

    sets: Bools
    weights: npt.NDArray[Any]


@dataclass(frozen=True)
class _Peaks:
    """Who sets the peaks, where the same workers do so put together.

    Parameters
    ----------
    setters
        Which workers set them, shape (m, k).
    fixed
        Whether a full worker is at the peak as well, shape (m,).
    weights, exact
        Their weights, in tokens and as whole numbers of gamma's denominator, shape (m,).
    """

    setters: Bools
    fixed: Bools
    weights: Floats
    exact: npt.NDArray[Any]

    @classmethod
    def of(cls, prepared: Prepared, at_peak: Bools, fixed: Bools) -> _Peaks:
        """Return the peaks of an assignment; `at_peak` has shape (k, H+1), `fixed` (H+1,)."""
        workers = len(at_peak)
        codes = (1 << np.arange(workers)) @ at_peak + (fixed << workers)
        kinds, kind = np.unique(codes, return_inverse=True)
        decision = prepared.decision
        numerators, _ = discount_numerators(decision.gamma, decision.horizon)
        exact = [0] * len(kinds)
        for own, numerator in zip(kind.tolist(), numerators, strict=True):
            exact[own] += numerator
        weights = np.zeros(len(kinds))
        np.add.at(weights, kind, prepared.problem.weights)
        setters = _members(kinds, workers)
        return cls(
            setters, kinds >> workers > 0, weights, decision.workers * np.array(exact, object)
        )

    def tight_sets(self, sign: int, prices: Floats, free: Bools, near: float) -> _Tight | None:
        """Return the tight sets of free workers; None if moving one by `sign` lowers phi."""
        workers = len(prices)
        sets = _members(np.arange(1 << workers), workers)
        sets = sets[~(sets & ~free).any(axis=1)]
        common = sets.astype(np.int64) @ self.setters.T
        alone = (common == self.setters.sum(axis=1)) & ~self.fixed
        moved = common > 0 if sign > 0 else alone
        slope = sign * (moved @ self.weights - sets @ prices)
        if slope.min() < -near:
            return None
        tight = slope <= near
        return _Tight(sets[tight], moved[tight].astype(object) @ self.exact)


def _members(codes: Ints, workers: int) -> Bools:
    """Return which bits are set, shape (n, k)."""
    members: Bools = codes[:, None] >> np.arange(workers) & 1 > 0
    return members


def _classes_of(prices: Floats, problem: Problem) -> Ints:
    """Return a class for each price: those that agree up to rounding have the same."""
    near = NEAR * float(problem.weights.sum())
    known = [0.0, problem.price]
    classes = np.zeros(len(prices), np.int64)
    for g in np.argsort(prices).tolist():
        price = float(prices[g])
        match = [c for c, other in enumerate(known) if abs(price - other) <= near]
        if not match:
            match = [len(known)]
            known.append(price)
        classes[g] = match[0]
    return classes


def _exact_prices(
    prepared: Prepared, tight: list[_Tight], prices: Floats, classes: Ints, members: Ints
) -> list[Fraction]:
    """Return the price of each class, in the unit of the exact weights.

    Solves the equations of the tight sets by elimination; classes that they leave open keep the
    price that they have.
    """
    decision = prepared.decision
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    number = int(classes.max(initial=FULL)) + 1
    one_of = np.eye(number, dtype=np.int64)[classes[members]]
    sets = np.concatenate([each.sets for each in tight])
    weights = np.concatenate([each.weights for each in tight])
    rows = (sets.astype(np.int64) @ one_of).tolist()
    equations = dict(zip(map(tuple, rows), weights.tolist(), strict=True))
    exact = [Fraction(0), Fraction(sum(numerators))] + [
        Fraction(float(prices[classes == c].mean())) * scale for c in range(FULL + 1, number)
    ]
    unknown = range(FULL + 1, number)
    pivots: dict[int, tuple[list[Fraction], Fraction]] = {}
    for row, weight in equations.items():
        if len(pivots) == len(unknown):
            break
        own = [Fraction(row[c]) if c in unknown else Fraction(0) for c in range(number)]
        right = weight - row[FULL] * exact[FULL]
        for c, (other, its_right) in pivots.items():
            if factor := own[c]:
                own = [a - factor * b for a, b in zip(own, other, strict=True)]
                right -= factor * its_right
        pivot = next((c for c in unknown if own[c]), None)
        if pivot is not None:
            factor = own[pivot]
            pivots[pivot] = ([value / factor for value in own], right / factor)
    for c, (own, right) in reversed(pivots.items()):
        exact[c] = right - sum(own[i] * exact[i] for i in unknown if i != c)
    return exact


def _in_order(
    problem: Problem, held: Ints, owner: Ints, classes: Ints, exact: list[Fraction]
) -> bool:
    """Whether no exchange of requests collects more charges: large requests have low prices."""
    ordered = sorted(set(exact))
    rank = np.array([ordered.index(price) for price in exact])
    least = np.full(len(classes) + 1, np.inf)
    most = np.full(len(classes) + 1, -np.inf)
    np.minimum.at(least, owner, problem.sizes[held])
    np.maximum.at(most, owner, problem.sizes[held])
    waiting = problem.supply - np.bincount(held, minlength=len(problem.supply))
    kept = problem.sizes[waiting > 0]
    least[-1], most[-1] = kept.min(initial=np.inf), kept.max(initial=-np.inf)
    ranks = rank[np.append(classes, FULL)]
    wrong = (most[:, None] > least) & (ranks[:, None] > ranks)
    return not wrong.any()
