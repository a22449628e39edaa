"""The backend: preparation, compilation and one search."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.native.fill_kernels import fill_completely
from olprouting.exact.native.prepare import prepare, with_totals
from olprouting.exact.native.search import Search
from olprouting.exact.options import SolveOptions
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    from olprouting.instances import Assignment


class Native:
    """Branch and bound over the workers, see `olprouting.exact.native`."""

    abilities = Abilities(("workers",), warm_start=True, on_incumbent=True, node_limit=True)

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome[Assignment]:
        """Solve `decision`; see `Backend`."""
        if options.native:
            raise InputError(f"native has no option {next(iter(options.native))!r}")
        compile_bounds()
        began = time.perf_counter()
        search = Search(prepare(decision), options, start, before_passes=compile_passes)
        build_s = time.perf_counter() - began
        search.run()
        search.watch.raise_error()
        stop = search.stop or StopReason.OPTIMAL
        return Outcome(
            stop,
            search.assignment,
            search.bound,
            search.clock.seconds(),
            build_s,
            search.message(),
        )


@functools.cache
def compile_bounds() -> None:
    """Compile or load what decides most decisions: the first incumbent and the root bound."""
    search = Search(prepare(_TINY), SolveOptions(), None)
    search.greedy()
    search.root()


@functools.cache
def compile_passes() -> None:
    """Compile or load the rest, which takes as long again and often is not needed."""
    search = Search(with_totals(prepare(_TINY)), SolveOptions(), None)
    search.greedy()
    search.search(1)
    search.shake(1)
    p = search.prepared.problem
    fill_completely(p.sizes, p.sizes, np.full(4, 1), 1, np.zeros(4, np.int64))


_TINY = Decision(np.array([[3], [1], [0]]), np.array([1, 1, 1]), np.array([1, 2, 4, 7]))
