"""The backend: preparation, compilation and one search."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.native.prepare import prepare
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
        began = time.perf_counter()
        _compile()
        search = Search(prepare(decision), options, start)
        built = time.perf_counter()
        search.run()
        search.watch.raise_error()
        wall_s = time.perf_counter() - built
        stop = search.stop or StopReason.OPTIMAL
        return Outcome(
            stop, search.assignment, search.bound, wall_s, built - began, search.message()
        )


@functools.cache
def _compile() -> None:
    """Compile or load all kernels, before any time limit runs."""
    tiny = Decision(np.array([[3], [1], [0]]), np.array([1, 1, 1]), np.array([1, 2, 4, 7]))
    Search(prepare(tiny), SolveOptions(), None).call_each_kernel()
