"""The types of the batch/KV model: their checks, JSON, the reward and the curves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from period_cases import e3, random_period

from olprouting.errors import InputError
from olprouting.instances import WEIGHT_SETS, Batching, PeriodProblem, PeriodResult, SloWeights
from olprouting.instances.request_curves import active_periods, is_active, kv_tokens_at
from olprouting.instances.reward import reward

ONES = SloWeights(1, 1, 1, 1, 1, 1)


def test_the_published_weight_sets_keep_their_order() -> None:
    assert list(WEIGHT_SETS.values())[1] == SloWeights(1 / 27, 1 / 2048, 1 / 2048, 5, 1, 1)
    assert len(WEIGHT_SETS) == 7
    assert SloWeights.preset("throughput-only") == SloWeights(1, 0, 0, 1, 0, 0)
    with pytest.raises(InputError, match=r"unknown weight set 'tail'.*Did you mean"):
        SloWeights.preset("tail")


@pytest.mark.parametrize(
    ("batching", "expected"),
    [
        # T=10, k=4, o=3, t=2: 3 tokens, (10-6)=4 saved, 7 first-token periods, 1 query,
        # 4+3-2=5 < 6 and 4-2=2 < 3 count
        ("decode", 3 + 4 + 7 + 1 + 1 + 1),
        # k becomes 5: 3, 3, 6, 1, and 6 < 6 and 3 < 3 do not count
        ("mixed", 3 + 3 + 6 + 1),
    ],
)
def test_the_reward_by_hand(batching: str, expected: float) -> None:
    # a shift of only some terms under PD-mixing, or indicators that are not strict, show here
    got = reward(ONES, 3, 2, start_period=4, periods=10, t1=6, t2=3, batching=batching)
    assert got == expected


def test_inclusive_thresholds_count_equality() -> None:
    strict = reward(ONES, 3, 2, start_period=4, periods=10, t1=5, t2=2)
    loose = reward(ONES, 3, 2, start_period=4, periods=10, t1=5, t2=2, inclusive=True)
    assert loose == strict + 2


def test_the_reward_is_cut_at_the_last_period() -> None:
    # admitted at T: one token at most; nothing negative from (T-(k+o-1))+
    only_tokens = SloWeights(1, 1, 0, 0, 0, 0)
    options: dict[str, Any] = {"periods": 10, "t1": 0, "t2": 0}
    assert reward(only_tokens, 50, 0, start_period=10, **options) == 1
    assert reward(only_tokens, 50, 0, start_period=10, batching="mixed", **options) == 0


def test_the_curves_by_hand() -> None:
    ages = np.arange(-1, 5)
    # decode: s+1, s+2, s+3 at ages 0..2; mixed: the prefill step holds s, then s+1, s+2, s+3
    assert kv_tokens_at(ages, 10, 3, "decode").tolist() == [0, 11, 12, 13, 0, 0]
    assert kv_tokens_at(ages, 10, 3, "mixed").tolist() == [0, 10, 11, 12, 13, 0]
    assert kv_tokens_at(ages, 10, 3, "decode", age_offset=0).tolist() == [0, 10, 11, 12, 0, 0]
    assert active_periods(3, Batching.MIXED) == 4
    assert is_active(ages[:, None], np.array([1, 3]), "decode").sum(axis=0).tolist() == [1, 3]


@pytest.mark.parametrize("batching", ["decode", "mixed"])
def test_json_keeps_everything(batching: str) -> None:
    problem = random_period(7, batching=batching).replace(inclusive=True, age_offset=2)
    again = PeriodProblem.from_json(problem.to_json())
    assert again.to_json() == problem.to_json()
    assert (again.inclusive, again.age_offset, again.clipped) == (True, 2, problem.clipped)
    assert (again.slots == problem.slots).all()


def test_the_document_has_exactly_the_published_fields() -> None:
    document = json.loads(e3().to_json())
    assert list(document) == [
        "schema", "period", "periods", "batching", "weights", "t1", "t2", "workers", "requests"
    ]  # fmt: skip
    assert document["schema"] == "olprouting/period/1"
    assert document["workers"] == [{"slots": [10], "kv_tokens": [48]}]
    assert document["requests"][0] == {"prompt_tokens": 5, "decode_tokens": 3, "arrival_period": 1}


def test_negative_residuals_become_zero_and_are_counted() -> None:
    # a worker fuller than was predicted would make the LP infeasible
    problem = e3().replace(slots=[[-3]], kv_tokens=[[-1]])
    assert (problem.slots[0, 0], problem.kv_tokens[0, 0], problem.clipped) == (0, 0, 2)
    assert problem.replace(t1=7).clipped == 2
    assert PeriodProblem.from_json(problem.to_json()).clipped == 2


def test_arrays_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        e3().slots[0, 0] = 1


REJECTED: list[tuple[dict[str, Any], str]] = [
    ({"periods": 0}, "periods = 0 must be an integer >= 1"),
    ({"period": 0}, "period = 0 must be an integer >= 1"),
    ({"period": 2}, "period = 2 must be at most periods = 1"),
    ({"period": 1.0}, "period = 1.0 must be an integer"),
    ({"period": True}, "period = True must be an integer"),
    ({"t1": 0.5}, "t1 = 0.5 must be a finite number of periods >= 1"),
    ({"t2": float("nan")}, "t2 = nan must be a finite"),
    ({"t2": "soon"}, "t2 = 'soon' must be a finite number"),
    ({"batching": "prefill"}, "unknown batching 'prefill'; known: decode, mixed"),
    ({"weights": {"alpha": 1}}, "must be SloWeights"),
    ({"inclusive": 1}, "inclusive = 1 must be true or false"),
    ({"age_offset": -1}, "age_offset = -1 must be an integer >= 0"),
    ({"slots": [[10, 9]]}, r"slots must have 1 entries per worker.*1\.\.1; got 2"),
    ({"slots": []}, "slots needs at least one worker"),
    ({"slots": [[1.5]]}, r"slots\[0, 0\] = 1.5 must be a whole number"),
    ({"slots": [[float("nan")]]}, r"slots\[0, 0\] = nan must be a finite number"),
    ({"slots": [[1], [2]]}, "slots has 2 workers and kv_tokens 1"),
    ({"kv_tokens": [[1], [2, 3]]}, "kv_tokens must be rectangular"),
    ({"prompt_tokens": [-1] * 40}, r"prompt_tokens\[0\] = -1 must be >= 0"),
    ({"decode_tokens": [0] * 40}, r"decode_tokens\[0\] = 0 must be >= 1"),
    ({"decode_tokens": [1] * 39}, "decode_tokens must have 40 entries, got 39"),
    ({"arrival_period": [1] * 39 + [2]}, r"arrival_period\[39\] = 2 must be at most the period 1"),
]


@pytest.mark.parametrize(("changes", "message"), REJECTED)
def test_wrong_fields_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        e3().replace(**changes)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "1", True])
def test_a_wrong_weight_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=r"weight beta = .* must be a finite number >= 0"):
        SloWeights(0, value, 0, 0, 0, 0)


def _changed(path: list[Any], value: Any) -> str:
    document = json.loads(e3().to_json())
    place = document
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document)


REJECTED_DOCUMENTS: list[tuple[str, str]] = [
    ("{", "file: line 1, column 2: not JSON"),
    ("[]", "expected a JSON object with schema 'olprouting/period/1', found None"),
    (_changed(["schema"], "olprouting/decision/1"), "found 'olprouting/decision/1'"),
    (_changed(["periods"], None), "period problem lacks periods"),
    (_changed(["colour"], 1), "unknown field.s. colour"),
    (_changed(["workers"], {}), "workers must be a list of objects"),
    (_changed(["workers", 0, "slots"], [1, 2]), "slots must have 1 entries per worker"),
    (_changed(["workers"], [{"slots": [1], "kv_tokens": 3}]), r"workers\[0\].kv_tokens must hold"),
    (
        _changed(["workers"], [{"slots": [1], "kv_tokens": [1]}, {"slots": [], "kv_tokens": [1]}]),
        r"workers\[1\].slots must hold one number for each of the periods 1..1, got 0",
    ),
    (_changed(["requests", 3], 7), r"requests\[3\] must be an object"),
    (_changed(["requests", 3, "prompt_tokens"], None), r"requests\[3\] lacks prompt_tokens"),
    (_changed(["weights", "beta"], None), "weights must be an object of alpha, beta"),
    (_changed(["weights", "beta"], -1), "weight beta = -1 must be"),
    (_changed(["requests", 0, "decode_tokens"], "x"), "decode_tokens must hold numbers"),
]


@pytest.mark.parametrize(("text", "message"), REJECTED_DOCUMENTS)
def test_wrong_documents_are_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PeriodProblem.from_json(text, source="file")


def test_a_wrong_result_document_is_refused() -> None:
    for text in ("{", "[]", '{"schema": "olprouting/period-result/1"}', '{"schema": "x"}'):
        with pytest.raises(InputError):
            PeriodResult.from_json(text)
