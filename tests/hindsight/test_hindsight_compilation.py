"""Kernels are compiled, or loaded, before a time limit runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.core import event

from olprouting.hindsight import solve, solve_hindsight
from olprouting.library import load_instance

if TYPE_CHECKING:
    import pytest


def test_nothing_is_compiled_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    # catches a kernel, or a type it is called with, that the first run would compile on the way
    solve._compile()
    monkeypatch.setattr(solve, "ANNEAL_FROM_S", 0.0)
    with event.install_recorder("numba:compile") as recorder:
        solve_hindsight(load_instance("hindsight-requests"), time_limit_s=0.5, gap=0.0)
    assert [entry.data["dispatcher"].__name__ for _, entry in recorder.buffer] == []
