"""A whole trace in hindsight: schedules and price bounds, from the definitions, in integers.

This is a second opinion on `olprouting.hindsight`: nothing here comes from there. A request of
prompt s and decode length o that arrives at t and starts at k in t..T is active for o periods
(o + 1 with PD-mixing), up to T, and holds s + age + offset tokens. By weak duality, for prices
p >= 0 of a slot and a KV token on each class of equal workers in each period,

    sum_(c,k) n_c (B_c p_bat[c,k] + M_c p_mem[c,k]) + sum_j max(0, max_(c,k) r[j,k] - cost[j,c,k])

is at least the reward of every schedule. Source: bid-price paper, section 3.1 and appendix A, for
rewards and rows; the bound is Lagrangian.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.certificates import reading as r
from olprouting.certificates.reading import read, whole_numbers
from olprouting.certificates.reward import RewardTerms, weights_of
from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Rows = Sequence[Sequence[int]]
    Whole = npt.NDArray[Any]

MOST_TOKENS = 2**40
"""Token counts and periods go up to this one, so that sums of millions of them fit a machine's."""

MOST_CELLS = 2**25
"""Loads, one a worker and period, that are added up: half a gigabyte."""

_MACHINE = 2**62
"""Sums that stay below this are made in 64-bit integers, larger ones in Python's."""


HINDSIGHT_PROBLEM = r.fields(
    {
        **dict.fromkeys(
            ("prompt_tokens", "decode_tokens", "arrival_period", "slots", "kv_tokens"),
            r.list_of(r.whole),
        ),
        "weights": r.CLASS_WEIGHTS,
        "periods": r.whole,
        "t1": r.number,
        "t2": r.number,
        "batching": r.KERNEL,
        "age_offset": r.whole,
        "inclusive": r.flag,
    },
    {"slo_class": r.list_of(r.text)},
)
"""Reads the fields of a problem."""


@dataclass(frozen=True)
class ExactHindsight:
    """The data of a hindsight problem as exact numbers.

    Parameters
    ----------
    arrival, decode
        t_j and o_j.
    active, held
        For how many periods each request is active, and its KV tokens at age 0.
    workers
        (B_g, M_g).
    weights
        The six weights of each request, each the fraction that its double is.
    terms
        What else the rewards depend on.
    """

    arrival: tuple[int, ...]
    decode: tuple[int, ...]
    active: tuple[int, ...]
    held: tuple[int, ...]
    workers: tuple[tuple[int, int], ...]
    weights: tuple[tuple[Fraction, ...], ...]
    terms: RewardTerms

    @property
    def periods(self) -> int:
        """T."""
        return self.terms.periods

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> ExactHindsight:
        """Return the problem in an exact document of schema ``olprouting/hindsight/1``.

        Raises
        ------
        InputError
            If a field is missing, unknown, or of another type.
        DoesNotHoldError
            If a number is out of range.
        """
        return cls.from_fields(read(document, HINDSIGHT_PROBLEM, "problem"))

    @classmethod
    def from_fields(cls, given: dict[str, Any]) -> ExactHindsight:
        """Return the problem of these fields; see `from_document`."""
        columns = ("prompt_tokens", "decode_tokens", "arrival_period", "slots", "kv_tokens")
        prompt, decode, arrival, slots, kv_tokens = (
            whole_numbers(f"problem.{name}", given[name], least=1, most=MOST_TOKENS)
            for name in columns
        )
        if not len(prompt) == len(decode) == len(arrival) or len(slots) != len(kv_tokens):
            raise DoesNotHoldError("problem: its columns differ in length")
        scalars = [given["periods"], given["age_offset"]]
        periods, offset = whole_numbers(
            "problem.periods and age_offset", scalars, least=0, most=MOST_TOKENS
        )
        slo_class = given.get("slo_class", [None] * len(prompt))
        if len(slo_class) != len(prompt):
            raise DoesNotHoldError("problem: its columns differ in length")
        weights = weights_of(r.in_doubles(given["weights"]), slo_class)
        if min((min(six) for six in set(weights)), default=0) < 0:
            raise DoesNotHoldError("problem.weights: one is negative")
        terms = RewardTerms.of(
            periods, given["batching"], given["t1"], given["t2"], inclusive=given["inclusive"]
        )
        return cls(
            tuple(arrival),
            tuple(decode),
            tuple(o + terms.delay for o in decode),
            tuple(s + offset for s, _ in zip(prompt, decode, strict=True)),
            tuple(zip(slots, kv_tokens, strict=True)),
            weights,
            terms,
        )

    def check_schedule(self, worker: Sequence[int], start: Sequence[int]) -> None:
        """Raise `DoesNotHoldError` unless the schedule is feasible, period by period."""
        cells = len(self.workers) * (self.periods + 1)
        if cells > MOST_CELLS:
            raise DoesNotHoldError(
                f"problem: {len(self.workers)} workers in {self.periods} periods are too many to "
                f"add up: {cells} loads, at most {MOST_CELLS}"
            )
        slots = np.zeros((len(self.workers), self.periods + 1), np.int64)
        tokens = np.zeros_like(slots)
        for j, (g, k) in enumerate(zip(worker, start, strict=True)):
            if g == k == -1:
                continue
            if not 0 <= g < len(self.workers):
                raise DoesNotHoldError(f"worker: request {j} starts on {g}, which does not exist")
            if not self.arrival[j] <= k <= self.periods:
                raise DoesNotHoldError(
                    f"start_period: request {j} starts at {k}, must be in "
                    f"{self.arrival[j]}..{self.periods}"
                )
            end = min(k + self.active[j], self.periods + 1)
            slots[g, k:end] += 1
            tokens[g, k:end] += self.held[j] + np.arange(end - k)
        for name, use, place in (("slots", slots, 0), ("KV tokens", tokens, 1)):
            for g, limits in enumerate(self.workers):
                worst = int(use[g].argmax())
                if use[g, worst] > limits[place]:
                    raise DoesNotHoldError(
                        f"schedule: worker {g} uses {use[g, worst]} of {limits[place]} {name} in "
                        f"period {worst}"
                    )

    def value(self, start: Sequence[int]) -> Fraction:
        """Return the reward of all starts."""
        rewards = (
            self.terms.reward(self.weights[j], self.decode[j], self.arrival[j], k)
            for j, k in enumerate(start)
            if k != -1
        )
        return sum(rewards, Fraction(0))

    def bound(self, bits: int, batch: Rows, memory: Rows) -> Fraction:
        """Return the price bound; prices are multiples of 2^-bits, as are weights, rounded up."""
        classes = sorted(set(self.workers))
        weights = {six: [ceil(w * 2**bits) for w in six] for six in set(self.weights)}
        paid = 0
        for (slots, tokens), p_bat, p_mem in zip(classes, batch, memory, strict=True):
            number = self.workers.count((slots, tokens))
            paid += number * (slots * sum(p_bat) + tokens * sum(p_mem))
        reach = 2 * self.periods + max([0, *self.held])
        largest = max([0, *map(sum, batch)]) + reach * max([0, *map(sum, memory)])
        largest += max([0, *map(sum, weights.values())]) * (self.periods + 2)
        kind: Any = np.int64 if largest < _MACHINE else object
        sums = [_running(p_bat, p_mem, kind) for p_bat, p_mem in zip(batch, memory, strict=True)]
        for j in range(len(self.arrival)):
            worth = [
                self._best_margin(j, weights[self.weights[j]], limits[1], running)
                for limits, running in zip(classes, sums, strict=True)
            ]
            paid += max([0, *worth])
        return Fraction(paid, 2**bits)

    def _best_margin(
        self, j: int, weights: list[int], most_tokens: int, sums: tuple[Whole, Whole, Whole]
    ) -> int:
        """Return the largest reward less cost over all starts at which j fits a worker alone."""
        first, last = self.arrival[j], self.periods
        room = most_tokens - self.held[j]  # the oldest age that fits
        if room < self.active[j] - 1:
            first = max(first, self.periods - room)
        if first > last or room < 0:
            return 0
        batch, memory, moment = sums
        k = np.arange(first, last + 1)
        terms = self.terms.at(self.decode[j], self.arrival[j], k)
        amounts = (np.asarray(n, batch.dtype) for n in terms)
        reward = sum(w * n for w, n in zip(weights, amounts, strict=True))
        end = np.minimum(k + self.active[j] - 1, self.periods)
        cost = batch[end] - batch[k - 1] + moment[end] - moment[k - 1]
        cost = cost + (self.held[j] - k) * (memory[end] - memory[k - 1])
        return int((reward - cost).max())


def _running(batch: Sequence[int], memory: Sequence[int], kind: Any) -> tuple[Whole, Whole, Whole]:
    """Return running sums of p_bat, p_mem and k p_mem, from 0 before the first period."""
    moment = [k * price for k, price in enumerate(memory, start=1)]
    rows = [np.cumsum(np.array([0, *row], dtype=kind)) for row in (batch, memory, moment)]
    return rows[0], rows[1], rows[2]
