"""Parts of the native search by themselves: the root bound, and even divisions."""

from __future__ import annotations

import dataclasses

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.exact import SolveOptions
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.highs import new_highs, pass_model
from olprouting.exact.matrix import compile_model
from olprouting.exact.native.backend import Search
from olprouting.exact.native.prepare import prepare
from olprouting.exact.native.split_kernels import split_evenly
from olprouting.instances import Decision
from olprouting.library import instance_names, load_instance

AZURE_LIKE = [
    name
    for name in instance_names("decision")
    if name.startswith(("azure-g8-p32", "azure-g8-p200", "azure-g16-p400"))
]


def linear_relaxation(decision: Decision) -> float:
    """Return the value of the size-class program with fractions allowed, by HiGHS."""
    matrix = compile_model(FORMULATIONS["size-class"](decision).pyomo_model())
    solver = new_highs(verbose=False)
    pass_model(solver, dataclasses.replace(matrix, integer=np.zeros_like(matrix.integer)))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


@pytest.mark.parametrize("name", AZURE_LIKE)
def test_the_root_bound_is_that_of_the_linear_relaxation(name: str) -> None:
    # catches charges that stop short of their best: the search would still be right, but slow
    decision = load_instance(name)
    assert isinstance(decision, Decision)
    search = Search(prepare(decision), SolveOptions(node_limit=1), None)
    search.run()
    linear = linear_relaxation(decision)
    assert float(search.bound) >= linear - 1e-6 * max(1.0, abs(linear))


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.lists(st.integers(1, 400), min_size=1, max_size=5), min_size=1, max_size=5),
    slack=st.integers(0, 30),
    seed=st.integers(0, 99),
)
def test_a_division_keeps_to_room_and_slots(parts: list[list[int]], slack: int, seed: int) -> None:
    # catches a request counted twice or not at all; one division exists, the given one
    sizes = np.sort(np.array([size for part in parts for size in part], float))
    room = np.array([sum(part) + slack for part in parts], float)
    slots = np.array([len(part) for part in parts])
    owner = np.full(len(sizes), -1)
    found = split_evenly(sizes, room, slots, 50, np.random.default_rng(seed), owner)
    if found:
        assert owner.min() >= 0
        assert (np.bincount(owner, minlength=len(parts)) <= slots).all()
        assert (np.bincount(owner, sizes, minlength=len(parts)) <= room).all()
    else:
        assert len(parts) > 1  # everything for one worker is always found
