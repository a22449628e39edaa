"""save -> load gives the same instance, whatever the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.errors import InputError
from olprouting.instances import Decision, DecisionResult, StopReason, absolute_gap, relative_gap

TOKENS = st.one_of(
    st.integers(1, 2**53 - 1), st.floats(1e-3, 1e9, allow_nan=False), st.integers(1, 9)
)


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    workers, window = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(TOKENS, min_size=window, max_size=window)
    return Decision(
        draw(st.lists(row, min_size=workers, max_size=workers)),
        draw(st.lists(st.integers(0, 9), min_size=workers, max_size=workers)),
        draw(st.lists(TOKENS, max_size=6)),
        gamma=draw(
            st.one_of(
                st.fractions(Fraction(1, 10**6), 1).filter(lambda gamma: gamma > 0),
                st.floats(1e-9, 1.0),
                st.sampled_from(["0.86", "1/3", "1", "0.64"]),
            )
        ),
        growth=draw(st.sampled_from(["growing", "frozen"])),
    )


@settings(max_examples=300, deadline=None)
@given(decisions())
def test_a_decision_survives_json(decision) -> None:
    """Catches digits, shapes, number kinds, or a gamma that comes back as the nearest double."""
    again = Decision.from_json(decision.to_json())
    for field in ("projected_load_tokens", "free_slots", "waiting_prompt_tokens"):
        ours, theirs = getattr(again, field), getattr(decision, field)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert again.gamma == decision.gamma
    assert again.growth == decision.growth
    assert again.to_json() == decision.to_json()


@pytest.mark.parametrize(
    ("given_as", "exact"),
    [
        (0.86, Fraction(43, 50)),
        ("0.86", Fraction(43, 50)),
        (Fraction(43, 50), Fraction(43, 50)),
        ("1/3", Fraction(1, 3)),
        (np.float64(0.5), Fraction(1, 2)),
        (1, Fraction(1)),
    ],
)
def test_gamma_is_the_fraction_it_was_written_as(given_as, exact) -> None:
    """0.86 means 43/50, not 0.85999999999999998667732370449812151491641998291015625."""
    assert Decision([[1]], [1], [1], gamma=given_as).gamma == exact


RESULT = DecisionResult(
    solver="highs",
    formulation="size-class",
    stop_reason=StopReason.TIME_LIMIT,
    solution=((0, 1), (2, 0)),
    value=0.1 + 0.2,
    bound=1 / 7,
    wall_s=1.25,
    build_s=1e-9,
    limit_s=2.0,
    threads=3,
    seed=5,
    warm_start="accepted",
    message="Time limit",
)


@pytest.mark.parametrize(
    "result",
    [
        RESULT,
        replace(RESULT, solution=(), value=0, bound=0, stop_reason=StopReason.OPTIMAL),
        replace(RESULT, solution=None, value=None, bound=None, limit_s=None),
        replace(RESULT, value=2**60 + 1, warm_start=None),
    ],
    ids=["full", "empty", "nothing", "large"],
)
def test_a_solve_result_survives_json(result) -> None:
    """Catches None that becomes 0, pairs that become lists, and integers that become doubles."""
    again = DecisionResult.from_json(result.to_json())
    assert again == result
    assert isinstance(again.stop_reason, StopReason)
    document = json.loads(result.to_json())
    assert document["status"] == result.status
    assert document["absolute_gap"] == result.absolute_gap


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"schema": "olprouting/solve-result/9"}',
        '{"schema": "olprouting/solve-result/1"}',
        RESULT.to_json().replace('"time_limit"', '"bored"'),
        RESULT.to_json().replace("[0, 1]", "[0]"),
    ],
)
def test_a_wrong_result_document_is_refused(text) -> None:
    """Catches a raw error of Python's, or a half-read result."""
    with pytest.raises(InputError, match=r"^r.json: "):
        DecisionResult.from_json(text, "r.json")


@pytest.mark.parametrize(
    ("incumbent", "bound", "absolute", "relative"),
    [
        (0, 0, 0.0, 0.0),
        (1, 0, 1.0, 1.0),
        (20_000, 19_999, 1.0, 1 / 20_000),
        (Fraction(1, 3), Fraction(1, 3), 0.0, 0.0),
        (None, 3, None, None),
        (3, None, None, None),
    ],
)
def test_gaps_follow_one_convention(incumbent, bound, absolute, relative) -> None:
    """0/0 is 0, a missing side is None: never NaN, infinity, or a closed gap by accident."""
    assert absolute_gap(incumbent, bound) == absolute
    close = relative if relative is None else pytest.approx(relative, rel=1e-15)
    assert relative_gap(incumbent, bound) == close


def test_a_maximisation_has_its_bound_above() -> None:
    """Nothing found, bound 1; and the other way round a contradiction, which keeps its sign."""
    assert absolute_gap(0, 1, maximise=True) == 1
    assert relative_gap(0, 1, maximise=True) == pytest.approx(1e9, rel=1e-15)
    assert absolute_gap(0, 1) == -1


@pytest.mark.parametrize("stop", [StopReason.TIME_LIMIT, StopReason.NODE_LIMIT])
def test_a_limit_without_a_solution_says_so(stop) -> None:
    """A limit with nothing found must not read like a limit with an incumbent."""
    assert replace(RESULT, stop_reason=stop).status == str(stop)
    nothing = replace(RESULT, stop_reason=stop, solution=None, value=None)
    assert (nothing.status, nothing.absolute_gap) == ("limit_no_solution", None)
    assert not nothing.proven
