"""A decision and the value of an assignment, written from the definitions in exact arithmetic.

This is a second opinion on `olprouting.exact`: nothing here comes from there, and no number is a
double. Source: balance paper, section 3.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.reading import Number, read
from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Pairs = Sequence[tuple[int, int]]


TOLERANCE_TOKENS = Fraction(1, 1000)
"""A proven bound this close to the value proves the optimum for practical purposes: solvers that
work in doubles cannot come closer where gamma < 1."""


@dataclass(frozen=True)
class ExactDecision:
    """The data of the imbalance program as exact numbers.

    Parameters
    ----------
    loads
        A[g][h], tokens.
    slots
        c_g.
    sizes
        s_i, tokens.
    gamma
        Discount.
    grows
        Whether an admitted request grows by one token per iteration.
    """

    loads: tuple[tuple[Number, ...], ...]
    slots: tuple[int, ...]
    sizes: tuple[Number, ...]
    gamma: Fraction
    grows: bool

    @classmethod
    def from_document(cls, document: dict[str, Any], source: str = "decision") -> ExactDecision:
        """Return the decision of an exact document of schema ``olprouting/decision/1``.

        Raises
        ------
        InputError
            If a field is missing, unknown, or of another type.
        """
        return read(document, DECISION, source)

    @property
    def workers(self) -> int:
        """G."""
        return len(self.loads)

    @property
    def offsets(self) -> range:
        """0..H."""
        return range(len(self.loads[0]))

    @property
    def admissions(self) -> int:
        """U."""
        return min(len(self.sizes), sum(self.slots))

    @property
    def everything(self) -> bool:
        """Whether all that wait are admitted."""
        return self.admissions == len(self.sizes)

    @property
    def fills(self) -> bool:
        """Whether every free slot is filled."""
        return self.admissions == sum(self.slots)

    @cached_property
    def discount(self) -> tuple[Fraction, ...]:
        """gamma^h."""
        return tuple(self.gamma**h for h in self.offsets)

    @cached_property
    def whole_discount(self) -> tuple[tuple[int, ...], int]:
        """gamma^h as whole numbers over one denominator, with which sums are quicker."""
        p, q = self.gamma.numerator, self.gamma.denominator
        last = len(self.offsets) - 1
        return tuple(p**h * q ** (last - h) for h in self.offsets), q**last

    @cached_property
    def totals(self) -> tuple[Fraction, Fraction, Fraction]:
        """Sums over h of gamma^h times: all loads, 1, and h."""
        sums = [sum(row[h] for row in self.loads) for h in self.offsets]
        columns = (sums, [1] * len(sums), self.offsets)
        loads, weights, moment = (
            sum((w * n for w, n in zip(self.discount, column, strict=True)), Fraction(0))
            for column in columns
        )
        return loads, weights, moment

    @cached_property
    def whole_tokens(self) -> bool:
        """Whether every load and size is a whole number."""
        numbers = [*self.sizes, *(load for row in self.loads for load in row)]
        return all(Fraction(number).denominator == 1 for number in numbers)

    @property
    def whole_values(self) -> bool:
        """Whether the value of every assignment is a whole number."""
        return self.whole_tokens and (len(self.offsets) == 1 or self.gamma == 1)

    def window(self, request: int) -> list[Number]:
        """w[i][h]: what a request adds to its worker's load."""
        size = self.sizes[request]
        return [size + h if self.grows else size for h in self.offsets]


def _decision(given: dict[str, Any]) -> ExactDecision:
    workers = given["workers"]
    return ExactDecision(
        tuple(worker["projected_load_tokens"] for worker in workers),
        tuple(worker["free_slots"] for worker in workers),
        given["waiting_prompt_tokens"],
        Fraction(given["gamma"]),
        given["growth"] == "growing",
    )


DECISION = r.made(
    _decision,
    r.fields(
        {
            "schema": r.text,
            "horizon": r.whole,
            "gamma": r.either(r.number, r.quotient),
            "growth": r.one_of("growing", "frozen"),
            "workers": r.list_of(
                r.fields({"projected_load_tokens": r.list_of(r.number), "free_slots": r.whole})
            ),
            "waiting_prompt_tokens": r.list_of(r.number),
        }
    ),
)
"""Reads a document of schema ``olprouting/decision/1``."""


def check_assignment(decision: ExactDecision, pairs: Pairs) -> None:
    """Raise `DoesNotHoldError` unless `pairs` is a maximal assignment."""
    for request, worker in pairs:
        if not 0 <= request < len(decision.sizes):
            raise DoesNotHoldError(f"assignment: there is no request {request}")
        if not 0 <= worker < decision.workers:
            raise DoesNotHoldError(f"assignment: there is no worker {worker}")
    for request, times in Counter(request for request, _ in pairs).items():
        if times > 1:
            raise DoesNotHoldError(f"assignment: request {request} is admitted {times} times")
    for worker, count in Counter(worker for _, worker in pairs).items():
        if count > decision.slots[worker]:
            raise DoesNotHoldError(
                f"assignment: worker {worker} gets {count} requests, "
                f"has {decision.slots[worker]} free slots"
            )
    if len(pairs) != decision.admissions:
        raise DoesNotHoldError(
            f"assignment: {len(pairs)} requests are admitted, must be {decision.admissions}"
        )


def loads_after(decision: ExactDecision, pairs: Pairs) -> list[list[Number]]:
    """Lambda[g][h], the projected loads once `pairs` are admitted."""
    loads = [list(row) for row in decision.loads]
    for request, worker in pairs:
        for h, tokens in enumerate(decision.window(request)):
            loads[worker][h] += tokens
    return loads


def weighted_imbalance(decision: ExactDecision, loads: Sequence[Sequence[Number]]) -> Fraction:
    """sum_h gamma^h (G max_g Lambda[g][h] - sum_g Lambda[g][h])."""
    numerators, denominator = decision.whole_discount
    total: Number = 0
    for numerator, column in zip(numerators, zip(*loads, strict=True), strict=True):
        total += numerator * (decision.workers * max(column) - sum(column))
    return Fraction(total, denominator)


def value_of(decision: ExactDecision, pairs: Pairs) -> Fraction:
    """Return the value of a maximal assignment.

    Raises
    ------
    DoesNotHoldError
        If it is none.
    """
    check_assignment(decision, pairs)
    return weighted_imbalance(decision, loads_after(decision, pairs))
