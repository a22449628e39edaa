"""All exact methods agree on tiny decisions, and no bound passes the optimum."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olprouting.exact import assignments, recheck, solve
from olprouting.instances import Decision


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    """Up to 3 workers, 5 requests and H = 3; small numbers, so that ties and equal workers come."""
    workers = draw(st.integers(1, 3))
    horizon = draw(st.integers(0, 3))
    loads = draw(
        st.lists(
            st.lists(st.integers(0, 12), min_size=horizon + 1, max_size=horizon + 1),
            min_size=workers,
            max_size=workers,
        )
    )
    if draw(st.booleans()):
        loads[-1] = loads[0]
    return Decision(
        loads,
        draw(st.lists(st.integers(0, 2), min_size=workers, max_size=workers)),
        draw(st.lists(st.integers(1, 7), max_size=5)),
        gamma=draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction("0.86")])),
        growth=draw(st.sampled_from(["growing", "frozen"])),
    )


def least(decision: Decision) -> int | Fraction:
    return min(recheck(decision, candidate) for candidate in assignments(decision))


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
@pytest.mark.parametrize("formulation", ["size-class", "assignment"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(decision=decisions())
def test_a_solver_finds_what_enumeration_finds(
    decision: Decision, solver: str, formulation: str
) -> None:
    best = least(decision)
    result = solve(decision, solver=solver, formulation=formulation)
    assert result.assignment is not None
    # with gamma < 1 HiGHS may return a solution within its tolerance of the best
    value = recheck(decision, result.assignment)
    assert float(value - best) <= (0 if decision.integral or solver == "cpsat" else 1e-4)
    assert result.value == (value if decision.integral else float(value))
    assert result.bound is not None
    assert result.bound <= float(best)
    assert result.absolute_gap is not None
    assert result.absolute_gap <= 1e-3
    exact_proof = decision.integral or solver == "cpsat" or best == 0
    assert result.status == ("optimal" if exact_proof else result.status)
    assert result.status in ("optimal", "optimal_within_gap")


@settings(max_examples=60, deadline=None)
@given(decision=decisions())
def test_the_enumeration_is_complete_and_has_no_repetition(decision: Decision) -> None:
    found = list(assignments(decision))
    assert len(set(found)) == len(found)
    # every request, one worker or none: the maximal among all of them
    everything = [()]
    for request in range(decision.waiting):
        everything = [
            pairs + extra
            for pairs in everything
            for extra in [(), *(((request, g),) for g in range(decision.workers))]
        ]
    free = decision.free_slots.tolist()
    expected = {
        pairs
        for pairs in everything
        if len(pairs) == decision.admissions
        and all(sum(g == w for _, g in pairs) <= free[w] for w in range(decision.workers))
    }
    assert set(found) == expected
