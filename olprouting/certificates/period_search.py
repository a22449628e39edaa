"""All ways to start whole requests in a period that prices do not rule out, unless too many.

For prices p >= 0 no starts are worth more than b'p + sum_j y_j, y_j = max(0, max_g margin_jg), and
giving request j to worker g, or leaving it, costs at least y_j less its margin, or y_j. One request
after another is placed; what cannot end above the target any more is dropped. Of requests that
differ in nothing, the earlier one has the earlier place.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from olprouting.certificates.verification import TooLongError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.certificates.period_value import ExactPeriod, Table

MOST_STEPS = 100_000
"""Longer searches are not made; this many steps take seconds. A step is a request put somewhere."""

MOST_REQUESTS = 400
"""Searches go as deep as there are requests."""

Option = tuple[Fraction, int]
"""What a place costs, and the worker; -1 leaves the request."""


def worth_more(
    period: ExactPeriod, target: Fraction, batch: Table, memory: Table
) -> Fraction | None:
    """Return the value of whole starts that are worth more than `target`, or None if none are.

    Parameters
    ----------
    period
        The problem.
    target
        A value.
    batch, memory
        Prices >= 0 of slots and of KV tokens, by worker and remaining period.

    Raises
    ------
    TooLongError
        If there are more than `MOST_REQUESTS`, or the search takes more than `MOST_STEPS` steps.
    """
    if len(period.rewards) > MOST_REQUESTS:
        raise TooLongError
    search = _Search(period, target, batch, memory)
    return next(search.found(0, period.dual_value(batch, memory), Fraction(0)), None)


class _Search:
    def __init__(self, period: ExactPeriod, target: Fraction, batch: Table, memory: Table) -> None:
        self._period, self._target = period, target
        margins = period.margins(batch, memory)
        best = [max([Fraction(0), *row]) for row in margins]
        self._order = sorted(range(len(best)), key=lambda j: (-best[j], self._kind(j), j))
        self._options = [
            sorted([(best[j], -1), *((best[j] - m, g) for g, m in enumerate(margins[j]))])
            for j in range(len(best))
        ]
        self._whole = all(reward.denominator == 1 for reward in period.rewards)
        self._slots = [list(row) for row in period.slots]
        self._tokens = [list(row) for row in period.kv_tokens]
        self._place = [0] * len(best)
        self._steps = 0

    def _kind(self, j: int) -> tuple[Fraction, int, int]:
        return self._period.rewards[j], self._period.active[j], self._period.held[j]

    def found(self, depth: int, bound: Fraction, value: Fraction) -> Iterator[Fraction]:
        """Yield the value of each start that is worth more than the target.

        Parameters
        ----------
        depth
            How many requests have their place.
        bound
            No continuation is worth more.
        value
            What they are worth.
        """
        if depth == len(self._order):
            if value > self._target:
                yield value
            return
        j = self._order[depth]
        first = 0
        if depth and self._kind(self._order[depth - 1]) == self._kind(j):
            first = self._place[depth - 1]
        for place, (cost, g) in enumerate(self._options[j]):
            left = bound - cost
            if (floor(left) if self._whole else left) <= self._target:
                return  # costs rise
            if place < first:
                continue
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise TooLongError
            self._place[depth] = place
            if g < 0:
                yield from self.found(depth + 1, left, value)
            elif self._fits(j, g):
                self._use(j, g, 1)
                yield from self.found(depth + 1, left, value + self._period.rewards[j])
                self._use(j, g, -1)

    def _fits(self, j: int, g: int) -> bool:
        ages = range(self._period.active[j])
        slots, tokens, held = self._slots[g], self._tokens[g], self._period.held[j]
        return all(slots[age] >= 1 and tokens[age] >= held + age for age in ages)

    def _use(self, j: int, g: int, sign: int) -> None:
        for age in range(self._period.active[j]):
            self._slots[g][age] -= sign
            self._tokens[g][age] -= sign * (self._period.held[j] + age)
