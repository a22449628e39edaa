"""What a running solve minds: its solutions, for ``SolveOptions.on_incumbent``, and its time."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.exact.bounds import plain, rounded_down
from olprouting.exact.check import recheck

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Assignment, Decision


class IncumbentWatch:
    """Values each reported solution exactly, tells the user's callback, and minds its answer.

    An exception of the callback stops the solver and is raised by `raise_error` afterwards: it
    must not travel through the solver's own code.

    Parameters
    ----------
    decision
        The decision being solved.
    options
        Holds the callback.
    """

    def __init__(self, decision: Decision, options: SolveOptions) -> None:
        self._decision = decision
        self._tell = options.on_incumbent
        self._best: int | Fraction | None = None
        self._error: Exception | None = None
        self.stop = False

    def report(self, assignment: Assignment, bound: int | Fraction | None, seconds: float) -> None:
        """Take one solution of the solver; sets `stop` if it should end."""
        if self._tell is None or self.stop:
            return
        try:
            value = recheck(self._decision, assignment)
        except InputError:
            return  # rounding in mid-search; the final answer is rechecked
        if self._best is not None and value >= self._best:
            return
        self._best = value
        below = None if bound is None or bound > value else rounded_down(bound)
        try:
            self.stop = bool(self._tell(plain(value), below, seconds))
        except Exception as error:
            self._error, self.stop = error, True

    def raise_error(self) -> None:
        """Raise what the callback raised, if it did."""
        if self._error is not None:
            raise self._error


class Stopwatch:
    """Seconds since it was made, but for those in which it was stopped."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def seconds(self) -> float:
        """Return them."""
        return time.perf_counter() - self._began

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Do not count what is done meanwhile."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._began += time.perf_counter() - began
