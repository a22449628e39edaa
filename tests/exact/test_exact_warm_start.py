"""Warm starts: used, kept, or refused with the reason."""

from __future__ import annotations

import pytest

from olprouting.exact import SolveOptions, recheck, solve
from olprouting.exact.highs import Highs
from olprouting.instances import Decision

START = ((0, 0), (1, 1), (2, 2))  # E2: loads 14, 10, 5


@pytest.mark.parametrize("formulation", ["size-class", "assignment"])
@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_a_valid_start_is_accepted(e2: Decision, solver: str, formulation: str) -> None:
    options = SolveOptions(warm_start=START)
    result = solve(e2, solver=solver, formulation=formulation, options=options)
    assert (result.warm_start, result.value) == ("accepted", 1)


@pytest.mark.parametrize("formulation", ["size-class", "assignment"])
def test_highs_takes_the_start_whole(formulation: str) -> None:
    # a start that misses one variable, or breaks the order of equal workers (the larger total
    # first), would be dropped without a word; with it HiGHS has a solution before it begins
    decision = Decision([[5, 4], [5, 4], [9, 9]], [2, 2, 1], [1, 2, 3, 4, 5, 6])
    start = ((0, 0), (1, 0), (3, 1), (4, 1), (5, 2))
    outcome = Highs().run(decision, formulation, SolveOptions(time_limit_s=0.0), start)
    assert outcome.solution is not None
    assert recheck(decision, outcome.solution) == recheck(decision, start)


@pytest.mark.parametrize("formulation", ["size-class", "assignment"])
def test_cpsat_takes_the_start_whole(hard: Decision, formulation: str) -> None:
    # stopped at its first solution CP-SAT returns the hint, if it is complete
    start = tuple((request, request // 5) for request in range(40))
    first: list[float] = []

    def stop_at_first(objective: float, bound: float | None, seconds: float) -> bool:
        first.append(objective)
        return True

    options = SolveOptions(warm_start=start, on_incumbent=stop_at_first, time_limit_s=30)
    solve(hard, solver="cpsat", formulation=formulation, options=options)
    assert first == [recheck(hard, start)]


def test_an_invalid_start_is_reported(e2: Decision) -> None:
    options = SolveOptions(warm_start=((0, 0), (1, 0), (2, 2)))
    result = solve(e2, solver="highs", options=options)
    assert result.warm_start == "rejected: worker 0 gets 2 requests, has 1 slots"
    assert result.value == 1


def test_a_solver_that_takes_no_start_keeps_it_as_incumbent(e2: Decision) -> None:
    result = solve(e2, solver="brute-force", options=SolveOptions(warm_start=START))
    assert result.warm_start == "kept as incumbent only: brute-force takes no start"
    assert result.value == 1


def test_a_start_of_imbalance_zero_needs_no_solver(e1: Decision) -> None:
    start = ((2, 1), (0, 0), (1, 1))
    result = solve(e1, options=SolveOptions(warm_start=start))
    assert (result.status, result.value) == ("optimal", 0)
    assert result.assignment == ((0, 0), (1, 1), (2, 1))
    assert result.message == "the start attains the lower bound 0"
