"""What the models promise about their form."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from pyomo.repn import generate_standard_repn

from olprouting.models import imbalance_assignment, imbalance_size_class

LOADS = np.array([[9, 8, 6], [7, 7, 7], [2, 5, 1], [12, 0, 0]])
FREE = np.array([1, 1, 2, 0])
SIZES, SUPPLIES = np.array([3, 5]), np.array([2, 3])
WEIGHTS = np.array([1.0, 0.5, 0.25])


def nonzeros(constraint: object) -> int:
    return len(generate_standard_repn(constraint.body).linear_vars)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("supplies", "most"), [(SUPPLIES, 2), (np.array([1, 1]), 3)])
def test_barrier_rows_have_few_nonzeros(supplies: np.ndarray, most: int) -> None:
    # two where the pool fills every slot, three where the number of admissions is open
    model = imbalance_size_class.build(LOADS, FREE, SIZES, supplies, WEIGHTS, 1)
    counts = {nonzeros(row) for row in model.barrier.values()}
    assert max(counts) == most


def test_every_capacity_is_a_row() -> None:
    # a capacity that is only a variable's bound has no dual
    sizes = imbalance_size_class.build(LOADS, FREE, SIZES, SUPPLIES, WEIGHTS, 1)
    assert set(sizes.slots) == {"w0", "w1", "w2"}
    assert set(sizes.supply) == {"s3", "s5"}
    contributions = np.repeat(SIZES, SUPPLIES)[:, None] + np.arange(3)
    paper = imbalance_assignment.build(LOADS, FREE, contributions, WEIGHTS)
    assert set(paper.slots) == {"w0", "w1", "w2", "w3"}
    assert set(paper.once) == {f"r{i}" for i in range(5)}
    assert len(paper.barrier) == LOADS.size


def test_interchangeable_workers_need_equal_windows_and_slots() -> None:
    loads = np.array([[5, 1], [5, 1], [5, 2], [5, 1], [5, 1]])
    free = np.array([1, 1, 1, 2, 1])
    groups = imbalance_size_class.interchangeable_workers(loads, free, [0, 1, 2, 3, 4])
    assert groups == [[0, 1, 4]]


def test_contributions_may_have_any_shape() -> None:
    # a request with a forecast of its own leaves inside the window: w[i,h] falls to 0
    import highspy

    from olprouting.exact.highs import new_highs, pass_model
    from olprouting.exact.matrix import compile_model

    loads = np.array([[4, 0], [0, 4]])
    contributions = np.array([[4, 0], [1, 1]])
    model = imbalance_assignment.build(loads, np.array([1, 1]), contributions, np.ones(2))
    solver = new_highs(verbose=False)
    matrix = compile_model(model)
    pass_model(solver, matrix)
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    # request 0 to worker 1, 1 to 0: |5 - 4| + |1 - 4| = 4; the other way |8 - 1| + |0 - 5| = 12
    assert solver.getInfo().objective_function_value == pytest.approx(4)


def test_models_import_nothing_of_olprouting() -> None:
    """Catches a model that needs the library: its package loads none of its names by itself."""
    script = (
        "import importlib, pkgutil, sys, olprouting.models\n"
        "for module in pkgutil.iter_modules(olprouting.models.__path__):\n"
        "    importlib.import_module(f'olprouting.models.{module.name}')\n"
        "loaded = {m for m in sys.modules if m.split('.')[0] == 'olprouting'}\n"
        "print(*{m for m in loaded if not m.startswith('olprouting.models')} - {'olprouting'})"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == []
