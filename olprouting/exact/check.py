"""The weighted imbalance of a fixed assignment, in exact arithmetic.

This is what every objective in the library is recomputed with, and it shares nothing with the
models and solvers: integers, or fractions over one common denominator. A float in the data is
read as the decimal it prints as (0.6 is 3/5), and gamma is the fraction it was given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError
from olprouting.instances import Decision, Growth

if TYPE_CHECKING:
    from olprouting.instances import Assignment

_LARGEST_INT64 = 2**63 - 1


@dataclass(frozen=True)
class ExactData:
    """A decision's token data as integers over one common denominator.

    Parameters
    ----------
    loads, sizes
        Numerators of A[g,h] and s_i: int64 where every imbalance fits, else Python integers.
    unit
        The common denominator: 1 where all data are whole.
    """

    loads: npt.NDArray[Any]
    sizes: npt.NDArray[Any]
    unit: int


def objective(decision: Decision, assignment: Assignment) -> int | Fraction:
    """Return the weighted imbalance of an assignment in tokens, exactly.

    The value is ``sum_h gamma^h * (G * max_g Lambda[g,h] - sum_g Lambda[g,h])``.

    Parameters
    ----------
    decision
        The decision.
    assignment
        Pairs (request index, worker index), taken on trust: `recheck` looks first.

    Returns
    -------
    int or Fraction
        An int where ``decision.integral``, else a fraction.
    """
    data = exact_data(decision)
    loads = data.loads
    if assignment:
        requests, workers = (list(column) for column in zip(*assignment, strict=True))
        added = np.zeros((decision.workers, 1), loads.dtype)
        np.add.at(added[:, 0], workers, data.sizes[requests])
        loads = loads + added
        if decision.growth is Growth.GROWING and decision.horizon:
            number = np.bincount(workers, minlength=decision.workers).astype(loads.dtype)
            loads = loads + np.outer(number * data.unit, np.arange(decision.horizon + 1))
    imbalances = decision.workers * loads.max(axis=0) - loads.sum(axis=0)
    weights, scale = discount_numerators(decision.gamma, decision.horizon)
    total = sum(map(int.__mul__, weights, imbalances.tolist()))
    return total if decision.integral else Fraction(total, scale * data.unit)


def recheck(decision: Decision, assignment: Assignment) -> int | Fraction:
    """Return the exact value of an assignment, after checking that it is one.

    Parameters
    ----------
    decision
        The decision.
    assignment
        Pairs (request index, worker index).

    Raises
    ------
    InputError
        If an index is out of range, a request is admitted twice, a worker gets more requests than
        it has free slots, or the number of admissions is not U = min(waiting, free slots).
    """
    for request, worker in assignment:
        if not 0 <= request < decision.waiting:
            raise InputError(f"request {request} is not among the {decision.waiting} waiting")
        if not 0 <= worker < decision.workers:
            raise InputError(f"worker {worker} is not among the {decision.workers} workers")
    if len({request for request, _ in assignment}) < len(assignment):
        twice, _ = Counter(request for request, _ in assignment).most_common(1)[0]
        raise InputError(f"request {twice} is admitted more than once")
    free = decision.free_slots.tolist()
    for worker, number in Counter(worker for _, worker in assignment).items():
        if number > free[worker]:
            raise InputError(f"worker {worker} gets {number} requests, has {free[worker]} slots")
    if len(assignment) != decision.admissions:
        raise InputError(
            f"{len(assignment)} requests are admitted, must be {decision.admissions} "
            f"({decision.waiting} waiting, {sum(free)} free slots)"
        )
    return objective(decision, assignment)


_exact_data: WeakKeyDictionary[Decision, ExactData] = WeakKeyDictionary()


def exact_data(decision: Decision) -> ExactData:
    """Return the token data of `decision` as integers; computed once per decision."""
    known = _exact_data.get(decision)
    if known is None:
        known = _exact_data[decision] = _as_integers(decision)
    return known


@lru_cache(maxsize=64)
def discount_numerators(gamma: Fraction, horizon: int) -> tuple[tuple[int, ...], int]:
    """Return integers (w_0..w_H) and q with gamma^h = w_h / q."""
    p, q = gamma.numerator, gamma.denominator
    return tuple(p**h * q ** (horizon - h) for h in range(horizon + 1)), q**horizon


def _as_integers(decision: Decision) -> ExactData:
    loads, sizes = decision.projected_load_tokens, decision.waiting_prompt_tokens
    if loads.dtype.kind == sizes.dtype.kind == "i":
        return ExactData(loads, sizes, 1)  # a decision's imbalances fit into int64
    fractions = [[Fraction(repr(v)) for v in a.ravel().tolist()] for a in (loads, sizes)]
    unit = lcm(*(f.denominator for column in fractions for f in column))
    numerators = [[int(f * unit) for f in column] for column in fractions]
    top = max(numerators[0]) + sum(numerators[1]) + unit * decision.waiting * decision.horizon
    kind: Any = np.int64 if decision.workers * top <= _LARGEST_INT64 else object
    return ExactData(
        np.array(numerators[0], kind).reshape(loads.shape), np.array(numerators[1], kind), unit
    )
