"""One solve: a first incumbent, a root bound, and passes of growing reach until both meet."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.check import objective
from olprouting.exact.incumbents import IncumbentWatch, Stopwatch
from olprouting.exact.native.bound_kernels import TINY, node_bound
from olprouting.exact.native.certify import attains_relaxation, exact_level_bound
from olprouting.exact.native.incumbent_kernels import first_incumbent, shake_incumbent
from olprouting.exact.native.largest import Division
from olprouting.exact.native.packing import Packing
from olprouting.exact.native.prepare import (
    Prepared,
    assignment_of,
    critical_first,
    key_of,
    placed_classes,
    reordered,
    with_totals,
)
from olprouting.exact.native.problem import new_limits, new_state
from olprouting.exact.native.search_kernels import EXHAUSTED, TIED, advance
from olprouting.instances import StopReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from olprouting.compiling import Ints
    from olprouting.exact.native.problem import Problem, SearchState
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

MOST_DIVIDED = 64
"""Of more open workers a decision has too many parts: bounding them takes the time."""

HALF = 0.5
"""Whole values are told apart by half a unit."""

TIE_STEPS = 6000
MOST_TIE_STEPS = 30_000
"""Least and most steps for telling ties apart after the proof up to rounding; within these limits
twice as many as that proof took."""


class Search:
    """One solve of a prepared decision; `run` does it, the attributes tell what came of it.

    Parameters
    ----------
    prepared
        The decision, ready for the search.
    options
        Limits and callback.
    start
        Assignment to start from, or None.
    before_passes
        Called, with the clock stopped, if the root bound does not prove the first incumbent.

    Attributes
    ----------
    clock
        How long the solve has taken.
    assignment, value
        The incumbent and its objective, or None.
    bound
        Proven lower bound on the objective.
    stop
        Why the search ended before that was its own decision, or None.
    """

    def __init__(
        self,
        prepared: Prepared,
        options: SolveOptions,
        start: Assignment | None,
        before_passes: Callable[[], None] = lambda: None,
    ) -> None:
        self.prepared, self.options = prepared, options
        self.clock = Stopwatch()
        self._before_passes = before_passes
        self.watch = IncumbentWatch(prepared.decision, options)
        self.assignment: Assignment | None = None
        self.value: int | Fraction | None = None
        self.bound: int | Fraction = 0
        self.stop: StopReason | None = None
        self._passes = 0
        self._steps = 0
        self._packing = Packing(options.seed)
        self.division: Division | None = None
        limits = new_limits()
        self.limits = limits[0]
        self.limits["best"] = self.limits["cut"] = self.limits["reach"] = math.inf
        self.limits["target"] = -math.inf
        self.limits["step"] = prepared.step - HALF if prepared.step else prepared.margin
        self.limits["margin"] = prepared.margin
        self.limits["scale"] = prepared.decision.workers
        self._place_in(prepared, new_state(prepared.problem, limits))
        if start is not None:
            self.adopt(start)

    def run(self) -> None:
        """Search to the end or to a limit."""
        if self.options.time_limit_s == 0 or self.options.node_limit == 0:
            limited = self.options.time_limit_s == 0
            self.stop = StopReason.TIME_LIMIT if limited else StopReason.NODE_LIMIT
            return
        try:
            self.greedy()
            root = self.root()
            self._raise_bound(root)
            self.limits["target"] = root + self.prepared.margin
            if not self._closed():
                with self.clock.stopped():
                    self._before_passes()
                self._divide()
            if not self._closed() and self.stop is None:
                self._passes_from(root)
        except KeyboardInterrupt:
            self.stop = StopReason.INTERRUPTED

    def message(self) -> str:
        """Return how much was looked at."""
        return f"{self._nodes()} nodes in {self._passes} passes"

    def greedy(self) -> None:
        """Adopt an assignment made worker by worker and improved by exchanges."""
        first_incumbent(self.prepared.problem, self.state)
        self._adopt_held()

    def root(self) -> float:
        """Return the bound of the relaxation with the best charges, in the search's values."""
        self._reset()
        self.state.charge[:] = 0.0
        value = float(node_bound(self.prepared.problem, self.state, 0, self.limits["best"]))
        return math.ceil(value - TINY) if self.prepared.step else value

    def _divide(self) -> None:
        """Bisect the peak, where it is all that varies."""
        least, best = self.limits["target"], self.limits["best"]
        for packed in self._packing.bisect(self.prepared.problem, least, best):
            if packed.placed is not None:
                self.state.held[:], self.state.owner[:] = packed.placed
                self._adopt_held()
            elif packed.impossible:
                self.limits["target"] = packed.value + self.prepared.step
                self._raise_bound(self.limits["target"])
            self.mind_limits()
            if self.stop is not None:
                return

    def _passes_from(self, root: float) -> None:
        """Make the passes, with the orders taking turns and more steps at each turn."""
        self.prepared = with_totals(self.prepared)
        reaches = self._reaches(self.limits["best"] - root)
        p = self.prepared.problem
        if p.fills and p.admissions >= FEW and len(p.slots) <= MOST_DIVIDED:
            self.division = Division(self, self.prepared)
        orders = self._orders()
        alone = len(orders) == 1 and self.division is None
        steps = 2**62 if alone else TURN_STEPS
        done = 0
        while True:
            if self._divided(steps):
                return
            for prepared, state in orders:
                self._place_in(prepared, state)
                while self._pass(root + reaches[done], steps):
                    if self._closed():
                        return
                    if self._looked_at_all_below(root + reaches[done]):
                        self._conclude(int(self.place["ties"]))
                        return
                    self._raise_bound(root + reaches[done])
                    done += 1
                if self.stop is not None or self._closed():
                    return
            self.shake(steps)
            if self.stop is not None or self._closed():
                return
            steps *= TURN_FACTOR

    def _divided(self, steps: int) -> bool:
        """Divide the decision by its largest requests; return whether that ended the search."""
        if self.division is None:
            return False
        done = self.division.run(steps)
        if done:
            self._conclude(self.division.ties)
            return True
        self._raise_bound(min(self.division.bound, self.limits["best"] - self.prepared.margin))
        return self.stop is not None or self._closed()

    def _reaches(self, gap: float) -> list[float]:
        """Return how far above the root bound each pass looks; the last looks at everything."""
        if self.prepared.problem.admissions < FEW:
            return [math.inf]
        least = self.limits["step"] if self.prepared.step else 4 * self.prepared.margin
        return [least, *(part * gap for part in PARTS if part * gap > 2 * least), math.inf]

    def _orders(self) -> list[tuple[Prepared, SearchState]]:
        """Return the orders in which the workers may be placed, each with a state of its own.

        No order is best throughout, and a good one can be a thousand times better than another.
        """
        assert self.assignment is not None
        first = self.prepared, self.state
        order = critical_first(self.prepared, self.assignment)
        if len(order) < MOST_IN_ANY_ORDER or np.array_equal(order, self.prepared.workers):
            return [first]
        other = reordered(self.prepared, order)
        self._place_in(other, new_state(other.problem, self.state.limits))
        self.root()
        return [(other, self.state), first]

    def _place_in(self, prepared: Prepared, state: SearchState) -> None:
        """Go on with another order of the workers."""
        self.prepared, self.state = prepared, state
        self.place = state.place[0]
        if self.assignment is not None:
            state.best_key[:] = key_of(prepared, self.assignment)

    def _pass(self, reach: float, steps: int) -> bool:
        """Look at everything below `reach`; return whether that was done, within `steps`."""
        limits = self.limits
        limits["cut"] = min(reach, limits["best"] - limits["step"])
        limits["reach"] = min(
            reach, max(limits["best"] - limits["step"], limits["best"] + limits["margin"])
        )
        return self.search(steps)

    def search(self, limit: int) -> bool:
        """Run the compiled search to its end; return False if `limit` steps ended it."""
        self._reset()
        self._passes += 1
        done, _ = self.explore(self.prepared.problem, self.state, limit, self._adopt_chosen)
        return done

    def explore(
        self,
        problem: Problem,
        state: SearchState,
        limit: int,
        adopt: Callable[[Ints, Ints], None],
    ) -> tuple[bool, int]:
        """Run the compiled search from where a state stands, for about `limit` steps.

        Parameters
        ----------
        problem, state
            What is searched, and where the search stands.
        limit
            Steps after which it ends.
        adopt
            Takes chosen size classes and counts that are better than the incumbent, or tie.

        Returns
        -------
        bool, int
            Whether everything was looked at, and how many steps were made.
        """
        place, limits = state.place[0], state.limits[0]
        budget, steps = min(FIRST_BUDGET, limit), 0
        while self.stop is None:
            began = time.perf_counter()
            before = limits["best"]
            end = advance(problem, state, budget)
            made = int(place["steps"])
            steps += made
            self._steps += made
            if limits["best"] < before:
                adopt(state.best_chosen, state.best_counts)
            if end == TIED:
                adopt(state.chosen, state.counts)
            if end == EXHAUSTED:
                return True, steps
            if steps > limit:
                break
            spent = max(time.perf_counter() - began, 1e-6)
            budget = max(FIRST_BUDGET, int(made * CALL_S / spent))
            budget = min(budget, max(FIRST_BUDGET, limit - steps))
            self.mind_limits()
        return False, steps

    def shake(self, steps: int) -> None:
        """Try to improve the incumbent by chance, for a while in proportion to `steps`."""
        assert self.assignment is not None
        self._divide()
        placed = placed_classes(self.prepared, self.assignment)
        self.state.held[:], self.state.owner[:] = placed
        for turn in range(max(1, steps // TURN_STEPS)):
            if self.stop is not None or self.limits["best"] <= self.limits["target"]:
                return
            shake_incumbent(self.prepared.problem, self.state, KICKS, self.options.seed + turn)
            self._adopt_held()
            self.mind_limits()

    def _conclude(self, ties: int) -> None:
        """Set the bound after everything below the incumbent has been looked at."""
        assert self.value is not None
        ended_early = self.limits["best"] <= self.limits["target"]
        exhausted = ties == 0 and not ended_early
        self._raise_bound(self.limits["best"] - self.prepared.margin)
        if exhausted or self._tell_ties_apart():
            self.bound = self.value

    def _tell_ties_apart(self) -> bool:
        """Look at all solutions that tie with the incumbent; return whether that was possible."""
        best, margin = self.limits["best"], self.prepared.margin
        self.limits["step"], self.limits["target"] = -margin, -math.inf
        self.limits["cut"] = self.limits["reach"] = best + margin
        return self.search(min(max(TIE_STEPS, 2 * self._steps), MOST_TIE_STEPS))

    def _looked_at_all_below(self, reach: float) -> bool:
        """Whether a pass with this reach saw all that beats the incumbent, or ties with it."""
        if self.prepared.step:
            return bool(self.limits["best"] - self.limits["step"] <= reach)
        return bool(self.limits["best"] + self.prepared.margin <= reach)

    def _closed(self) -> bool:
        """Whether the bound proves the incumbent, in exact arithmetic where necessary."""
        assert self.value is not None
        gap = float((self.value - self.bound) * self.prepared.unit)
        if not self.prepared.step and 0 < gap <= 8 * self.prepared.margin:
            self._raise_exactly()
        return self.bound >= self.value  # greater only by a mistake, which the recheck reports

    def _raise_exactly(self) -> None:
        """Raise the bound to where fractions show it to be, where that can be done."""
        assert self.assignment is not None
        assert self.value is not None
        placed = placed_classes(self.prepared, self.assignment)
        if self.prepared.problem.fills and attains_relaxation(self.prepared, self.state, *placed):
            self.bound = self.value
        elif self.prepared.problem.everything:
            self.bound = max(self.bound, exact_level_bound(self.prepared))

    def _raise_bound(self, value: float) -> None:
        """Take a proven bound in the search's values, allowing for rounding."""
        decision, slack = self.prepared.decision, 2 * self.prepared.margin
        bound: int | Fraction = self.prepared.objective(value - slack)
        if decision.integral:
            bound = math.ceil(self.prepared.objective(value - TINY))
        self.bound = max(self.bound, bound)

    def adopt(self, assignment: Assignment) -> None:
        """Take an assignment as incumbent if it is better than the present one."""
        value = objective(self.prepared.decision, assignment)
        if self.value is not None and value >= self.value:
            return
        self.assignment, self.value = assignment, value
        self.limits["best"] = float(value * self.prepared.unit - self.prepared.offset)
        self.state.best_key[:] = key_of(self.prepared, assignment)
        self.watch.report(assignment, self.bound, self.clock.seconds())
        if self.watch.stop:
            self.stop = StopReason.INTERRUPTED

    def _adopt_held(self) -> None:
        """Take what `held` and `owner` say."""
        s = self.state
        for g in range(len(s.counts)):
            own = s.held[s.owner == g]
            s.counts[g] = len(own)
            s.chosen[g, : len(own)] = own
        self._adopt_chosen(s.chosen, s.counts)

    def _adopt_chosen(self, chosen: Ints, counts: Ints) -> None:
        """Take the size classes of each worker."""
        self.adopt(assignment_of(self.prepared, chosen, counts))

    def _reset(self) -> None:
        """Go back to before the first worker."""
        p, s = self.prepared.problem, self.state
        s.left[:] = p.supply
        s.profile[0] = p.floor
        s.box[:] = [-math.inf, math.inf]
        self.place["depth"] = self.place["phase"] = self.place["ties"] = 0

    def _nodes(self) -> int:
        return int(self.place["nodes"]) + (self.division.nodes if self.division else 0)

    def mind_limits(self) -> None:
        """Stop at a limit."""
        if self.stop is not None:
            return
        limit = self.options.time_limit_s
        if limit is not None and self.clock.seconds() >= limit:
            self.stop = StopReason.TIME_LIMIT
        limit = self.options.node_limit
        if limit is not None and self._nodes() >= limit:
            self.stop = StopReason.NODE_LIMIT
