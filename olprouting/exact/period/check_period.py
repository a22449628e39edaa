"""Whether an x and prices are what a solver says: feasible, complementary, equal in value.

This shares nothing with the models and solvers, nor with the arrays they take. A request is active
in the first a_j remaining periods and its tokens start at m_j and grow by one, so that use, and the
cost of a request at given prices, follow from running sums.

Weak duality makes `value_bound` a proof whatever prices are given to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from olprouting.instances import PeriodProblem

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""Relative error granted to solvers that work in doubles: of a row to its capacity (at least 1),
of values to the value (at least the largest reward)."""


@dataclass(frozen=True)
class PeriodCheck:
    """What the check of an x with prices found.

    Parameters
    ----------
    value, bound
        Reward of x, and the prices' upper bound on every reward.
    slack_cost
        Sum of price times unused capacity: 0 at an optimum.
    unadmitted_value
        Sum of option value times unadmitted share: 0 at an optimum.
    admitted_loss
        Sum over starts of x times how far the margin lies below the option value: 0 at an optimum.
    faults
        What is wrong, in words; empty if nothing is.
    """

    value: float
    bound: float
    slack_cost: float
    unadmitted_value: float
    admitted_loss: float
    faults: tuple[str, ...]

    @property
    def gap(self) -> float:
        """Bound minus value: the sum of the three complementary slacknesses."""
        return self.bound - self.value


def check_period(
    problem: PeriodProblem, x: Floats, batch: Floats, memory: Floats, tolerance: float = TOLERANCE
) -> PeriodCheck:
    """Check an LP solution with its prices: all that makes both optimal.

    Parameters
    ----------
    problem
        The problem.
    x
        Share of each request admitted on each worker, shape (J, G).
    batch, memory
        Prices of slots and of KV tokens, shape (G, T-k+1).
    tolerance
        Relative error granted.
    """
    faults = primal_faults(problem, x, tolerance)
    if x.shape != (problem.waiting, problem.workers):
        unknown = math.nan
        return PeriodCheck(unknown, unknown, unknown, unknown, unknown, tuple(faults))
    negative = [name for name, p in (("slot", batch), ("token", memory)) if (p < 0).any()]
    faults += [f"a {name} price is negative" for name in negative]
    margins = margins_of(problem, batch, memory)
    option_values = best_margins(margins)
    slots, tokens = used(problem, x)
    slack_cost = float(
        (batch * (problem.slots - slots)).sum() + (memory * (problem.kv_tokens - tokens)).sum()
    )
    unadmitted = float(option_values @ (1 - x.sum(axis=1)))
    loss = float((x * (option_values[:, None] - margins)).sum())
    value, bound = value_of(problem, x), value_bound(problem, batch, memory)
    scale = max(abs(bound), float(problem.rewards.max(initial=0.0)))
    terms = {
        "unused capacity has a price (complementary slackness)": slack_cost,
        "a request with an option value is not admitted (complementary slackness)": unadmitted,
        "a start is not at its best margin (complementary slackness)": loss,
        "value and bound differ (strong duality)": bound - value,
    }
    faults += [f"{what}: {by:.3g}" for what, by in terms.items() if abs(by) > tolerance * scale]
    return PeriodCheck(value, bound, slack_cost, unadmitted, loss, tuple(faults))


def primal_faults(
    problem: PeriodProblem, x: npt.NDArray[Any], tolerance: float = TOLERANCE
) -> list[str]:
    """Return what keeps x from being feasible; whole x is checked in integers if tolerance is 0."""
    if x.shape != (problem.waiting, problem.workers) or not np.isfinite(x).all():
        return [f"x must be {problem.waiting} by {problem.workers} finite numbers"]
    faults = []
    if (x < -tolerance).any():
        faults.append(f"x is negative: {x.min():.3g}")
    if (x.sum(axis=1) > 1 + tolerance).any():
        faults.append(f"request {int(x.sum(axis=1).argmax())} is admitted more than once")
    for name, use, capacity in zip(
        ("slots", "KV tokens"), used(problem, x), (problem.slots, problem.kv_tokens), strict=True
    ):
        excess = use - capacity
        over = excess > tolerance * np.maximum(capacity, 1)
        if over.any():
            g, k = np.unravel_index(int(np.argmax(np.where(over, excess, -1))), over.shape)
            where = f"in period {problem.period + k}"
            faults.append(f"worker {g} exceeds its {name} by {excess[g, k]:.3g} {where}")
    return faults


def used(problem: PeriodProblem, x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return slots and KV tokens that x uses, each (G, T-k+1); whole where x is of whole type."""
    kind = np.int64 if x.dtype.kind in "iu" else np.float64
    shape = (problem.workers, problem.remaining)
    # sums over the requests still active at an offset: those that end there or later
    ending, held_by_ending = np.zeros(shape, kind), np.zeros(shape, kind)
    for g in range(problem.workers):
        np.add.at(ending[g], problem.active_remaining - 1, x[:, g].astype(kind))
        starts = x[:, g].astype(kind) * problem.tokens_at_start.astype(kind)
        np.add.at(held_by_ending[g], problem.active_remaining - 1, starts)
    slots = _sums_from_right(ending)
    grown = slots * np.arange(problem.remaining, dtype=kind)
    return slots, _sums_from_right(held_by_ending) + grown


def value_of(problem: PeriodProblem, x: npt.NDArray[Any]) -> float:
    """Return the reward of x, correctly rounded."""
    return math.fsum((problem.rewards[:, None] * x).ravel().tolist())


def value_bound(problem: PeriodProblem, batch: Floats, memory: Floats) -> float:
    """Return b'p + sum_j y_j(p), an upper bound on every reward for any prices >= 0."""
    option_values = best_margins(margins_of(problem, batch, memory))
    paid = (batch * problem.slots).ravel().tolist() + (memory * problem.kv_tokens).ravel().tolist()
    return math.fsum(paid + option_values.tolist())


def margins_of(problem: PeriodProblem, batch: Floats, memory: Floats) -> Floats:
    """Return r_j - a_(j,g)'p, shape (J, G), with running sums of the prices."""
    ages = np.arange(problem.remaining)
    last = problem.active_remaining - 1
    held = problem.tokens_at_start[:, None]
    level, growth = np.cumsum(memory, axis=1), np.cumsum(memory * ages, axis=1)
    cost = np.cumsum(batch, axis=1)[:, last].T + held * level[:, last].T + growth[:, last].T
    margins: Floats = problem.rewards[:, None] - cost
    return margins


def best_margins(margins: Floats) -> Floats:
    """Return y_j = (max_g margin)+, shape (J,)."""
    values: Floats = np.maximum(margins.max(axis=1), 0)
    return values


def fits_whole(problem: PeriodProblem) -> npt.NDArray[np.bool_]:
    """Return whether each request alone fits whole on each worker, shape (J, G)."""
    last = problem.active_remaining - 1
    slots = np.minimum.accumulate(problem.slots, axis=1)[:, last].T
    room = problem.kv_tokens - np.arange(problem.remaining)
    tokens = np.minimum.accumulate(room, axis=1)[:, last].T
    return np.asarray((slots >= 1) & (tokens >= problem.tokens_at_start[:, None]))


def _sums_from_right(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.flip(np.cumsum(np.flip(table, axis=1), axis=1), axis=1)
