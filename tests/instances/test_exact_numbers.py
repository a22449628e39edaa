"""Whole numbers are kept to the last unit or refused, and sums stay within int64."""

from __future__ import annotations

import json

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.instances import Cluster, Decision, DecisionResult, PeriodProblem, Trace
from olprouting.instances.period_result import PeriodResult
from olprouting.library import load_instance

EXACT = 2**53


def decision(load="10", free="1", size="2", gamma="1.0") -> str:
    return (
        f'{{"schema": "olprouting/decision/1", "horizon": 0, "gamma": {gamma}, "growth": '
        f'"growing", "workers": [{{"projected_load_tokens": [{load}], "free_slots": {free}}}, '
        f'{{"projected_load_tokens": [4], "free_slots": 2}}], "waiting_prompt_tokens": '
        f"[2, {size}, 4]}}"
    )


@pytest.mark.parametrize("number", [EXACT - 1, EXACT, EXACT + 1, 2**60 + 1])
def test_whole_numbers_of_a_decision_are_kept_to_the_unit(number) -> None:
    """Catches 2^53 + 1 that becomes 2^53, and 2^53 that is taken for a fraction."""
    read = Decision.from_json(decision(load=str(number), size=str(number)))
    assert read.projected_load_tokens[0, 0] == number
    assert read.waiting_prompt_tokens[1] == number
    assert read.waiting_prompt_tokens.dtype == np.int64
    assert Decision.from_json(read.to_json()).waiting_prompt_tokens[1] == number


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": "9007199254740992.0"}, r"waiting_prompt_tokens\[1\] = 9007199254740992.0 .* 2\^"),
        ({"size": "9007199254740993.0"}, r"waiting_prompt_tokens\[1\] = 9007199254740992.0 .* 2\^"),
        ({"load": "1e300"}, r"projected_load_tokens\[0, 0\] = 1e\+300 must be a finite number"),
        ({"size": "9007199254740993, 0.5"}, r"waiting_prompt_tokens\[1\] = 9007199254740993 must"),
        ({"size": str(2**62 + 1)}, r"waiting_prompt_tokens\[1\] = 4611.* of at most 2\^62"),
        ({"load": "9" * 400}, r"projected_load_tokens\[0, 0\] = 99.*\.\.\..* of at most 2\^62"),
        (
            {"size": str(2**62)},
            r".* imbalance of 9223.*; the largest allowed is 92233720",
        ),
        ({"size": "true"}, r"waiting_prompt_tokens must hold numbers, got True at \[1\]"),
        ({"load": "false"}, r"projected_load_tokens must hold numbers, got False at \[0, 0\]"),
        ({"free": "true"}, r"free_slots must hold numbers, got True at \[0\]"),
        ({"free": str(EXACT + 1)}, r"free_slots\[0\] = 9007199254740993 must be .* 2\^53"),
        ({"gamma": "true"}, "gamma = True must be a number"),
        ({"gamma": '"1e-999999999"'}, "gamma = '1e-999999999' must be a number"),
        ({"gamma": "1" * 400}, r"gamma = 1111.*\.\.\..* must be a number"),
        ({"gamma": '" 1/2"'}, "gamma = ' 1/2' must be a number"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused(change, message) -> None:
    """Catches rounding, booleans as numbers, overflow, and exponents of a billion digits."""
    with pytest.raises(InputError, match=f"^d.json: {message}") as caught:
        Decision.from_json(decision(**change), "d.json")
    assert len(str(caught.value)) < 300


def test_a_decision_at_the_edge_of_int64_is_still_accepted() -> None:
    """Catches a limit that counts requests that cannot all be admitted."""
    size = (2**63 - 1) // 2 - 10
    crowded = Decision([[10], [4]], [1, 0], [size, size, size])
    assert crowded.waiting_prompt_tokens.tolist() == [size] * 3
    with pytest.raises(InputError, match="largest allowed"):
        crowded.replace(free_slots=[1, 1])


def test_numbers_of_numpy_keep_their_kind() -> None:
    """Catches arrays that are rounded on the way, and doubles too large to be sure of."""
    big = np.array([EXACT + 1], np.int64)
    assert Decision([[1]], [1], big).waiting_prompt_tokens[0] == EXACT + 1
    assert Decision([[1]], [1], [np.int64(EXACT + 1)]).waiting_prompt_tokens[0] == EXACT + 1
    for bad in (np.array([2.0**53]), [np.float64(2.0**53)], np.array([2**63], np.uint64)):
        with pytest.raises(InputError, match="must be a finite number"):
            Decision([[1]], [1], bad)
    for bad in (np.array([True]), [np.True_]):
        with pytest.raises(InputError, match="must hold numbers, got True"):
            Decision([[1]], [1], bad)


def test_sums_that_leave_int64_are_refused_and_keys_may_be_any() -> None:
    """Catches a total that wraps to a negative number; a key is only an identity."""
    many = np.full(1024, EXACT, np.int64)
    with pytest.raises(InputError, match="prompt_tokens add up to 9223372036854775808"):
        Trace(many, np.ones(1024))
    with pytest.raises(InputError, match=r"free_slots add up to .*; the largest sum is"):
        Decision(np.zeros((1024, 1)), many, [1])
    with pytest.raises(InputError, match="slots add up to"):
        Cluster(many)
    with pytest.raises(InputError, match="kv_tokens add up to"):
        Cluster(np.ones(1024), kv_tokens=many)
    keys = [-(2**63), 2**63 - 1]
    assert Trace([1, 1], [1, 1], key=keys).key.tolist() == keys


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("weights", "alpha"), 1e308, "weights: the rewards of all requests add up to"),
        (("weights", "sigma"), 2.0**53, "weights: the rewards .* must stay below 2.53"),
        (("weights", "sigma"), True, "weight sigma = True must be a finite number"),
        (("weights",), [1, 2], "weights must be an object"),
        (("t1",), 10**400, "t1 = 1000.* must be a finite number"),
        (("t2",), True, "t2 = True must be a finite number"),
        (("periods",), 2**70, "periods = 1180591620717411303424 must be at most"),
        (("age_offset",), 2**60, "age_offset = 1152921504606846976 must be at most"),
        (("batching",), ["decode"], "unknown batching"),
        (("inclusive",), 1, "inclusive = 1 must be true or false"),
        (("workers",), {}, "workers must be a list"),
        (("workers", 0), None, r"workers\[0\] must be an object"),
        (("workers", 0, "slots", 0), True, "slots must hold numbers, got True"),
        (("requests", 0, "prompt_tokens"), EXACT + 1, "prompt_tokens.* at most 2.53"),
        (("requests", 0, "decode_tokens"), [1], "decode_tokens must"),
    ],
)
def test_a_hostile_period_is_refused_in_one_line(path, value, message) -> None:
    """Catches overflow to infinity in the rewards, and a wrong type at any depth."""
    document = load_instance("e3").to_document()
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(InputError, match=f"^p.json: .*{message}") as caught:
        PeriodProblem.from_json(json.dumps(document), "p.json")
    assert len(str(caught.value)) < 300


RESULT = {
    "schema": "olprouting/solve-result/1", "solver": "s", "formulation": "f",
    "stop_reason": "optimal", "assignment": [[0, 0]], "objective": 1, "bound": 1, "wall_s": 0.5,
    "build_s": 0.5, "limit_s": None, "threads": 1, "seed": 0, "warm_start": None, "message": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": "1"}, "objective = '1' must be a finite number"),
        ({"bound": True}, "bound = True must be a finite number"),
        ({"solver": None}, "solver = None must be text"),
        ({"assignment": [[0.5, 0]]}, "assignment = 0.5 must be an integer"),
        ({"assignment": [[True, 0]]}, "assignment = True must be an integer"),
        ({"assignment": 3}, "not a olprouting/solve-result/1 document"),
        ({"stop_reason": []}, "not a olprouting/solve-result/1 document"),
        ({"threads": -1}, "threads = -1 must be an integer"),
        ({"surplus": 1}, r"result has unknown field\(s\) surplus"),
        ({"objectives": 1}, "Did you mean 'objective'|unknown field"),
    ],
)
def test_a_hostile_result_is_refused_in_one_line(change, message) -> None:
    """Catches text, booleans and halves that pass as numbers, and fields that nobody reads."""
    assert DecisionResult.from_json(json.dumps(RESULT)).value == 1
    with pytest.raises(InputError, match=f"^r.json: .*{message}"):
        DecisionResult.from_json(json.dumps(RESULT | change), "r.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "1"}, "value = '1' must be a finite number"),
        ({"x": [[True, 0.0]]}, "x must hold numbers, got True"),
        ({"x": [["1", 0.0]]}, "x must hold numbers"),
        ({"oversize": [0.5]}, "oversize = 0.5 must be an integer"),
        ({"priced": {"batch": []}}, "priced lacks"),
        ({"surplus": 1}, r"result has unknown field\(s\) surplus"),
    ],
)
def test_a_hostile_period_result_is_refused_in_one_line(change, message) -> None:
    """Catches the same in the results of periods, which hold arrays."""
    from olprouting.exact import solve

    good = json.loads(solve(load_instance("e3")).to_json())
    assert PeriodResult.from_json(json.dumps(good)).value == good["value"]
    with pytest.raises(InputError, match=f"^r.json: .*{message}"):
        PeriodResult.from_json(json.dumps(good | change), "r.json")
