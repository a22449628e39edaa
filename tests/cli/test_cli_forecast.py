"""`olprouting forecast` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import olprouting

from olprouting.forecasts.learned import LearnedModel

if TYPE_CHECKING:
    import subprocess


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return olprouting("forecast", *arguments)


def test_a_model_is_trained_saved_and_judged_beside_the_others(tmp_path):
    model = tmp_path / "models" / "model.json"
    small = ("--requests", "60", "--horizon", "30")
    trained = run("train", *small, "--out", str(model))
    assert trained.returncode == 0, trained.stderr
    assert "trained on 60 requests of azure-2023-conv-like" in trained.stdout
    assert LearnedModel.load(model).horizon == 30
    out = tmp_path / "out"
    names = f"oracle,survival,learned:{model}"
    judged = run("evaluate", *small, "--forecasts", names, "--queries", "500", "--out", str(out))
    assert judged.returncode == 0, judged.stderr
    assert "30 requests train, 30 test, 500 queries, horizon 30" in judged.stdout
    for title in ("Accuracy", "by forecast probability", "by age"):
        assert title in judged.stdout
    assert judged.stdout.count("survival") == 3
    plain = run("evaluate", *small, "--forecasts", "noisy:0.2,exact-match", "--queries", "all")
    assert "…" not in plain.stdout  # what Rich does to cells that do not fit 80 columns
    assert (out / "forecasts.svg").exists()


def test_json_is_all_that_stands_on_stdout():
    done = run("evaluate", "--requests", "80", "--forecasts", "oracle, km", "--json")
    document = json.loads(done.stdout)
    assert [row["forecast"] for row in document["forecasts"]] == ["oracle", "km"]
    assert document["forecasts"][0]["auc"] == 1
    assert document["settings"]["horizon"] == 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "--forecasts", "survivl"], "unknown forecast 'survivl'"),
        (["evaluate", "--train-share", "1"], "must lie strictly between 0 and 1"),
        (["evaluate", "--queries", "some"], "--queries 'some': expected a number >= 1, or all"),
        (["evaluate", "--queries", "9" * 5000], "expected a number >= 1, or all"),
        (["evaluate", "--trace", "none.csv"], "none.csv"),
        (["evaluate", "--forecasts", "learned:none.json"], "none.json: cannot read the model"),
        (["train", "--requests", "9", "--out", "/dev/null/model.json"], "cannot write there"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
