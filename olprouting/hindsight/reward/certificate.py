"""The Lagrangian bound in integer arithmetic; the search shares only the terms of the reward.

By weak duality, for all prices p >= 0 of slots and KV tokens per class c and period k,

    UB(p) = sum_(c,k) n_c * (B_c * p_bat[c,k] + M_c * p_mem[c,k])
          + sum_j max(0, max_(c,k) r[j,k] - price of what j uses on c when admitted at k)

is at least the reward of any schedule: k runs over the starts at which j fits a worker of class c
alone. The bound holds for every p, so that prices may be rounded: here to multiples of a unit
2^-q, and weights are rounded up to multiples of it. The rest is sums and products of integers,
chosen so that none leaves 64 bits; the result is exact for the rounded numbers, and never below
the optimum for the given weights.

Source: Lagrangian relaxation of the hindsight program (models/hindsight_lp.py), equations (2), (3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from olprouting.errors import InputError
from olprouting.instances.reward import PerTerm, reward_terms, weighted
from olprouting.instances.slo_classes import by_class

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.hindsight.reward.problem import HindsightProblem

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

_BITS = 61
_FINEST = 50
_COARSEST = 8
_CHUNK = 2048


class PriceCertificate(NamedTuple):
    """Prices that prove a bound.

    Attributes
    ----------
    unit_log2
        -q: what a price of 1 stands for is 2^-q.
    batch, memory
        Prices of a slot and of a KV token in that unit, >= 0, shape (C, T); classes in the order
        of `HindsightProblem.classes`.
    """

    unit_log2: int
    batch: Ints
    memory: Ints

    def to_document(self) -> dict[str, Any]:
        """Return the prices as plain JSON types."""
        return {
            "unit_log2": self.unit_log2,
            "batch": self.batch.tolist(),
            "memory": self.memory.tolist(),
        }


def rounded_prices(problem: HindsightProblem, prices: Floats) -> PriceCertificate:
    """Round prices, shape (2, C, T), to the finest unit at which nothing leaves 64 bits.

    Raises
    ------
    InputError
        If the numbers are so large that only a coarse unit would be left.
    """
    kept = np.maximum(prices, 0.0)
    largest = float(kept[0].sum()) + _reach(problem) * float(kept[1].sum()) + _most(problem)
    q = min(_FINEST, _BITS - math.ceil(math.log2(max(largest, 1.0) * 1.001)))
    if q < _COARSEST:
        raise InputError("tokens, periods and weights are too large for a proof in 64-bit integers")
    units = np.rint(np.ldexp(kept, q)).astype(np.int64)
    return PriceCertificate(-q, units[0], units[1])


def exact_bound(problem: HindsightProblem, certificate: PriceCertificate) -> Fraction:
    """Return UB at these prices, exactly.

    Raises
    ------
    InputError
        If prices have the wrong shape, are negative, or leave 64 bits.
    """
    _, counts, slots, kv_tokens = problem.classes()
    q = -certificate.unit_log2
    _check(problem, certificate, len(counts))
    total = 0
    for c, count in enumerate(counts.tolist()):
        batch = sum(certificate.batch[c].tolist())
        memory = sum(certificate.memory[c].tolist())
        total += count * (int(slots[c]) * batch + int(kv_tokens[c]) * memory)
    sums = [_prefix(certificate, c) for c in range(len(counts))]
    for own, chosen in by_class(problem.weights, problem.slo_class, len(problem)):
        six = own.to_document().items()
        weights = PerTerm(**{name: math.ceil(Fraction(weight) * 2**q) for name, weight in six})
        for j in np.flatnonzero(chosen).tolist():
            total += _best_margin(problem, weights, sums, kv_tokens, j)
    return Fraction(total, 2**q)


def _best_margin(
    problem: HindsightProblem, weights: PerTerm, sums: list[Any], kv_tokens: Ints, j: int
) -> int:
    """Return max(0, largest margin of request j) in units."""
    periods, active = problem.periods, int(problem.active[j])
    tokens = int(problem.first_tokens[j])
    best = 0
    for c, (batch, memory, moment) in enumerate(sums):
        begin = int(problem.arrival_period[j]) - 1
        fitting = int(kv_tokens[c]) - tokens + 1  # ages at which it fits a worker alone
        if fitting < active:
            begin = max(begin, periods - max(fitting, 0))
        while begin < periods:
            k = np.arange(begin, min(begin + _CHUNK, periods))
            worth = _rewards(problem, weights, j, k)
            if worth[0] <= best:
                break  # rewards never rise with time, and prices are >= 0
            end = np.minimum(k + active, periods)
            cost = batch[end] - batch[k] + moment[end] - moment[k]
            cost += (tokens - k) * (memory[end] - memory[k])
            best = max(best, int((worth - cost).max()))
            begin += _CHUNK
    return best


def _rewards(problem: HindsightProblem, weights: PerTerm, j: int, k: Ints) -> Ints:
    """Return the reward in units of starting j at the periods k, counted from 0."""
    terms = reward_terms(
        int(problem.decode_tokens[j]),
        int(problem.arrival_period[j]),
        k + 1 + problem.delay,
        problem.periods,
        *problem.latency_limits,
    )
    worth: Ints = weighted(weights, terms)
    return worth


def _prefix(certificate: PriceCertificate, c: int) -> tuple[Ints, Ints, Ints]:
    """Return prefix sums of p_bat, p_mem and k * p_mem, each shape (T+1,)."""
    memory = certificate.memory[c]
    rows = (certificate.batch[c], memory, memory * np.arange(len(memory)))
    batch, plain, moment = (np.concatenate([[0], np.cumsum(row)]) for row in rows)
    return batch, plain, moment


def _check(problem: HindsightProblem, certificate: PriceCertificate, classes: int) -> None:
    q = -certificate.unit_log2
    if not 0 <= q <= _FINEST:
        raise InputError(f"prices: unit_log2 = {certificate.unit_log2} must be in -{_FINEST}..0")
    for name, row in (("batch", certificate.batch), ("memory", certificate.memory)):
        if row.shape != (classes, problem.periods):
            raise InputError(
                f"prices: {name} has shape {row.shape}, expected ({classes}, {problem.periods})"
            )
        if row.size and row.min() < 0:
            raise InputError(f"prices: {name} holds a negative price")
    batch = sum(sum(row) for row in certificate.batch.tolist())
    memory = sum(sum(row) for row in certificate.memory.tolist())
    worth = (math.ceil(_most(problem)) + 1) * 2**q
    if batch + math.ceil(_reach(problem)) * memory + worth >= 2 ** (_BITS + 1):
        raise InputError("prices are too large for exact 64-bit arithmetic")


def _reach(problem: HindsightProblem) -> float:
    """Return a bound on |tokens - k|, and on k, in a product with memory prices."""
    tokens = int(problem.first_tokens.max()) if len(problem) else 0
    return float(2 * problem.periods + tokens)


def _most(problem: HindsightProblem) -> float:
    """Return a bound on the terms of a reward and on their sum."""
    periods = problem.periods + 2
    return max(
        (w.alpha + w.beta + w.gamma + 1) * periods + w.sigma + w.zeta1 + w.zeta2 + 6
        for w, _ in by_class(problem.weights, problem.slo_class, len(problem))
    )
