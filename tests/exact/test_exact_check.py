"""The referee: exact values by a second, plain computation, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_exact_agreement import decisions

from olprouting.errors import InputError
from olprouting.exact import assignments, objective, recheck, solve
from olprouting.instances import Decision, DecisionResult, Growth


def spelled_out(decision: Decision, assignment: tuple[tuple[int, int], ...]) -> Fraction:
    """The definition, one term at a time, in fractions."""
    total = Fraction(0)
    for h in range(decision.horizon + 1):
        loads = [Fraction(repr(v)) for v in decision.projected_load_tokens[:, h].tolist()]
        for request, worker in assignment:
            grown = h if decision.growth is Growth.GROWING else 0
            loads[worker] += Fraction(repr(decision.waiting_prompt_tokens[request].item())) + grown
        total += decision.gamma**h * (len(loads) * max(loads) - sum(loads))
    return total


@settings(max_examples=100, deadline=None)
@given(decision=decisions(), as_floats=st.booleans(), data=st.data())
def test_the_value_is_the_definition(
    decision: Decision, as_floats: bool, data: st.DataObject
) -> None:
    if as_floats:
        decision = decision.replace(projected_load_tokens=decision.projected_load_tokens * 0.1)
    assignment = data.draw(st.sampled_from(list(assignments(decision))))
    assert recheck(decision, assignment) == spelled_out(decision, assignment)


def test_numbers_beyond_64_bits_stay_exact() -> None:
    # 8 workers of 2^52 tokens plus requests: int64 sums are left behind with a fine unit
    loads = np.full((8, 1), 2.0**44) + np.arange(8)[:, None] * 0.0625
    decision = Decision(loads, [1] * 8, [0.1])
    assert recheck(decision, ((0, 0),)) == spelled_out(decision, ((0, 0),))


def test_integral_decisions_have_int_values(e2: Decision) -> None:
    assert isinstance(objective(e2, ((0, 2), (1, 1), (2, 2))), int)
    assert isinstance(objective(e2.replace(waiting_prompt_tokens=[5.5, 3, 3]), ()), Fraction)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (((0, 0), (1, 1), (3, 2)), "request 3 is not among the 3 waiting"),
        (((-1, 0), (1, 1), (2, 2)), "request -1 is not among"),
        (((0, 0), (1, 1), (2, 3)), "worker 3 is not among the 3 workers"),
        (((0, 0), (0, 1), (2, 2)), "request 0 is admitted more than once"),
        (((0, 0), (1, 0), (2, 2)), "worker 0 gets 2 requests, has 1 slots"),
        (((0, 0), (1, 1)), "2 requests are admitted, must be 3"),
    ],
)
def test_what_is_no_assignment_is_refused(
    e2: Decision, assignment: tuple[tuple[int, int], ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        recheck(e2, assignment)


def test_saved_and_loaded_the_recheck_agrees(e2: Decision) -> None:
    decision = e2.replace(gamma="0.86")
    result = DecisionResult.from_json(solve(decision).to_json())
    loaded = Decision.from_json(decision.to_json())
    assert result.assignment is not None
    assert recheck(loaded, result.assignment) == result.value
