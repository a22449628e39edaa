"""Time of the native exact search beside HiGHS, on the same decisions. Nothing asserts on time."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.exact import SolveOptions, solve
from olprouting.instances import Decision

CASES = {
    "few-slots": (8, 3, 32, 0),
    "few-slots-lookahead": (8, 3, 32, 80),
    "rich-pool": (8, 32, 200, 0),
    "rich-pool-lookahead": (8, 32, 200, 80),
    "small-pool-lookahead": (8, 9, 32, 80),
    "many-workers-lookahead": (16, 16, 64, 80),
}


def azure_like(workers: int, free: int, waiting: int, horizon: int) -> Decision:
    """Loads around 90,000 tokens of workers that lost some requests; right-skewed sizes."""
    rng = np.random.default_rng(7)
    slots = np.bincount(rng.integers(0, workers, free), minlength=workers)
    loads = 90_000 - 1_200 * slots[:, None] - rng.integers(0, 600, (workers, 1))
    done = rng.integers(300, 900, (workers, 1)) * np.arange(horizon + 1)
    sizes = np.minimum(rng.lognormal(6.8, 0.8, waiting).astype(np.int64) + 1, 4_100)
    return Decision(loads - done, slots, sizes, gamma=0.86 if horizon else 1)


@pytest.mark.parametrize("solver", ["native", "highs"])
@pytest.mark.parametrize("case", CASES)
def test_solve(benchmark, case: str, solver: str) -> None:
    decision = azure_like(*CASES[case])
    options = SolveOptions(time_limit_s=5)
    result = benchmark(solve, decision, solver=solver, options=options)
    assert result.has_solution
    assert result.bound <= result.value
