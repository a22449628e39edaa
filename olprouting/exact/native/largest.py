"""Division of a decision by where its largest requests go, one whole request after another.

The relaxation divides requests: of three that no worker has room for it takes what it likes, and
its bound stays where it is however the small requests are placed. So the largest request goes onto
each worker in turn, or waits on, and then the next one. What is left of a decision with a request
placed is a decision again: the worker's loads are larger, and it has a slot less. So every bound
and the search over the workers hold for each part.

The part of least bound comes first. It is searched for a while, the longer the more requests it has
placed, and divided further if that does not end it. The least bound of all parts left is a bound on
the optimum. Parts with a bound at the cut hold nothing better than the incumbent, and are left.

Some parts are mirror images. Of workers that differ in nothing only the first gets the request. Of
requests of equal size each goes to no earlier worker than the one before, and once one waits on,
so do the rest of its size. What is searched or bounded may be more than the part: all requests not
yet placed, on all workers.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.native.bound_kernels import TINY, node_bound
from olprouting.exact.native.prepare import assignment_of, ordered_loads, worker_orders
from olprouting.exact.native.problem import new_limits, new_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.compiling import Floats, Ints
    from olprouting.exact.native.prepare import Prepared
    from olprouting.exact.native.problem import Problem
    from olprouting.exact.native.search import Search

FIRST_STEPS = 100
STEPS_FACTOR = 3
"""Steps of the search of a part, and by how much they grow with each division."""

WHOLE = 2**62
"""Steps that are never made."""

BOUND_STEPS = 5
"""A bound counts as so many steps."""


@dataclass(frozen=True, order=True)
class Part:
    """All assignments that place certain large requests as given, and leave others waiting.

    Parameters
    ----------
    bound
        Below all their values.
    serial
        Number of the part: of equal bounds the earlier one comes first.
    divisions
        How many led to it.
    placed
        Size class and worker, in search order, of each request placed.
    left
        Requests of each size not yet placed, those apart that are to wait, shape (S,).
    charge
        Best charges found for the decision it is a part of, shape (k,).
    largest
        Size class that is divided next, if any of it are left.
    first
        First worker that may get one.
    """

    bound: float
    serial: int
    divisions: int = field(compare=False)
    placed: tuple[tuple[int, int], ...] = field(compare=False)
    left: Ints = field(compare=False)
    charge: Floats = field(compare=False)
    largest: int = field(compare=False)
    first: int = field(compare=False)


class Division:
    """A decision whose free slots are all filled, divided ever further.

    Parameters
    ----------
    search
        The search that it belongs to, which knows the charges of the root, has the incumbent, takes
        better ones, and minds the limits.
    prepared
        The decision, in the same order.

    Attributes
    ----------
    bound
        Least bound of the parts left, infinite if there are none.
    ties
        How many parts or nodes were left that may tie with the incumbent.
    """

    def __init__(self, search: Search, prepared: Prepared) -> None:
        p = prepared.problem
        self._search, self._prepared = search, prepared
        self._problem = replace(
            p,
            **{
                name: getattr(p, name).copy()
                for name in ("loads", "full_loads", "slots", "supply", "above", "below", "ordered")
            },
        )
        limits = new_limits()
        self._limits = limits[0]
        for name in ("step", "margin", "scale"):
            self._limits[name] = search.limits[name]
        self._limits["target"] = -math.inf
        self._state = new_state(self._problem, limits)
        self._serial = itertools.count()
        self._steps = 0
        self.ties = 0
        self.bound = -math.inf
        self._parts: list[Part] = []
        self._state.place[0]["nodes"] = 1  # no bound is the first: the root's charges are known
        charge = search.state.charge[0].copy()
        self._keep(Part(self.bound, 0, 0, (), p.supply, charge, len(p.sizes) - 1, 0))

    @property
    def nodes(self) -> int:
        """Nodes of its searches."""
        return int(self._state.place[0]["nodes"])

    def run(self, steps: int) -> bool:
        """Search and divide parts until none are left or `steps` are made; True if none are."""
        end = self._steps + steps
        while self._parts and self._search.stop is None:
            if self._steps >= end:
                return False
            part = heapq.heappop(self._parts)
            self.bound = part.bound
            if self._is_cut(part.bound):
                self._parts.clear()
            elif not self._searched(part, end - self._steps):
                for smaller in self._divided(part):
                    self._keep(smaller)
                    self._search.mind_limits()
                    if self._search.stop is not None:
                        break
        return self._search.stop is None

    def _searched(self, part: Part, most: int) -> bool:
        """Search a part for a while; return whether that looked at all of it."""
        problem, tokens = self._enter(part)
        self._bounded(problem, tokens)
        limits, place, shift = self._limits, self._state.place[0], tokens * problem.price
        limits["best"] = self._search.limits["best"] + shift
        limits["cut"] = limits["best"] - limits["step"]
        limits["reach"] = self._reach() + shift
        self._state.best_key[:] = self._search.state.best_key + tokens

        def adopt(chosen: Ints, counts: Ints) -> None:
            self._adopt(part, chosen, counts)
            limits["best"] = self._search.limits["best"] + shift
            self._state.best_key[:] = self._search.state.best_key + tokens

        budget = min(most, FIRST_STEPS * STEPS_FACTOR**part.divisions)
        if problem.admissions == 0:
            budget = WHOLE  # it cannot be divided
        done, steps = self._search.explore(problem, self._state, budget, adopt)
        self._steps += steps
        self.ties += int(place["ties"])
        return done

    def _divided(self, part: Part) -> Iterator[Part]:
        """Yield the parts of a part, by where the next of the largest requests goes."""
        size, first = part.largest, part.first
        while part.left[size] == 0:
            size, first = size - 1, 0
        self._enter(part)
        slots, loads = self._problem.slots, self._problem.loads
        left = part.left.copy()
        left[size] -= 1
        different = {
            (slots[j], loads[j].tobytes()): j
            for j in reversed(range(first, len(slots)))
            if slots[j] > 0
        }
        for j in sorted(different.values()):
            yield self._part(part, (*part.placed, (size, j)), left, size, j)
        rest = part.left.copy()
        rest[size] = 0
        if rest.sum() >= self._prepared.problem.admissions - len(part.placed):
            yield self._part(part, part.placed, rest, size - 1, 0)

    def _part(
        self, of: Part, placed: tuple[tuple[int, int], ...], left: Ints, size: int, first: int
    ) -> Part:
        return Part(
            of.bound, next(self._serial), of.divisions + 1, placed, left, of.charge, size, first
        )

    def _keep(self, part: Part) -> None:
        """Keep a part, with a bound of its own, unless that is at the cut."""
        bound = max(part.bound, self._bounded(*self._enter(part)))
        self._steps += BOUND_STEPS
        if not self._is_cut(bound):
            charge = self._state.charge[0].copy()
            heapq.heappush(self._parts, replace(part, bound=bound, charge=charge))

    def _is_cut(self, bound: float) -> bool:
        """Whether a bound, in values of the whole decision, rules out what is better."""
        limits = self._search.limits
        if bound < limits["best"] - limits["step"]:
            return False
        self.ties += bound < limits["best"] + limits["margin"]
        return True

    def _reach(self) -> float:
        """Return the value from which on a bound rules out ties as well."""
        limits = self._search.limits
        return float(limits["best"] + max(-limits["step"], limits["margin"]))

    def _enter(self, part: Part) -> tuple[Problem, float]:
        """Make the problem that of a part; return it, and the tokens of the requests placed."""
        p, own, s = self._prepared.problem, self._problem, self._state
        for name in ("loads", "full_loads", "slots"):
            getattr(own, name)[:] = getattr(p, name)
        tokens = 0.0
        for size, j in part.placed:
            own.loads[j] += p.sizes[size] + p.growth * np.arange(len(p.weights))
            own.full_loads[j] += p.sizes[size]
            own.slots[j] -= 1
            tokens += p.sizes[size]
        own.supply[:] = s.left[:] = part.left
        own.above[:], own.below[:] = worker_orders(own.loads, own.slots, equal=False)
        if p.everything:
            own.ordered[:] = ordered_loads(own.loads)
        s.profile[0] = p.floor
        s.box[:] = [-math.inf, math.inf]
        s.charge[0] = part.charge
        place = s.place[0]
        place["depth"] = place["phase"] = place["ties"] = 0
        return replace(own, admissions=p.admissions - len(part.placed)), tokens

    def _bounded(self, problem: Problem, tokens: float) -> float:
        """Return the bound of the part entered, in values of the whole decision."""
        shift = tokens * problem.price
        bound = float(node_bound(problem, self._state, 0, self._reach() + shift)) - shift
        return math.ceil(bound - TINY) if self._prepared.step and math.isfinite(bound) else bound

    def _adopt(self, part: Part, chosen: Ints, counts: Ints) -> None:
        """Give the search an assignment: requests placed, and the others' size classes."""
        chosen = np.pad(chosen, [(0, 0), (0, len(part.placed))])
        counts = counts.copy()
        for size, j in part.placed:
            chosen[j, counts[j]] = size
            counts[j] += 1
        self._search.adopt(assignment_of(self._prepared, chosen, counts))
