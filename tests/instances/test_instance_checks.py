"""Every field is checked when built: the message names field, index and what was expected."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.instances import Cluster, Decision, PowerModel, StepTime, Trace

NAN, INF = float("nan"), float("inf")

TRACE = {
    "prompt_tokens": [3, 4, 5],
    "decode_tokens": [1, 2, 3],
    "arrival_s": [0.0, 0.5, 0.5],
    "release_iteration": [1, 1, 4],
    "key": [-1, 0, 7],
}
DECISION = {
    "projected_load_tokens": [[4, 3], [1, 0]],
    "free_slots": [1, 0],
    "waiting_prompt_tokens": [2, 9],
}

BAD_TRACES = [
    ("prompt_tokens", [3, 0, 5], r"prompt_tokens\[1\] = 0 must be >= 1"),
    ("prompt_tokens", [3, 4, -5], r"prompt_tokens\[2\] = -5 must be >= 1"),
    ("prompt_tokens", [3, NAN, 5], r"prompt_tokens\[1\] = nan must be a finite number"),
    ("prompt_tokens", [INF, 4, 5], r"prompt_tokens\[0\] = inf must be a finite number"),
    ("prompt_tokens", [3, 4.5, 5], r"prompt_tokens\[1\] = 4.5 must be a whole number of tokens"),
    ("prompt_tokens", [3, 2**60, 5], r"prompt_tokens\[1\] = .* of at most 2\^53"),
    ("prompt_tokens", ["3", "4", "5"], "prompt_tokens must hold numbers"),
    ("prompt_tokens", [True, True, True], "prompt_tokens must hold numbers"),
    ("prompt_tokens", [3, None, 5], r"prompt_tokens must hold numbers, got None at \[1\]"),
    ("prompt_tokens", [1j, 2, 3], "prompt_tokens must hold numbers"),
    ("prompt_tokens", [[3, 4, 5]], r"prompt_tokens must be one-dimensional, got shape \(1, 3\)"),
    ("prompt_tokens", [[3], [4, 5]], "prompt_tokens must be rectangular"),
    ("decode_tokens", [1, 2], "decode_tokens must have 3 entries, got 2"),
    ("decode_tokens", [1, 0, 3], r"decode_tokens\[1\] = 0 must be >= 1"),
    ("decode_tokens", [1, 2, 0.5], r"decode_tokens\[2\] = 0.5 must be a whole number"),
    ("arrival_s", [0.0, 0.5], r"arrival_s must have 3 entries, got shape \(2,\)"),
    ("arrival_s", [0.0, NAN, 1.0], r"arrival_s\[1\] = nan must be a finite number"),
    ("arrival_s", [0.0, 1.0, INF], r"arrival_s\[2\] = inf must be a finite number"),
    ("arrival_s", [-1.0, 0.0, 1.0], r"arrival_s\[0\] = -1.0 must be >= 0; rebase the times"),
    ("arrival_s", [0.0, 2.0, 1.5], r"arrival_s\[2\] = 1.5 is before arrival_s\[1\] = 2.0"),
    ("arrival_s", [[0.0], [1.0, 2.0]], "arrival_s must be rectangular"),
    ("release_iteration", [0, 1, 2], r"release_iteration\[0\] = 0 must be >= 1"),
    ("release_iteration", [1, 3, 2], r"release_iteration\[2\] = 2 is before .*\[1\] = 3"),
    ("key", [1, 2], "key must have 3 entries, got 2"),
    ("key", [1, 2.5, 3], r"key\[1\] = 2.5 must be a whole number"),
]

BAD_DECISIONS = [
    ("projected_load_tokens", [[4, -3], [1, 0]], r"projected_load_tokens\[0, 1\] = -3 .*>= 0"),
    ("projected_load_tokens", [[4, 3], [NAN, 0]], r"projected_load_tokens\[1, 0\] = nan"),
    ("projected_load_tokens", [[4, 3], [1]], "projected_load_tokens must be rectangular"),
    ("projected_load_tokens", [4, 3], r"must have 2 dimension\(s\), got shape \(2,\)"),
    ("projected_load_tokens", [], "needs at least one worker and offset 0"),
    ("projected_load_tokens", [[], []], "needs at least one worker and offset 0"),
    ("free_slots", [1, -1], r"free_slots\[1\] = -1 must be >= 0"),
    ("free_slots", [1, 0.5], r"free_slots\[1\] = 0.5 must be a whole number"),
    ("free_slots", [1], "free_slots must have 2 entries, got 1"),
    ("free_slots", [1, INF], r"free_slots\[1\] = inf must be a finite number"),
    ("waiting_prompt_tokens", [2, 0], r"waiting_prompt_tokens\[1\] = 0 must be > 0"),
    ("waiting_prompt_tokens", [-2, 1], r"waiting_prompt_tokens\[0\] = -2 must be >= 0"),
    ("waiting_prompt_tokens", [2, INF], r"waiting_prompt_tokens\[1\] = inf must be a finite"),
    ("waiting_prompt_tokens", [[2, 9]], r"must have 1 dimension\(s\), got shape \(1, 2\)"),
    ("gamma", 0, r"gamma = 0 must lie in \(0, 1\]"),
    ("gamma", -0.5, r"gamma = -0.5 must lie in \(0, 1\]"),
    ("gamma", "1.0001", r"gamma = 1.0001 must lie in \(0, 1\]"),
    ("gamma", NAN, r"gamma = nan must be a number in \(0, 1\]"),
    ("gamma", INF, r"gamma = inf must be a number in \(0, 1\]"),
    ("gamma", "1/0", r"gamma = '1/0' must be a number in \(0, 1\]"),
    ("gamma", None, r"gamma = None must be a number in \(0, 1\]"),
    ("growth", "shrinking", "unknown growth 'shrinking'; known: frozen, growing"),
]


@pytest.mark.parametrize(("field", "value", "message"), BAD_TRACES)
def test_a_bad_trace_is_refused_when_built_and_when_replaced(field, value, message) -> None:
    """Catches a check that is missing, names the wrong row, or that replace() walks around."""
    with pytest.raises(InputError, match=message):
        Trace(**{**TRACE, field: value})
    with pytest.raises(InputError, match=message):
        Trace(**TRACE).replace(**{field: value})


@pytest.mark.parametrize(("field", "value", "message"), BAD_DECISIONS)
def test_a_bad_decision_is_refused_when_built_and_when_replaced(field, value, message) -> None:
    """Catches a check that is missing, names the wrong entry, or that replace() walks around."""
    with pytest.raises(InputError, match=message):
        Decision(**{**DECISION, field: value})
    with pytest.raises(InputError, match=message):
        Decision(**DECISION).replace(**{field: value})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cluster([]), "slots must name at least one worker"),
        (lambda: Cluster([2, 0]), r"slots\[1\] = 0 must be >= 1"),
        (lambda: Cluster([2, 1.5]), r"slots\[1\] = 1.5 must be a whole number"),
        (lambda: Cluster([2, 2], kv_tokens=[5]), "kv_tokens must have 2 entries, got 1"),
        (lambda: Cluster([2], kv_tokens=[0]), r"kv_tokens\[0\] = 0 must be >= 1"),
        (lambda: Cluster([2]).replace(slots=[-1]), r"slots\[0\] = -1 must be >= 1"),
        (lambda: Cluster.homogeneous(0, 4), "workers = 0 must be >= 1"),
        (lambda: Cluster.homogeneous(10**12, 4), "workers = 1000000000000: would need 32,000 GB"),
        (lambda: Cluster.homogeneous(10**400, 4), "workers = 1000.*: would need billions of GB"),
        (lambda: Cluster.homogeneous(2, 2**30), "slots add up to 2147483648; the largest sum is"),
        (lambda: Cluster.homogeneous(2, 10**400), "must be at most 134217728|slots.* at most 2.53"),
        (lambda: Cluster.homogeneous(2, 2, kv_tokens=10**400), "kv_tokens.* at most 2.53"),
        (lambda: Cluster.homogeneous(2, 2, kv_tokens=True), "kv_tokens must hold numbers"),
        (lambda: StepTime.preset("balance-authors", 10**400), "slots = 1000.* must be at most"),
        (lambda: StepTime(True, 1.0), "fixed_s = True must be finite"),
        (lambda: StepTime(10**400, 1.0), "fixed_s = 1000.* must be finite"),
        (lambda: Cluster.homogeneous(2, 0), r"slots\[0\] = 0 must be >= 1"),
        (lambda: StepTime(-1.0, 1.0), "fixed_s = -1.0 must be finite and >= 0"),
        (lambda: StepTime(1.0, NAN), "per_token_s = nan must be finite and >= 0"),
        (lambda: StepTime("1", 1.0), "fixed_s = '1' must be finite and >= 0"),
        (lambda: StepTime(1.0, 1.0, INF), "per_slot_s = inf must be finite and >= 0"),
        (lambda: StepTime(1.0, 1.0, 0.0, -2.0), "shared_per_token_s = -2.0 must be finite"),
        (lambda: StepTime(0.0, 0.0, 1.0), "must not both be 0: steps would take no time"),
        (lambda: PowerModel(idle_w=-1.0), "idle_w = -1.0 must be finite and >= 0"),
        (lambda: PowerModel(100.0, 99.0), "peak_w = 99.0 must be >= idle_w = 100.0"),
        (lambda: PowerModel(100.0, NAN), "peak_w = nan must be"),
        (lambda: PowerModel(100.0, INF), "peak_w = inf must be finite"),
        (lambda: PowerModel(exponent=0.0), "exponent = 0.0 must be finite and > 0"),
    ],
)
def test_a_bad_cluster_is_refused(make, message) -> None:
    """Regression: an infinite peak power gave an infinite energy."""
    with pytest.raises(InputError, match=message):
        make()


def test_an_unknown_step_time_lists_the_known_ones() -> None:
    """Catches a typo that falls back to some preset."""
    with pytest.raises(InputError, match="unknown step-time preset 'llama-3-8b'") as caught:
        StepTime.preset("llama-3-8b")
    assert all(name in str(caught.value) for name in StepTime.preset_names())


@pytest.mark.parametrize("slots", [1, 72, 256])
def test_the_balance_authors_step_time_has_their_numbers(slots) -> None:
    """(B * 0.6e-3 + 35e-3) / 16 s fixed, 1.5 * 2 * 576 * 61e-6 / 2^20 s per token."""
    preset = StepTime.preset("balance-authors", slots)
    assert preset.fixed_s == pytest.approx((slots * 0.0006 + 0.035) / 16)
    assert preset.per_token_s == pytest.approx(0.105408 / 1048576)
    assert preset.per_token_s == pytest.approx(1.0e-7, rel=0.01)
    assert (preset.per_slot_s, preset.shared_per_token_s) == (0.0, 0.0)
    assert Cluster.homogeneous(8, slots).step_time == preset


@pytest.mark.parametrize("name", [n for n in StepTime.preset_names() if n != "balance-authors"])
def test_a_measured_step_time_is_plausible(name) -> None:
    """A full A100 step (72 requests of 2,000 tokens) takes 10 to 100 ms; units slip by 1000."""
    preset = StepTime.preset(name)
    step_s = preset.fixed_s + 72 * preset.per_slot_s + 144_000 * preset.per_token_s
    assert 0.01 < step_s < 0.1


@pytest.mark.parametrize("field", list(TRACE))
def test_trace_columns_are_frozen_copies(field) -> None:
    """Catches results that change because the caller reuses an array."""
    given = {name: np.array(column) for name, column in TRACE.items()}
    trace = Trace(**given)
    given[field][:] = 99
    assert getattr(trace, field).tolist() == TRACE[field]
    with pytest.raises(ValueError, match="read-only"):
        getattr(trace, field)[0] = 1


@pytest.mark.parametrize("field", list(DECISION))
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_decision_arrays_are_frozen_copies(field, kind) -> None:
    """Catches a decision that changes after it was solved."""
    given = {name: np.array(values, kind) for name, values in DECISION.items()}
    decision = Decision(**given)
    given[field][:] = 99
    assert getattr(decision, field).tolist() == DECISION[field]
    with pytest.raises(ValueError, match="read-only"):
        getattr(decision, field)[0] = 1


def test_instances_are_frozen_and_whole_numbers_are_int64() -> None:
    """Catches fields set after the check, and tokens kept as floats."""
    decision = Decision([[4.0, 3.0]], [1.0], [2.0])
    assert decision.projected_load_tokens.dtype == decision.free_slots.dtype == np.int64
    assert Decision([[4.5, 3.0]], [1], [2]).projected_load_tokens.dtype == np.float64
    for instance, field in (
        (decision, "gamma"),
        (Trace([1], [1]), "name"),
        (Cluster([1]), "slots"),
    ):
        with pytest.raises(AttributeError):
            setattr(instance, field, 1)


def test_a_trace_is_cut_with_all_its_columns() -> None:
    """Catches a column that keeps its old rows."""
    part = Trace(**TRACE).take(np.array([False, True, True]))
    assert {name: getattr(part, name).tolist() for name in TRACE} == {
        name: column[1:] for name, column in TRACE.items()
    }
    assert len(Trace(**TRACE).head(2)) == 2
    assert len(Trace(**TRACE).head(9)) == 3


def test_admissions_and_the_myopic_view_of_a_decision() -> None:
    """U = min(waiting, free slots); H = 0 keeps column 0 alone and has no discount."""
    decision = Decision([[4, 3], [1, 0]], [2, 0], [2, 9, 1], gamma=Fraction(1, 3))
    assert (decision.admissions, decision.horizon, decision.integral) == (2, 1, False)
    myopic = decision.myopic()
    assert myopic.projected_load_tokens.tolist() == [[4], [1]]
    assert (myopic.horizon, myopic.gamma, myopic.integral) == (0, 1, True)


DOCUMENT = json.loads(Decision(**DECISION).to_json())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "olprouting/decision/2"}, "schema 'olprouting/decision/1', found 'olp.*/2'"),
        ({"horizon": -1}, "horizon = -1 must be an integer >= 0"),
        ({"horizon": 1.0}, "horizon = 1.0 must be an integer >= 0"),
        ({"horizon": True}, "horizon = True must be an integer >= 0"),
        ({"horizon": 2}, r"workers\[0\].projected_load_tokens must hold 3 numbers .*got 2"),
        ({"workers": []}, "workers must be a list of at least one worker"),
        ({"workers": [3]}, r"workers\[0\] must be an object"),
        ({"workers": [{"free_slots": 1}]}, r"workers\[0\] lacks projected_load_tokens"),
        (
            {"workers": [{"free_slots": 1, "projected_load_tokens": [1, 2], "kv": 3}]},
            r"workers\[0\] has unknown field\(s\) kv; expected free_slots",
        ),
        (
            {"workers": [{"free_slots": 1, "projected_load_tokens": ["1", "2"]}]},
            "projected_load_tokens must hold numbers",
        ),
        ({"waiting_prompt_tokens": [1, "x"]}, "waiting_prompt_tokens must hold numbers"),
        ({"waiting_prompt_tokens": None}, "waiting_prompt_tokens must hold numbers, got None"),
        ({"gamma": [1]}, "gamma = .1. must be a number"),
        ({"growth": 3}, "unknown growth '3'"),
        ({"colour": 3}, r"decision has unknown field\(s\) colour"),
    ],
)
def test_a_wrong_document_is_refused_with_its_source(change, message) -> None:
    """Catches a field that is ignored, or guessed, in silence."""
    text = json.dumps({**DOCUMENT, **change})
    with pytest.raises(InputError, match=f"^file.json: .*{message}"):
        Decision.from_json(text, "file.json")


@pytest.mark.parametrize("field", list(DOCUMENT))
def test_a_missing_field_is_named(field) -> None:
    """Catches a default that the writer never meant."""
    part = {name: value for name, value in DOCUMENT.items() if name != field}
    with pytest.raises(InputError, match="schema" if field == "schema" else f"lacks {field}"):
        Decision.from_json(json.dumps(part))


def test_text_that_is_not_json_is_placed() -> None:
    """Line and column, as any editor shows them."""
    with pytest.raises(InputError, match=r"d\.json: line 2, column 1: not JSON"):
        Decision.from_json('{"schema":\n', "d.json")
    with pytest.raises(InputError, match="expected a JSON object"):
        Decision.from_json("[]")
