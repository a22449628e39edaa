"""A solver whose answer or bound contradicts the independent recheck is an error that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from olprouting.exact import SolveOptions, solve, solvers
from olprouting.exact.backend import Abilities, Outcome
from olprouting.instances import Decision, StopReason, absolute_gap, relative_gap

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.instances import Assignment

WORST: Assignment = ((0, 2), (1, 0), (2, 1))
"""An assignment of E2 with loads 12, 10, 7 and the imbalance 7; the optimum is 1."""


class Liar:
    """A backend that says what it is told: no installed solver lies on demand."""

    abilities = Abilities(("words",), warm_start=True)

    def __init__(
        self, stop: StopReason, assignment: Assignment | None, bound: int | Fraction | None
    ) -> None:
        self._outcome = Outcome(stop, assignment, bound, 0.0, 0.0, "so I say")

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome[Assignment]:
        return self._outcome


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch):
    """Make ``solver="highs"`` a liar."""

    def lie(stop: StopReason, assignment: Assignment | None, bound: int | None) -> None:
        monkeypatch.setattr(solvers, "load", lambda *_: Liar(stop, assignment, bound))

    return lie


def test_a_bound_above_a_known_value_is_no_proof(lying, e2: Decision) -> None:
    """It used to be lowered to the value, whatever the distance, and read `optimal`."""
    lying(StopReason.OPTIMAL, WORST, 10**9)
    result = solve(e2, solver="highs")
    assert (result.status, result.bound, result.proven) == ("error", None, False)
    assert (result.value, result.assignment) == (7, WORST)  # true, and kept
    assert "highs claims a bound of 1000000000, but a rechecked assignment has the value 7" in (
        result.message
    )


def test_a_bound_above_the_start_is_no_proof(lying, e2: Decision) -> None:
    """The start is a witness too, though the solver returns nothing."""
    lying(StopReason.TIME_LIMIT, None, 8)
    result = solve(e2, solver="highs", options=SolveOptions(warm_start=WORST))
    assert (result.status, result.value, result.bound) == ("error", 7, None)


@pytest.mark.parametrize("stop", [StopReason.INFEASIBLE, StopReason.INFEASIBLE_OR_UNBOUNDED])
def test_a_decision_is_never_infeasible(lying, e2: Decision, stop: StopReason) -> None:
    lying(stop, None, None)
    result = solve(e2, solver="highs")
    assert result.status == "error"
    assert f"highs calls it {stop}, which no decision is" in result.message


def test_an_assignment_that_is_none_is_an_error(lying, e2: Decision) -> None:
    lying(StopReason.OPTIMAL, ((0, 2), (1, 2), (2, 2)), 1)
    result = solve(e2, solver="highs")
    assert (result.status, result.assignment, result.bound) == ("error", None, None)
    assert "highs returned an assignment that is none: worker 2 gets 3" in result.message


def test_no_imbalance_is_negative(lying) -> None:
    """Perfect balance is its own proof, whether or not a solver reports a bound."""
    lying(StopReason.TIME_LIMIT, ((0, 0), (1, 1), (2, 1)), None)
    result = solve(Decision([[10], [4]], [1, 2], [2, 4, 4]), solver="highs")
    assert (result.value, result.bound, result.status) == (0, 0, "time_limit")


def test_a_true_claim_stands(lying, e2: Decision) -> None:
    """The control: the same way of lying, with the truth."""
    lying(StopReason.OPTIMAL, ((0, 2), (1, 1), (2, 2)), 1)
    assert solve(e2, solver="highs").status == "optimal"


def test_a_gap_keeps_its_sign() -> None:
    """A bound on the wrong side of the value was hidden behind an absolute value."""
    assert absolute_gap(7, 10) == -3
    assert relative_gap(10, 7, maximise=True) == -0.3
    assert absolute_gap(7, 10, maximise=True) == 3
    # 0.1 + 0.2 and 0.3 are one number, rounded
    assert absolute_gap(0.1 + 0.2, 0.3) == 0
    assert relative_gap(0.3, 0.1 + 0.2) == 0
