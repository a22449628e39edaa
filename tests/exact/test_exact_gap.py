"""Gap conventions (one definition for all reports)."""

from __future__ import annotations

import dataclasses

import pytest

from olprouting.exact import SolveOptions, solve
from olprouting.exact.bounds import proven_bound
from olprouting.instances import Decision, absolute_gap, relative_gap


@pytest.mark.parametrize(
    ("incumbent", "bound", "relative", "absolute"),
    [
        (0, 0, 0, 0),  # 0/0 is no gap, not NaN
        (1, 0, 1, 1),
        (20_000, 19_999, 1 / 20_000, 1),
        (None, 0, None, None),
        (1, None, None, None),
    ],
)
def test_gap(
    incumbent: int | None, bound: int | None, relative: float | None, absolute: float | None
) -> None:
    assert relative_gap(incumbent, bound) == relative
    assert absolute_gap(incumbent, bound) == absolute


def test_one_token_open_is_not_optimal(e2: Decision) -> None:
    solved = solve(e2)
    open_gap = dataclasses.replace(solved, value=1, bound=0)
    assert (open_gap.relative_gap, open_gap.absolute_gap) == (1, 1)


def test_whole_tokens_round_a_bound_up(e2: Decision) -> None:
    assert proven_bound(0.4, e2) == 1
    # a solver's tolerance above a whole number proves nothing more
    assert proven_bound(1.0000005, e2) == 1
    assert proven_bound(-3.0, e2) == 0
    assert proven_bound(float("-inf"), e2) is None


def test_fractional_values_are_not_rounded_up() -> None:
    decision = Decision([[9, 9], [7, 7]], [1, 1], [5], gamma=0.5)
    bound = proven_bound(0.4, decision)
    assert bound is not None
    assert 0.3999 < bound < 0.4


def test_a_discounted_proof_is_within_gap() -> None:
    # 3 tokens apart now, 3 at half weight next: 4.5, in floating point only up to the tolerance
    decision = Decision([[9, 9], [7, 7]], [0, 1], [5, 6], gamma=0.5)
    result = solve(decision, solver="highs", options=SolveOptions())
    assert result.value == 3 + 0.5 * 4
    assert result.status == "optimal_within_gap"
    assert result.absolute_gap is not None
    assert 0 < result.absolute_gap < 1e-4
    # in integers CP-SAT proves it
    assert solve(decision, solver="cpsat").status == "optimal"
