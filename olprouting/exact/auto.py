"""The native search first, and HiGHS for what it leaves open.

They are good at different decisions: the native search is done within milliseconds with most, while
HiGHS's linear relaxation proves some with many slots and a small pool that the other cannot. Both
bounds hold, so the larger one does; HiGHS starts from the native incumbent. Where numbers are too
large for its tolerances it is not asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from olprouting.exact.backend import (
    HIGHS_LARGEST_REQUEST,
    Abilities,
    Outcome,
    tolerances_prove,
)
from olprouting.exact.check import objective
from olprouting.exact.native import Native
from olprouting.instances import StopReason

if TYPE_CHECKING:
    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Assignment, Decision

NATIVE_SHARE = 0.5
"""Part of the time limit that the native search may use."""

NATIVE_S = 5.0
"""Seconds it may use at most: what it proves, it nearly always proves within two."""


class Auto:
    """The native search, then HiGHS (see the module)."""

    abilities = Abilities(("combined",), warm_start=True)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome[Assignment]:
        """Solve `decision`; see `Backend`."""
        limit_s = first_s = options.time_limit_s
        native = Native()
        helps = tolerances_prove(HIGHS_LARGEST_REQUEST, decision)
        if helps:
            first_s = NATIVE_S if limit_s is None else min(NATIVE_S, NATIVE_SHARE * limit_s)
        first = native.run(
            decision,
            native.abilities.formulations[0],
            replace(options, time_limit_s=first_s, native={}),
            start,
        )
        if first.stop_reason is not StopReason.TIME_LIMIT or limit_s == 0 or not helps:
            return first
        from olprouting.exact.highs import Highs  # most decisions end before it is needed

        highs = Highs()
        rest_s = None if limit_s is None else max(0.0, limit_s - first.wall_s)
        second = highs.run(
            decision,
            highs.abilities.formulations[0],
            replace(options, time_limit_s=rest_s),
            first.solution,
        )
        bounds = [bound for bound in (first.bound, second.bound) if bound is not None]
        found = [a for a in (first.solution, second.solution) if a is not None]
        return Outcome(
            second.stop_reason,
            min(found, key=lambda assignment: objective(decision, assignment), default=None),
            max(bounds, default=None),
            first.wall_s + second.wall_s,
            first.build_s + second.build_s,
            f"native: {first.message}; highs: {second.message}",
        )
