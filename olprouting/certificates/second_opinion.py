"""A bound beyond what a file's proof proves: proven here, refuted here, or left to the solver."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from olprouting.certificates.decision_bounds import (
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_descent import descend
from olprouting.certificates.decision_search import CheaperError, DecisionSearch, searchable
from olprouting.certificates.decision_value import loads_after, weighted_imbalance
from olprouting.certificates.peak_flow import peaks_at
from olprouting.certificates.reading import same_double
from olprouting.certificates.verification import DoesNotHoldError, TooLongError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from olprouting.certificates.decision_bounds import Peaks
    from olprouting.certificates.decision_value import ExactDecision, Pairs
    from olprouting.certificates.reading import Number


MOST_WORK = 300_000
"""Loads that an enumeration or a search may touch, and requests that a search may pair with slots:
about a second. More would make the check of many lines long."""


class _Brief(DecisionSearch):
    """A search that counts what a step takes: here nobody has found bounds that make it short."""

    _work = 0

    def window(self, sums: list[int]) -> tuple[int, int]:
        self._add(len(self._cuts) * len(self.decision.sizes))
        return super().window(sums)

    def _evaluate(self, sums: list[int]) -> None:
        self._add(self.decision.workers * len(self.decision.offsets))
        super()._evaluate(sums)

    def _add(self, work: int) -> None:
        self._work += work
        if self._work > MOST_WORK:
            raise TooLongError


def strengthened(
    decision: ExactDecision,
    proven: tuple[Fraction, str],
    bound: Number,
    known: Sequence[Pairs],
    cuts: Sequence[Peaks],
) -> tuple[Fraction, str]:
    """Return the largest bound proven here, and the kind of argument.

    Parameters
    ----------
    decision
        The decision.
    proven
        What the file's proof proves, and its kind.
    bound
        What the file claims: a number, or the double nearest to it.
    known
        Feasible assignments.
    cuts
        Shares of the file's proof, of use for a search.

    Raises
    ------
    DoesNotHoldError
        If an assignment is worth less than the bound.
    """
    for pairs in known:
        _check(bound, _value(decision, pairs))
    for found in _arguments(decision, bound, known, cuts):
        proven = max(proven, found, key=lambda one: one[0])
        if reaches(proven[0], bound):
            break
    return proven


def reaches(proven: Fraction, bound: Number) -> bool:
    """Whether a proven bound is as large as the claimed one, up to the rounding of a double."""
    return proven >= bound or same_double(bound, proven)


def _arguments(
    decision: ExactDecision, bound: Number, known: Sequence[Pairs], cuts: Sequence[Peaks]
) -> Iterator[tuple[Fraction, str]]:
    """Yield bounds, the cheap ones first; an assignment below the claimed bound refutes it."""
    level = level_bound(decision)
    if level is not None:
        yield rounded_up(decision, level), "level"
    for pairs in known:
        peaks = peaks_at(decision, pairs)
        if peaks is not None:
            yield peaks_bound(decision, peaks), "peaks"
    for pairs in known:
        for better in descend(decision, pairs):
            _check(bound, _value(decision, better))
    if searchable(decision):
        found = _searched(decision, bound, cuts)
        if found is not None:
            yield found, "search"
    least = enumerated(decision, MOST_WORK)
    if least is not None:
        _check(bound, least)
        yield least, "enumeration"


def _searched(decision: ExactDecision, bound: Number, cuts: Sequence[Peaks]) -> Fraction | None:
    """Return the bound if a search finds nothing below it, or None if that takes too long."""
    workers = [g for g, slots in enumerate(decision.slots) if slots > 0]
    order = sorted(workers, key=lambda g: (decision.slots[g], decision.loads[g], g))
    target = Fraction(bound)
    while True:
        search = _Brief(decision, target, order)
        for peaks in cuts:
            search.add(peaks)
        try:
            search.run()
        except CheaperError as error:
            _check(bound, error.value)
            target = error.value  # the bound is the double above it
        except TooLongError:
            return None
        else:
            return target


def _value(decision: ExactDecision, pairs: Pairs) -> Fraction:
    return weighted_imbalance(decision, loads_after(decision, pairs))


def _check(bound: Number, value: Fraction) -> None:
    """Raise `DoesNotHoldError` if an assignment of this value refutes a bound."""
    if not reaches(value, bound):
        raise DoesNotHoldError(
            f"bound: it is {float(bound)!r}, but an assignment of {float(value)!r} tokens exists"
        )
