"""Stopping early: what the result says and has."""

from __future__ import annotations

import pytest

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, recheck, solve
from olprouting.instances import Decision, StopReason

SOLVERS = ["auto", "native", "highs", "cpsat", "appsi_highs", "brute-force"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_zero_has_no_solution_and_no_objective(e2: Decision, solver: str) -> None:
    # CP-SAT itself reports objective 0.0 here, which would read as perfect balance
    result = solve(e2, solver=solver, options=SolveOptions(time_limit_s=0))
    if result.has_solution:
        pytest.fail(f"{solver} solved E2 in no time: {result.message}")
    assert result.status == "limit_no_solution"
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.value is None
    assert result.assignment is None
    assert result.relative_gap is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_limit_zero_is_kept(e2: Decision, solver: str) -> None:
    start = ((0, 0), (1, 1), (2, 2))  # loads 14, 10, 5: imbalance 42 - 29 = 13
    options = SolveOptions(time_limit_s=0, warm_start=start)
    result = solve(e2, solver=solver, options=options)
    assert result.value is not None
    assert result.value <= 13
    assert result.assignment is not None
    assert recheck(e2, result.assignment) == result.value


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_a_hard_decision_stops_in_time_with_what_it_has(hard: Decision, solver: str) -> None:
    result = solve(hard, solver=solver, options=SolveOptions(time_limit_s=1))
    assert result.status == "time_limit"
    assert result.limit_s == 1
    assert result.wall_s < 10 * result.limit_s  # relative: machines differ
    assert result.value is not None
    assert result.bound is not None
    assert result.bound < result.value


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_limits_count_each_solve_alone(e2: Decision, solver: str) -> None:
    # HiGHS's run clock adds up over the solves of one object
    options = SolveOptions(time_limit_s=0.2)
    results = [solve(e2, solver=solver, options=options) for _ in range(100)]
    assert {result.status for result in results} == {"optimal"}


def test_a_node_limit_is_told_from_a_time_limit(hard: Decision) -> None:
    result = solve(hard, solver="highs", options=SolveOptions(node_limit=1, time_limit_s=30))
    assert result.stop_reason is StopReason.NODE_LIMIT


def test_a_native_limit_is_told_from_ours(hard: Decision) -> None:
    options = SolveOptions(native={"mip_max_improving_sols": 1}, time_limit_s=30)
    result = solve(hard, solver="highs", options=options)
    assert result.stop_reason is StopReason.OTHER_LIMIT
    assert result.has_solution


def test_a_solver_without_node_limit_says_so(e2: Decision) -> None:
    with pytest.raises(InputError, match="'cpsat' has no node_limit"):
        solve(e2, solver="cpsat", options=SolveOptions(node_limit=5))


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_a_gap_option_never_reads_optimal(hard: Decision, solver: str) -> None:
    # the gap is relative to the whole objective, constant included
    options = SolveOptions(relative_gap=0.5, time_limit_s=30)
    result = solve(hard, solver=solver, options=options)
    assert result.status == "optimal_within_gap"
    assert result.relative_gap is not None
    assert 0 < result.relative_gap <= 0.5


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_one_token_in_twenty_thousand_is_not_lost(solver: str) -> None:
    # HiGHS's default relative gap of 1e-4 accepts 10000 where 9999 is possible
    decision = Decision([[20_000], [0], [10_000]], [0, 1, 1], [10_000, 9_999, 10_001])
    # worker 2 stays under the peak with 10000 at most, so worker 1 takes 10001
    result = solve(decision, solver=solver)
    assert (result.value, result.status) == (60_000 - 50_001, "optimal")
