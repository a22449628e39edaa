"""How long an exact decision takes: 8 workers of 72 slots, 3 free, 16 waiting, H = 80.

Compare the groups with ``pytest tests/benchmarks/test_exact_benchmark.py --benchmark-enable``. Seen
with HiGHS 1.16: the paper's binaries take 3.9 times as long to build as the size classes, and 3.4
times as long to build and solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from olprouting.exact import SolveOptions, recheck, solve
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.matrix import compile_model
from olprouting.instances import Decision

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

WORKERS, SLOTS, FREE, WAITING, HORIZON = 8, 72, 3, 16, 80


@pytest.fixture(scope="module")
def decision() -> Decision:
    """Loads as a balancing policy leaves them, falling as requests leave."""
    rng = np.random.default_rng(3)
    free = np.bincount(rng.integers(WORKERS, size=FREE), minlength=WORKERS)
    offsets = np.arange(HORIZON + 1)
    loads = np.zeros((WORKERS, HORIZON + 1), np.int64)
    for g in range(WORKERS):
        resident = SLOTS - free[g]
        size = rng.lognormal(np.log(1000), 0.5, resident).astype(int)
        remaining = rng.geometric(1 / 300, resident)
        loads[g] = ((size[:, None] + offsets) * (offsets < remaining[:, None])).sum(axis=0)
    loads = np.maximum(0, loads - (loads[:, :1] - loads[:, 0].mean().astype(int)))
    return Decision(loads, free, rng.lognormal(np.log(1000), 0.6, WAITING).astype(int) + 1)


@pytest.mark.parametrize("formulation", list(FORMULATIONS))
@pytest.mark.benchmark(group="build")
def test_build(benchmark: BenchmarkFixture, decision: Decision, formulation: str) -> None:
    benchmark(lambda: compile_model(FORMULATIONS[formulation](decision).pyomo_model()))


@pytest.mark.parametrize(
    ("solver", "formulation"),
    [("highs", "size-class"), ("highs", "assignment"), ("cpsat", "size-class")],
)
@pytest.mark.benchmark(group="build and solve")
def test_solve(
    benchmark: BenchmarkFixture, decision: Decision, solver: str, formulation: str
) -> None:
    result = benchmark(lambda: solve(decision, solver=solver, formulation=formulation))
    assert result.status == "optimal"


@pytest.mark.parametrize("gamma", ["1", "0.86"])
@pytest.mark.benchmark(group="recheck")
def test_recheck(benchmark: BenchmarkFixture, decision: Decision, gamma: str) -> None:
    discounted = decision.replace(gamma=gamma)
    assignment = solve(decision, options=SolveOptions(time_limit_s=10)).assignment
    assert assignment is not None
    benchmark(lambda: recheck(discounted, assignment))
