"""Saved models: the same after loading, and refused when anybody has tampered with them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from learned_cases import random_model, random_trace

from olprouting.errors import InputError
from olprouting.forecasts import Queries
from olprouting.forecasts.learned import LearnedModel


@pytest.fixture(scope="module")
def document():
    return json.loads(random_model(2).to_json())


@pytest.mark.parametrize("seed", range(5))
def test_a_model_survives_its_file(tmp_path, seed) -> None:
    """Catches digits that get lost, or states that are not the same afterwards."""
    model, trace = random_model(seed), random_trace(30, seed)
    model.save(tmp_path / "model.json")
    again = LearnedModel.load(tmp_path / "model.json")
    assert again.to_json() == model.to_json()
    queries = Queries(np.arange(30), np.arange(30) * 9)
    for ours, theirs in zip(
        again.predict(trace, queries, 9), model.predict(trace, queries, 9), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def _set(path: str, value: object):
    def change(document: dict) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            document = document[parent]
        document[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("schema", "olprouting/learned/2"), "expected a JSON object with schema"),
        (_set("features", ["prompt_tokens"]), "features must be prompt_tokens, age_tokens"),
        (_set("horizon", 0), "horizon = 0 must be a whole number >= 1"),
        (_set("horizon", True), "horizon = True must be a whole number"),
        (_set("horizon", "80"), "horizon = '80' must be a whole number"),
        (_set("iterations_per_request", float("inf")), "Infinity is not a number"),
        (_set("iterations_per_request", 0), "iterations_per_request = 0"),
        (_set("iterations_per_request", 2**40), "must be <= 4294967296"),
        (_set("longest_decode_tokens", 1.5), "longest_decode_tokens = 1.5"),
        (_set("provenance", []), "provenance must be an object"),
        (_set("recent", None), "recent must be an object"),
        (_set("recent.prompt_tokens", []), "recent .* entries"),
        (_set("recent.decode_tokens", [1]), "recent decode_tokens must have 5 entries, got 1"),
        (_set("recent.completions", -1), "completions = -1"),
        (_set("recent.completions", 2**70), "completions = "),
        (_set("recent.ewma_weight", 0), "ewma_weight = 0"),
        (_set("recent.ewma_decode_tokens", None), "ewma_decode_tokens = None"),
        (_set("recent.hook", "os.system"), "recent has unknown field"),
        (_set("finish_log_odds", []), "finish_log_odds must be an object"),
        (_set("finish_log_odds.initial", None), "finish_log_odds: initial"),
        (_set("finish_log_odds.left", [0]), "finish_log_odds: left must have"),
        (_set("finisher_remaining.first", [0, 10**12]), "finisher_remaining: feature must have"),
        (_set("finisher_remaining.first", {"a": 1}), "finisher_remaining: first must hold numbers"),
        (_set("finisher_remaining.value", [[1.0]]), "finisher_remaining: value must have"),
        (_set("trees", 3), "unknown field.* trees"),
        (lambda document: document.pop("recent"), "model lacks recent"),
        (lambda document: document["finish_log_odds"].pop("left"), "finish_log_odds lacks left"),
    ],
)
def test_a_tampered_file_is_refused_in_one_line(document, tmp_path, change, message) -> None:
    """Whatever is wrong, it ends here and not in a kernel; nothing is ever executed."""
    tampered = json.loads(json.dumps(document))
    change(tampered)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(tampered))
    with pytest.raises(InputError, match=message) as caught:
        LearnedModel.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\x80\x04\x95", "is not UTF-8"),  # how a pickle begins
        (b"[1]", "expected a JSON object with schema"),
        (b"[" * 100_000, "nested too deeply|not JSON"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, content, message) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        LearnedModel.load(path)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"none.json: cannot read the model"):
        LearnedModel.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be written"):
        random_model(0).save(tmp_path / "no folder" / "model.json")


def test_a_file_too_large_for_a_model_is_not_read(tmp_path) -> None:
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(InputError, match="more than any model has"):
        LearnedModel.load(path)
