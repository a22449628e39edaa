"""The recheck itself: its running sums against the plain definition, and what it catches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from period_cases import e3, periods, random_period

from olprouting.exact import solve
from olprouting.exact.period import check_period, margins_of, used, value_bound
from olprouting.exact.period.check_period import fits_whole, primal_faults
from olprouting.exact.period.scaling import repaired
from olprouting.instances.request_curves import is_active, kv_tokens_at

if TYPE_CHECKING:
    from olprouting.instances import PeriodProblem


def _curves(problem: PeriodProblem) -> tuple[np.ndarray, np.ndarray]:
    """Slots and tokens of each request in each remaining period, from the definition."""
    ages = np.arange(problem.remaining)[:, None]
    active = is_active(ages, problem.decode_tokens, problem.batching)
    tokens = kv_tokens_at(
        ages, problem.prompt_tokens, problem.decode_tokens, problem.batching, problem.age_offset
    )
    return active.astype(float), tokens.astype(float)


@settings(max_examples=60, deadline=None)
@given(periods(), st.integers(0, 2**20))
def test_running_sums_equal_the_definition(problem: PeriodProblem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    active, tokens = _curves(problem)
    x = rng.random((problem.waiting, problem.workers))
    use = used(problem, x)
    assert use[0] == pytest.approx((active @ x).T)
    assert use[1] == pytest.approx((tokens @ x).T)
    batch, memory = rng.random((2, problem.workers, problem.remaining))
    expected = problem.rewards[:, None] - active.T @ batch.T - tokens.T @ memory.T
    assert margins_of(problem, batch, memory) == pytest.approx(expected)
    alone = [
        [
            bool((active[:, j] <= problem.slots[g]).all())
            and bool((tokens[:, j] <= problem.kv_tokens[g]).all())
            for g in range(problem.workers)
        ]
        for j in range(problem.waiting)
    ]
    assert fits_whole(problem).tolist() == alone


@settings(max_examples=40, deadline=None)
@given(periods(), st.integers(0, 2**20))
def test_any_prices_bound_the_optimum(problem: PeriodProblem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (problem.workers, problem.remaining)
    prices = rng.random(shape) * rng.choice([0, 1e-2, 1]), rng.random(shape) * 1e-2
    optimum = solve(problem, test_uniqueness=False).value
    assert optimum is not None
    assert value_bound(problem, *prices) >= optimum - 1e-9 * (1 + optimum)


def test_each_kind_of_fault_is_found() -> None:
    problem = e3()
    result = solve(problem)
    x, batch, memory = np.array(result.x), result.prices.batch, result.prices.memory
    assert check_period(problem, x, batch, memory).faults == ()

    def faults(x: np.ndarray, batch: np.ndarray, memory: np.ndarray) -> str:
        return "; ".join(check_period(problem, x, batch, memory).faults)

    assert "exceeds its slots by 1 in period 1" in faults(x + 1 / 40, batch, memory)
    assert "x is negative" in faults(x - 0.5, batch, memory)
    assert "admitted more than once" in faults(3 * x, batch, memory)
    assert "finite" in faults(x * np.nan, batch, memory)
    assert "finite" in faults(x[:3], batch, memory)
    assert "token price is negative" in faults(x, batch, -memory)
    # unused capacity with a price; waiting requests with an option value; a start at a loss
    assert "unused capacity has a price" in faults(0 * x, batch, memory)
    assert "is not admitted" in faults(x, 0 * batch, memory)
    assert "not at its best margin" in faults(x, 3 * batch, memory)
    assert "strong duality" in faults(x, 0 * batch, 0 * memory)


def test_one_token_too_many_is_found_in_whole_starts() -> None:
    problem = e3(kv_tokens=47)
    x = np.array(solve(e3(), formulation="integer").x).astype(np.int64)
    assert primal_faults(problem, x, 0) == ["worker 0 exceeds its KV tokens by 1 in period 1"]


@settings(max_examples=60, deadline=None)
@given(periods(), st.integers(0, 2**20))
def test_repair_makes_any_point_feasible(problem: PeriodProblem, seed: int) -> None:
    # also where nothing is left, where scaling alone would keep a rest
    x = np.random.default_rng(seed).random((problem.waiting, problem.workers)) * 2
    assert primal_faults(problem, repaired(problem, x), 1e-11) == []


def test_repair_leaves_a_feasible_point_alone() -> None:
    problem = random_period(11)
    x = np.array(solve(problem).x)
    assert repaired(problem, x) == pytest.approx(x, abs=1e-9)
