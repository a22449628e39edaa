"""Finding the linear bounds with which a short search proves an optimum.

The search is made as it will be checked. Wherever an end of a window is ruled out by the relaxation
with the sums so far fixed, the relaxation's dual becomes a bound of its own, which rules out all
sums beyond, here and in many windows to come.
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from olprouting.certificates.decision_search import DecisionSearch, searchable
from olprouting.certificates.relaxed_peaks import relaxed_peaks
from olprouting.certificates.verification import DoesNotHoldError, TooLongError

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.certificates.decision_bounds import Peaks
    from olprouting.certificates.decision_value import ExactDecision
    from olprouting.instances import Decision

MOST_BOUNDS = 60
"""More linear bounds would make a large file."""

LIMIT_S = 15.0
"""Seconds after which no proof is looked for any more."""


def find_search(
    given: Decision, decision: ExactDecision, target: Fraction, end_s: float = inf
) -> tuple[list[int], list[Peaks]] | None:
    """Return an order and bounds with which a search proves `target`, or None.

    There are none if the search takes too long, or beyond `end_s` (`time.monotonic`), or finds an
    assignment that is worth less.
    """
    if not searchable(decision):
        return None
    workers = [g for g, slots in enumerate(decision.slots) if slots > 0]
    # twins side by side, few slots first: their windows hold few subsets
    order = sorted(workers, key=lambda g: (decision.slots[g], decision.loads[g], g))
    finder = _Finder(given, decision, target, order, end_s)
    try:
        finder.run()
    except (TooLongError, DoesNotHoldError):
        return None
    return order, finder.found


class _Finder(DecisionSearch):
    """A search that adds bounds as it goes."""

    def __init__(
        self,
        given: Decision,
        decision: ExactDecision,
        target: Fraction,
        order: list[int],
        end_s: float,
    ) -> None:
        super().__init__(decision, target, order)
        self._given = given
        self.found: list[Peaks] = []
        self._end_s = min(time.monotonic() + LIMIT_S, end_s)

    def window(self, sums: list[int]) -> tuple[int, int]:
        """Return the window after ruling out what the relaxation rules out at its ends."""
        low, high = super().window(sums)
        while low <= high:
            before = (low, high)
            for end in before:
                self._learn([*sums, end])
                low, high = super().window(sums)
                if not low <= end <= high:
                    break
            if (low, high) == before:
                break
        return low, high

    def _learn(self, sums: list[int]) -> None:
        """Add the bound that is best at these sums, if it rules them out."""
        peaks = self._relaxed(sums)
        if peaks is None:
            return
        self.add(peaks)
        low, high = super().window(sums[:-1])
        if low <= sums[-1] <= high:
            self._cuts.pop()
            return
        self.found.append(peaks)
        if len(self.found) > MOST_BOUNDS:
            raise TooLongError

    def _relaxed(self, sums: list[int]) -> Peaks | None:
        if time.monotonic() >= self._end_s:
            raise TooLongError
        fixed = dict(zip(self.order, sums, strict=False))
        return relaxed_peaks(self._given, fixed, self._end_s)
