"""Backend of our own: branch and bound over the workers, compiled."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.check import objective
from olprouting.exact.incumbents import IncumbentWatch
from olprouting.exact.native import search_kernels as kernels
from olprouting.exact.native.prepare import Prepared, assignment_of, new_state, prepare
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from olprouting.exact.options import SolveOptions
    from olprouting.instances.solve_result import Assignment

FIRST_BUDGET = 500
"""Nodes of the first call of the compiled search; later calls aim at `CALL_S`."""

CALL_S = 0.05

WIDENING = 4.0

HALF = 0.5


class Native:
    """Branch and bound over the workers."""

    abilities = Abilities(("workers",), warm_start=True, on_incumbent=True, node_limit=True)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome:
        """Solve `decision`; see `Backend`."""
        if options.native:
            raise InputError(f"native has no option {next(iter(options.native))!r}")
        began = time.perf_counter()
        prepared = prepare(decision)
        search = Search(prepared, options, start)
        built = time.perf_counter()
        stop, bound, message = search.run(built)
        search.watch.raise_error()
        wall_s = time.perf_counter() - built
        return Outcome(stop, search.assignment, bound, wall_s, built - began, message)


class Search:
    """One run of the compiled search, in passes of growing reach."""

    def __init__(self, prepared: Prepared, options: SolveOptions, start: Assignment | None) -> None:
        self.prepared = prepared
        self.options = options
        self.state = new_state(prepared.problem)
        self.watch = IncumbentWatch(prepared.decision, options)
        self.assignment = start
        self.value = None if start is None else objective(prepared.decision, start)
        step = prepared.step - HALF if prepared.step else prepared.margin
        self.cuts = np.array(
            [math.inf, step, prepared.margin, math.inf, prepared.decision.workers, math.inf]
        )
        if self.value is not None:
            self._lower_cut(self._search_value(self.value))

    def _search_value(self, value: int | Fraction) -> float:
        return float(value * self.prepared.unit - self.prepared.offset)

    def _lower_cut(self, value: float) -> None:
        self.cuts[kernels.BEST] = value

    def run(self, began: float) -> tuple[StopReason, int | Fraction | None, str]:
        """Search to the end or to a limit; return why it stopped, the bound, and a word."""
        self.began = began
        root = self._root()
        reach = (self.prepared.step - HALF) if self.prepared.step else 4 * self.prepared.margin
        lower = root
        self.nodes = 0
        self.passes = 0
        if self.options.time_limit_s == 0:
            self.stop = StopReason.TIME_LIMIT
            return self._end(lower)
        while True:
            final = self._pass(root + reach)
            if self.stop is not None:
                break
            if final:
                lower = self.cuts[kernels.BEST]
                break
            lower = root + reach
            reach = max(reach * WIDENING, self.prepared.problem.price)
        return self._end(lower)

    stop: StopReason | None = None

    def _root(self) -> float:
        p, s = self.prepared.problem, self.state
        s.left[:] = p.supply
        s.profile[0] = p.floor
        value = kernels.node_bound(p, s, 0)
        if self.prepared.step:
            value = math.ceil(value - 1e-3)
        return value

    def _pass(self, cut: float) -> bool:
        """Search everything below `cut`; return whether that proves the incumbent."""
        p, s, cuts = self.prepared.problem, self.state, self.cuts
        self.passes += 1
        best_cut = cuts[kernels.BEST] - cuts[kernels.STEP]
        cuts[kernels.CUT] = min(cut, best_cut)
        cuts[kernels.REACH] = min(cut, max(best_cut, cuts[kernels.BEST] + cuts[kernels.MARGIN]))
        s.left[:] = p.supply
        s.cursor[:] = 0
        s.tally[1] = 0
        budget = FIRST_BUDGET
        while True:
            began = time.perf_counter()
            before = cuts[kernels.BEST]
            code = kernels.advance(p, s, cuts, budget)
            now = time.perf_counter()
            if cuts[kernels.BEST] < before:
                self._take()
            if code == kernels.TIED:
                self._untie()
                continue
            if self.stop is not None:
                return False
            if code == kernels.EXHAUSTED:
                break
            budget = max(100, int(s.tally[2] * CALL_S / max(now - began, 1e-6)))
            limit = self.options.time_limit_s
            if limit is not None and now - self.began > limit:
                self.stop = StopReason.TIME_LIMIT
                return False
            if self.options.node_limit is not None and s.tally[0] >= self.options.node_limit:
                self.stop = StopReason.NODE_LIMIT
                return False
        self.nodes = int(s.tally[0])
        return cuts[kernels.BEST] < math.inf and cuts[kernels.BEST] - cuts[kernels.STEP] <= cut

    def _take(self) -> None:
        self.assignment = assignment_of(
            self.prepared, self.state.best_chosen, self.state.best_counts
        )
        self.value = objective(self.prepared.decision, self.assignment)
        self.watch.report(self.assignment, None, time.perf_counter() - self.began)
        if self.watch.stop:
            self.stop = StopReason.INTERRUPTED

    def _untie(self) -> None:
        pass

    def _end(self, lower: float) -> tuple[StopReason, int | Fraction | None, str]:
        margin = self.prepared.margin
        message = f"{self.state.tally[0]} nodes, {self.passes} passes"
        if self.stop is None and (self.prepared.step or self.state.tally[1] == 0):
            return StopReason.OPTIMAL, self.value, message
        bound = self.prepared.objective(lower - 2 * margin)
        if self.prepared.decision.integral:
            bound = math.ceil(self.prepared.objective(lower - 1e-3))
        stop = self.stop or StopReason.OPTIMAL
        return stop, max(bound, 0), message
