"""Kernels are compiled, or loaded, before a time limit runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hindsight_cases import crowded
from numba.core import event

from olprouting.hindsight import hindsight_imbalance, solve_hindsight
from olprouting.hindsight.imbalance import search
from olprouting.hindsight.reward import solve
from olprouting.instances import Cluster, Trace
from olprouting.library import load_instance

if TYPE_CHECKING:
    from olprouting.hindsight import HindsightProblem


@pytest.mark.parametrize(
    "problem",
    [load_instance("hindsight-requests"), crowded(0, 40, 70)],
    ids=["one kind of worker", "two kinds"],
)
def test_nothing_is_compiled_within_the_limit(
    monkeypatch: pytest.MonkeyPatch, problem: HindsightProblem
) -> None:
    # catches a kernel, or a type it is called with, that the first run would compile on the way;
    # limits of several kinds of workers once were columns of a table, an array type of its own
    solve._compile()
    monkeypatch.setattr(solve, "ANNEAL_FROM_S", 0.0)
    with event.install_recorder("numba:compile") as recorder:
        solve_hindsight(problem, time_limit_s=0.5, gap=0.0)
    assert [entry.data["dispatcher"].__name__ for _, entry in recorder.buffer] == []


def test_nothing_is_compiled_within_the_search_of_runs() -> None:
    # catches a type that only a trace of several requests and a start bring along
    search._compile()
    rng = np.random.default_rng(0)
    trace = Trace(rng.integers(1, 9, 8), rng.integers(1, 5, 8), release_iteration=np.arange(1, 9))
    with event.install_recorder("numba:compile") as recorder:
        start = hindsight_imbalance(trace, Cluster([2, 1])).schedule
        hindsight_imbalance(trace, Cluster([2, 1]), start=start)
    assert [entry.data["dispatcher"].__name__ for _, entry in recorder.buffer] == []
