"""The bound ``search``: what several linear bounds leave, is tried.

Every slot is filled, and all data are whole. Each set of shares of the peaks (`decision_bounds`)
bounds the value of an assignment by a linear function of the sums b_g of the new sizes. One worker
after another gets a subset of the requests that remain. Given the sums so far, and with the best of
the remaining requests for the later workers, each linear bound leaves a half-line of sums for the
next worker; outside their intersection nothing is worth less than the stated bound. What is left in
the end is evaluated. Of two workers with equally many slots, the one that is nowhere lighter gets
no larger sum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from math import ceil, floor
from typing import TYPE_CHECKING

from olprouting.certificates.decision_bounds import (
    largest_below,
    least_pairing,
    linear_bound,
    placed_value,
)
from olprouting.certificates.verification import DoesNotHoldError, TooLongError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from olprouting.certificates.decision_bounds import Peaks
    from olprouting.certificates.decision_value import ExactDecision

MOST_STEPS = 200_000
"""Longer searches are neither offered nor redone; this many take seconds. A step is a request put
on a worker, or a linear bound evaluated."""


MOST_SLOTS = 300
"""Of a worker with more, no search picks the requests one after another: it goes as deep."""


def searchable(decision: ExactDecision) -> bool:
    """Whether a search applies to a decision."""
    slots = [number for number in decision.slots if number > 0]
    shallow = len(slots) <= MOST_SLOTS and max(slots, default=0) <= MOST_SLOTS
    return decision.fills and decision.whole_tokens and decision.admissions > 0 and shallow


class CheaperError(DoesNotHoldError):
    """An assignment is worth less than the target: no bound.

    Parameters
    ----------
    value
        What it is worth.
    """

    def __init__(self, value: Fraction) -> None:
        super().__init__(f"proof: an assignment is worth {float(value)!r} tokens only")
        self.value = value


class DecisionSearch:
    """A search for an assignment that is worth less than `target`.

    Parameters
    ----------
    decision
        A decision of whole tokens whose slots are all filled.
    target
        The bound to be proven.
    order
        The workers with free slots, in the order in which they are placed.

    Raises
    ------
    DoesNotHoldError
        If the decision or the order is not such a one.
    """

    def __init__(self, decision: ExactDecision, target: Fraction, order: Sequence[int]) -> None:
        if not searchable(decision):
            raise DoesNotHoldError("proof: 'search' does not apply to this decision")
        if sorted(order) != [g for g, slots in enumerate(decision.slots) if slots > 0]:
            raise DoesNotHoldError("proof: order must name each worker with free slots once")
        self.decision, self.target, self.order = decision, target, tuple(order)
        # where values are whole, none lies between `most` and the target
        self._most = largest_below(decision, target) if decision.whole_values else target
        supply = Counter(int(size) for size in decision.sizes)
        self._sizes = sorted(supply, reverse=True)
        self._negative = [-size for size in self._sizes]
        self._left = [supply[size] for size in self._sizes]
        ascending = sorted(int(size) for size in decision.sizes)
        self.slots = [decision.slots[g] for g in self.order]
        self.limits = [
            (sum(ascending[:n]), sum(ascending[len(ascending) - n :])) for n in self.slots
        ]
        self._cuts: list[tuple[Fraction, list[Fraction]]] = []
        self._steps = 0

    def add(self, peaks: Peaks) -> None:
        """Use these shares as one more linear bound."""
        constant, slopes, fixed = linear_bound(self.decision, peaks)
        constant += sum((f * n for f, n in zip(fixed, self.decision.slots, strict=True)), 0)
        self._cuts.append((constant, [slopes[g] for g in self.order]))

    def run(self) -> None:
        """Search everything.

        Raises
        ------
        CheaperError
            If an assignment is worth less than the target.
        TooLongError
            After `MOST_STEPS` steps.
        """
        self._place([])

    def _place(self, sums: list[int]) -> None:
        place = len(sums)
        if place == len(self.order):
            self._evaluate(sums)
            return
        low, high = self.window(sums)
        low, high = self._dominated(sums, low, high)
        for total in self._subsets(0, self.slots[place], low, high):
            self._place([*sums, total])

    def window(self, sums: list[int]) -> tuple[int, int]:
        """Return the least and largest sum of the next worker that no bound rules out."""
        place = len(sums)
        low, high = self.limits[place]
        self._steps += len(self._cuts)
        sizes = [s for s, n in zip(self._sizes, self._left, strict=True) for _ in range(n)][::-1]
        for constant, slopes in self._cuts:
            known = sum((a * b for a, b in zip(slopes, sums, strict=False)), constant)
            later = zip(slopes, self.slots, strict=True)
            rest = least_pairing(sizes, list(later)[place + 1 :])
            slack, slope = self._most - known - rest, slopes[place]
            if slope > 0:
                high = min(high, self._below(slack / slope))
            elif slope < 0:
                low = max(low, -self._below(-slack / slope))
            elif self._below(slack) < 0:
                return 1, 0
        return low, high

    def _below(self, number: Fraction) -> int:
        """Return the largest whole number <= `number`; < where values are no whole numbers."""
        return floor(number) if self.decision.whole_values else ceil(number) - 1

    def _dominated(self, sums: list[int], low: int, high: int) -> tuple[int, int]:
        """Narrow a window by what may be assumed of workers with equally many slots.

        If one is nowhere lighter than the other, exchanging their requests does no harm unless it
        has no larger sum already.
        """
        own = self.order[len(sums)]
        for other, total in zip(self.order, sums, strict=False):
            if self.decision.slots[other] == self.decision.slots[own]:
                pairs = list(zip(self.decision.loads[own], self.decision.loads[other], strict=True))
                if all(mine >= theirs for mine, theirs in pairs):
                    high = min(high, total)
                elif all(mine <= theirs for mine, theirs in pairs):
                    low = max(low, total)
        return low, high

    def _subsets(self, first: int, number: int, low: int, high: int) -> Iterator[int]:
        """Yield the sum of each subset of `number` requests in low..high, taken while it is out."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLongError
        if number == 0:
            if low <= 0 <= high:
                yield 0
            return
        smallest = self._sizes[-1] * (number - 1)
        for place in range(
            max(first, bisect_left(self._negative, smallest - high)), len(self._sizes)
        ):
            size = self._sizes[place]
            if size * number < low:
                return  # the sizes fall
            if self._left[place] == 0:
                continue
            self._left[place] -= 1
            for others in self._subsets(place, number - 1, low - size, high - size):
                yield size + others
            self._left[place] += 1

    def _evaluate(self, sums: list[int]) -> None:
        state = [(0, 0)] * self.decision.workers
        for g, total in zip(self.order, sums, strict=True):
            state[g] = (total, self.decision.slots[g])
        value = placed_value(self.decision, state)
        if value < self.target:
            raise CheaperError(value)
