"""One solve: limits, incumbents and passes around the compiled search."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.check import objective
from olprouting.exact.incumbents import IncumbentWatch
from olprouting.exact.native import search_kernels as kernels
from olprouting.exact.native.bound_kernels import TINY, node_bound
from olprouting.exact.native.certify import exact_level_bound
from olprouting.exact.native.fill_kernels import fill_completely
from olprouting.exact.native.incumbent_kernels import first_incumbent, shaken_incumbent
from olprouting.exact.native.packing import Packing
from olprouting.exact.native.prepare import (
    Prepared,
    assignment_of,
    critical_first,
    key_of,
    new_state,
    placed_classes,
    reordered,
    with_totals,
)
from olprouting.exact.native.problem import loads_when_full
from olprouting.exact.native.slackness import attains_relaxation
from olprouting.instances import StopReason

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.compiling import Floats, Ints
    from olprouting.exact.native.problem import State
    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Assignment

FIRST_BUDGET = 200
"""Steps of the first call of the compiled search; later calls aim at `CALL_S` seconds."""

CALL_S = 0.05

PARTS = (1 / 64, 1 / 8)
"""Passes look at these parts of the gap between root bound and first incumbent, then at all."""

KICKS = 20
"""Random exchanges tried at once; as many for each `TURN_STEPS` steps."""

FEW = 4
"""Fewer admissions are searched through at once."""

TURN_STEPS = 3000
TURN_FACTOR = 10
"""Steps of the first turn of each order of the workers, and by how much later turns are longer."""

MOST_IN_ANY_ORDER = 3
"""From this many open workers on their order matters."""

HALF = 0.5
"""Whole values are told apart by half a unit."""

DIVE_STEPS = 2000
"""Steps spent on finding the relaxation's own totals."""

TIE_STEPS = 3000
MOST_TIE_STEPS = 30_000
"""Least and most steps for telling ties apart after the proof up to rounding; within these limits
twice as many as that proof took."""


class Search:
    """One solve: a first incumbent, a root bound, and passes of growing reach.

    Parameters
    ----------
    prepared
        The decision, ready for the search.
    options
        Limits and callback.
    start
        Assignment to start from, or None.
    """

    def __init__(self, prepared: Prepared, options: SolveOptions, start: Assignment | None) -> None:
        self.prepared, self.options = prepared, options
        self.state = new_state(prepared.problem)
        self.watch = IncumbentWatch(prepared.decision, options)
        self.assignment: Assignment | None = None
        self.value: int | Fraction | None = None
        self.bound: int | Fraction = 0
        self.stop: StopReason | None = None
        self._began = time.perf_counter()
        self._passes = 0
        self._steps = 0
        self._packing = Packing(options.seed)
        self._cuts = np.full(7, math.inf)
        self._cuts[kernels.TARGET] = -math.inf
        self._cuts[kernels.STEP] = prepared.step - HALF if prepared.step else prepared.margin
        self._cuts[kernels.MARGIN] = prepared.margin
        self._cuts[kernels.SCALE] = prepared.decision.workers
        if start is not None:
            self._adopt(start)

    def run(self) -> None:
        """Search to the end or to a limit."""
        if self.options.time_limit_s == 0 or self.options.node_limit == 0:
            limited = self.options.time_limit_s == 0
            self.stop = StopReason.TIME_LIMIT if limited else StopReason.NODE_LIMIT
            return
        try:
            self._greedy()
            root = self._root()
            self._raise_bound(root)
            self._cuts[kernels.TARGET] = root + self.prepared.margin
            if not self._closed():
                self._divide()
                if not self._settled():
                    self._dive(root)
            if not self._closed() and self.stop is None:
                self._passes_from(root)
        except KeyboardInterrupt:
            self.stop = StopReason.INTERRUPTED

    def call_each_kernel(self) -> None:
        """Call every compiled function once."""
        self.prepared = with_totals(self.prepared)
        self._greedy()
        self._root()
        self._search(1)
        self._shake(1)
        p = self.prepared.problem
        fill_completely(p.sizes, p.sizes, p.supply, 1, np.zeros_like(p.supply))

    def message(self) -> str:
        """Return how much was looked at."""
        return f"{self.state.tally[0]} nodes in {self._passes} passes"

    def _adopt(self, assignment: Assignment) -> None:
        """Take an assignment as incumbent if it is better than the present one."""
        value = objective(self.prepared.decision, assignment)
        if self.value is not None and value >= self.value:
            return
        self.assignment, self.value = assignment, value
        self._cuts[kernels.BEST] = float(value * self.prepared.unit - self.prepared.offset)
        self.state.best_key[:] = key_of(self.prepared, assignment)
        self.watch.report(assignment, self.bound, time.perf_counter() - self._began)
        if self.watch.stop:
            self.stop = StopReason.INTERRUPTED

    def _greedy(self) -> None:
        p, s = self.prepared.problem, self.state
        held, owner = np.zeros(p.admissions, np.int64), np.zeros(p.admissions, np.int64)
        first_incumbent(p, s.left, s.totals, s.counts, held, owner)
        self._adopt(self._assignment_from(held, owner))

    def _shake(self, steps: int) -> None:
        """Try to improve the incumbent by chance, for a while in proportion to `steps`."""
        assert self.assignment is not None
        p = self.prepared.problem
        self._divide()
        held, owner = placed_classes(self.prepared, self.assignment)
        for turn in range(max(1, steps // TURN_STEPS)):
            if self._settled():
                return
            shaken_incumbent(p, held, owner, KICKS, self.options.seed + turn)
            self._adopt(self._assignment_from(held, owner))
            self._mind_limits()

    def _settled(self) -> bool:
        """Whether a limit is reached, or the root bound."""
        return self.stop is not None or self._cuts[kernels.BEST] <= self._cuts[kernels.TARGET]

    def _divide(self) -> None:
        """Bisect the peak, where it is all that varies."""
        least, best = self._cuts[kernels.TARGET], self._cuts[kernels.BEST]
        for packed in self._packing.bisect(self.prepared.problem, least, best):
            if packed.placed is not None:
                self._adopt(self._assignment_from(*packed.placed))
            elif packed.impossible:
                self._cuts[kernels.TARGET] = packed.value + self.prepared.step
                self._raise_bound(self._cuts[kernels.TARGET])
            self._mind_limits()
            if self.stop is not None:
                return

    def _assignment_from(self, held: Ints, owner: Ints) -> Assignment:
        s = self.state
        for g in range(len(s.counts)):
            own = held[owner == g]
            s.counts[g] = len(own)
            s.chosen[g, : len(own)] = own
        return assignment_of(self.prepared, s.chosen, s.counts)

    def _plans(self) -> list[tuple[Prepared, State]]:
        """Return the orders in which the workers may be placed, each with a state of its own.

        No order is best throughout, and a good one can be a thousand times better than another.
        """
        plans = [(self.prepared, self.state)]
        if len(self.prepared.problem.slots) >= MOST_IN_ANY_ORDER and self.assignment is not None:
            order = critical_first(self.prepared, self.assignment)
            if not np.array_equal(order, self.prepared.workers):
                other = reordered(self.prepared, order)
                plans.insert(0, (other, new_state(other.problem)))
        return plans

    def _switch(self, plan: tuple[Prepared, State], *, fresh: bool) -> None:
        """Go on with another order."""
        if self.state is not plan[1]:
            self.prepared, self.state = plan
            if fresh:
                self._root()
        assert self.assignment is not None
        self.state.best_key[:] = key_of(self.prepared, self.assignment)

    def _root(self) -> float:
        """Return the root bound in the search's values."""
        p, s = self.prepared.problem, self.state
        self._reset()
        s.charge[:] = 0.0
        value = float(node_bound(p, s, 0, self._cuts[kernels.BEST]))
        return math.ceil(value - TINY) if self.prepared.step else value

    def _reset(self) -> None:
        p, s = self.prepared.problem, self.state
        s.left[:] = p.supply
        s.profile[0] = p.floor
        s.cursor[:] = 0
        s.box[:] = [-math.inf, math.inf]
        s.tally[1] = 0

    def _raise_bound(self, value: float) -> None:
        """Take a proven bound in the search's values, allowing for rounding."""
        decision, slack = self.prepared.decision, 2 * self.prepared.margin
        bound: int | Fraction = self.prepared.objective(value - slack)
        if decision.integral:
            bound = math.ceil(self.prepared.objective(value - TINY))
        self.bound = max(self.bound, bound)

    def _closed(self) -> bool:
        """Whether the bound proves the incumbent, in exact arithmetic where necessary."""
        assert self.value is not None
        if self.bound < self.value and self._near():
            self._raise_exactly()
        return self.bound >= self.value  # greater only by a mistake, which the recheck reports

    def _near(self) -> bool:
        """Whether bound and incumbent agree up to rounding."""
        assert self.value is not None
        gap = float((self.value - self.bound) * self.prepared.unit)
        return not self.prepared.step and gap <= 8 * self.prepared.margin

    def _raise_exactly(self) -> None:
        assert self.assignment is not None
        assert self.value is not None
        p = self.prepared.problem
        if p.fills:
            placed = placed_classes(self.prepared, self.assignment)
            if attains_relaxation(self.prepared, self.state, *placed):
                self.bound = self.value
                return
        if p.everything:
            self.bound = max(self.bound, exact_level_bound(self.prepared))

    def _dive(self, root: float) -> None:
        """Look for a solution with the very totals of the relaxation: rich pools have one."""
        p, s = self.prepared.problem, self.state
        if p.admissions < FEW or not p.fills or s.charge[0].any():
            return
        s.fence[:] = self._natural_point(root)[:, None]
        self._pass(math.inf, DIVE_STEPS)
        s.fence[:] = [-math.inf, math.inf]

    def _natural_point(self, root: float) -> Floats:
        """Return a minimiser of the relaxation that asks for as ordinary requests as possible.

        If every worker has free slots all totals may rise or fall together at no cost; the
        extreme ones need the largest requests everywhere.
        """
        p, s = self.prepared.problem, self.state
        low, high = s.least[0][p.slots], s.most[0][p.slots]
        point: Floats = s.point[0].copy()
        loads = loads_when_full(p)
        mean = float(p.sizes @ p.supply) / float(p.supply.sum())
        shift = round((mean * p.admissions - point.sum()) / len(point))
        while shift:
            moved: Floats = np.clip(point + shift, low, high)
            peaks = np.maximum((loads + moved[:, None]).max(axis=0), p.floor)
            if p.weights @ peaks - p.price * moved.sum() <= root + self.prepared.margin + HALF:
                return moved
            shift = int(shift / 2)
        return point

    def _passes_from(self, root: float) -> None:
        """Make the passes, with the orders taking turns and more steps at each turn."""
        self.prepared = with_totals(self.prepared)
        reaches = self._reaches(self._cuts[kernels.BEST] - root)
        plans = self._plans()
        steps = TURN_STEPS if len(plans) > 1 else 2**62
        done = 0
        while True:
            for plan in plans:
                self._switch(plan, fresh=steps == TURN_STEPS)
                while self._pass(root + reaches[done], steps):
                    if self._closed():
                        return
                    if self._looked_at_all_below(root + reaches[done]):
                        self._conclude()
                        return
                    self._raise_bound(root + reaches[done])
                    done += 1
                if self.stop is not None or self._closed():
                    return
            self._shake(steps)
            if self.stop is not None or self._closed():
                return
            steps *= TURN_FACTOR

    def _looked_at_all_below(self, reach: float) -> bool:
        """Whether a pass with this reach saw all that beats the incumbent, or ties with it."""
        best = self._cuts[kernels.BEST]
        if self.prepared.step:
            return bool(best - self._cuts[kernels.STEP] <= reach)
        return bool(best + self.prepared.margin <= reach)

    def _reaches(self, gap: float) -> list[float]:
        """Return how far above the root bound each pass looks; the last looks at everything."""
        if self.prepared.problem.admissions < FEW:
            return [math.inf]
        least = self._cuts[kernels.STEP] if self.prepared.step else 4 * self.prepared.margin
        return [least, *(part * gap for part in PARTS if part * gap > 2 * least), math.inf]

    def _pass(self, reach: float, steps: int) -> bool:
        """Look at everything below `reach`; return whether that was done, within `steps`."""
        best, step, margin = (self._cuts[i] for i in (kernels.BEST, kernels.STEP, kernels.MARGIN))
        self._cuts[kernels.CUT] = min(reach, best - step)
        self._cuts[kernels.REACH] = min(reach, max(best - step, best + margin))
        return self._search(steps)

    def _search(self, limit: int) -> bool:
        """Run the compiled search to its end; return False if `limit` steps ended it."""
        p, s = self.prepared.problem, self.state
        self._reset()
        self._passes += 1
        budget, steps = FIRST_BUDGET, 0
        while self.stop is None:
            began = time.perf_counter()
            before = self._cuts[kernels.BEST]
            code = kernels.advance(p, s, self._cuts, budget)
            if self._cuts[kernels.BEST] < before:
                self._adopt(assignment_of(self.prepared, s.best_chosen, s.best_counts))
            if code == kernels.TIED:
                self._adopt(assignment_of(self.prepared, s.chosen, s.counts))
            if code == kernels.EXHAUSTED:
                return True
            steps += int(s.tally[2])
            self._steps += int(s.tally[2])
            if steps > limit:
                return False
            spent = max(time.perf_counter() - began, 1e-6)
            budget = max(FIRST_BUDGET, int(s.tally[2] * CALL_S / spent))
            budget = min(budget, max(FIRST_BUDGET, limit - steps))
            self._mind_limits()
        return False

    def _mind_limits(self) -> None:
        if self.stop is not None:
            return
        limit = self.options.time_limit_s
        if limit is not None and time.perf_counter() - self._began >= limit:
            self.stop = StopReason.TIME_LIMIT
        limit = self.options.node_limit
        if limit is not None and self.state.tally[0] >= limit:
            self.stop = StopReason.NODE_LIMIT

    def _conclude(self) -> None:
        """Set the bound after everything below the incumbent has been looked at."""
        assert self.value is not None
        ended_early = self._cuts[kernels.BEST] <= self._cuts[kernels.TARGET]
        exhausted = self.state.tally[1] == 0 and not ended_early
        if exhausted or self._tell_ties_apart():
            self.bound = self.value
        elif self.stop is None:
            self._raise_bound(self._cuts[kernels.BEST] - self.prepared.margin)

    def _tell_ties_apart(self) -> bool:
        """Look at all solutions that tie with the incumbent; return whether that was possible."""
        best, margin = self._cuts[kernels.BEST], self.prepared.margin
        self._cuts[kernels.STEP], self._cuts[kernels.TARGET] = -margin, -math.inf
        self._cuts[kernels.CUT] = self._cuts[kernels.REACH] = best + margin
        return self._search(min(max(TIE_STEPS, 2 * self._steps), MOST_TIE_STEPS))
