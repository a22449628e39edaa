"""Accuracy of forecasters: what is measured, on which requests, and what is kept."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from olprouting.errors import InputError
from olprouting.forecast_report import evaluate_forecasts
from olprouting.forecast_report.quality import calibration_of, coverage_of, judge
from olprouting.forecasts import Predictions, Queries, Survival
from olprouting.forecasts.learned import TrainingOptions, train_learned
from olprouting.instances import Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    rng = np.random.default_rng(2)
    return Trace(rng.integers(1, 900, 400), rng.geometric(0.02, 400), name="geometric")


class Constant:
    """Says the same of every request, and notes what it was asked."""

    def __init__(self, probability: float = 0.25, interrupt: bool = False) -> None:
        self.probability = probability
        self.interrupt = interrupt
        self.asked: list[tuple[Trace, Queries]] = []

    @property
    def name(self) -> str:
        return f"constant:{self.probability}"

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        if self.interrupt:
            raise KeyboardInterrupt
        self.asked.append((trace, queries))
        p = np.full(len(queries.age), self.probability)
        return Predictions(p, np.full(len(p), 3.0), (1 - p) * (horizon + 1) + 3 * p)

    def covered(self, trace: Trace, queries: Queries) -> np.ndarray:
        return queries.age < 32


def test_measures_of_a_hand_case() -> None:
    """H = 10. r = 4 and 10 finish, 11 and 50 do not.

    Of the four pairs (finisher, other) of probabilities (0.9, 0.2) and (0.3, 0.2), two are in
    order and one is tied... 0.9 > 0.3, 0.9 > 0.2, 0.2 < 0.3, 0.2 = 0.2: AUC = 2.5 / 4.
    """
    answers = Predictions(
        np.array([0.9, 0.2, 0.3, 0.2]), np.array([5.0, 6.0, 1.0, 1.0]), np.array([5, 10, 9, 10.5])
    )
    quality = judge(
        "x",
        answers,
        np.array([True, True, False, True]),
        np.array([4, 10, 11, 50]),
        10,
        fit_s=1.0,
        predict_s=8e-6,
    )
    assert quality.auc == pytest.approx(2.5 / 4)
    assert quality.mae_finisher_tokens == pytest.approx((1 + 4) / 2)
    assert (quality.mae_queries, quality.mae_missing_share) == (2, 0)
    assert quality.finish_share == 0.5
    assert quality.mean_finish_probability == pytest.approx(0.4)
    # bins: 0.9 (observed 1), 0.2 twice (observed 1/2), 0.3 (observed 0)
    assert quality.calibration_error == pytest.approx((0.1 + 2 * 0.3 + 0.3) / 4)
    # truth min(r, 11) = 4, 10, 11, 11
    assert quality.bias_tokens == pytest.approx((1 + 0 - 2 - 0.5) / 4)
    assert quality.covered_share == 0.75
    assert quality.predict_us == pytest.approx(2)


def test_a_finisher_that_was_said_to_outlast_has_no_remaining_time_to_judge() -> None:
    """Catches errors counted against a value that is left open, or left out in silence."""
    nothing = Predictions(np.zeros(2), np.ones(2), np.full(2, 11.0))
    quality = judge("x", nothing, np.ones(2, bool), np.array([5, 20]), 10, fit_s=0, predict_s=0)
    assert quality.mae_finisher_tokens is None
    assert (quality.mae_queries, quality.mae_missing_share) == (0, 1)
    assert quality.auc == 0.5


@pytest.mark.parametrize(
    ("remaining", "note"), [([1, 2], "every request"), ([90, 91], "no request")]
)
def test_one_outcome_has_no_auc_and_a_reason(remaining, note) -> None:
    answers = Predictions(np.full(2, 0.5), np.ones(2), np.ones(2))
    quality = judge("x", answers, np.ones(2, bool), np.array(remaining), 80, fit_s=0, predict_s=0)
    assert quality.auc is None
    assert quality.auc_note.startswith(note)


def test_bins_hold_every_query_once() -> None:
    """Catches probabilities of exactly 1, or ages on an edge, that fall out of the curve."""
    probability = np.array([0.0, 0.05, 0.1, 0.95, 1.0])
    bins = calibration_of("x", probability, np.array([0, 1, 1, 1, 0], bool))
    assert [(b.from_probability, b.queries, b.observed_share) for b in bins] == [
        (0.0, 2, 0.5),
        (0.1, 1, 1.0),
        (0.9, 2, 0.5),
    ]
    ages = coverage_of("x", np.array([0, 15, 16, 31, 32, 64]), np.array([1, 0, 1, 1, 0, 1], bool))
    assert [(b.from_age_tokens, b.to_age_tokens, b.queries, b.covered_share) for b in ages] == [
        (0, 16, 2, 0.5),
        (16, 32, 2, 1.0),
        (32, 64, 1, 0.0),
        (64, 128, 1, 1.0),
    ]


def test_the_first_requests_train_and_the_others_are_asked_about(trace) -> None:
    """Catches a shuffled split, and questions about completed requests."""
    constant = Constant()
    report = evaluate_forecasts(trace, [constant], train_share=0.3, sample=200)
    future, queries = constant.asked[-1]
    np.testing.assert_array_equal(future.decode_tokens, trace.decode_tokens[120:])
    assert len(queries.age) == report.settings["queries"] == 200
    assert (queries.age < future.decode_tokens[queries.request]).all()
    assert (report.settings["train_requests"], report.settings["test_requests"]) == (120, 280)


def test_every_age_of_every_later_request_is_asked_about_on_demand(trace) -> None:
    report = evaluate_forecasts(trace, ["oracle"], sample=None)
    assert report.settings["queries"] == trace.decode_tokens[200:].sum()


def test_the_oracle_is_perfect_and_a_constant_is_not(trace) -> None:
    """Catches remaining times off by one, or the forecast of one request given to another."""
    report = evaluate_forecasts(trace, ["oracle", Constant()], horizon=20, sample=2000)
    oracle, constant = report.forecasts
    assert (oracle.auc, oracle.mae_finisher_tokens) == (1.0, 0.0)
    assert (oracle.bias_tokens, oracle.calibration_error, oracle.covered_share) == (0, 0, 1)
    assert constant.auc == 0.5
    assert constant.calibration_error == pytest.approx(abs(0.25 - constant.finish_share))
    assert 0 < constant.covered_share < 1


def test_names_are_fitted_to_the_history_and_nothing_else(trace) -> None:
    """The same as a forecaster fitted by hand to the first half."""
    by_name, by_hand = (
        evaluate_forecasts(trace, [forecast], horizon=20, sample=500)
        for forecast in ("survival", Survival(trace.head(200)))
    )
    times = ["fit_s", "predict_us"]
    pd.testing.assert_frame_equal(
        by_name.to_frame().drop(columns=times), by_hand.to_frame().drop(columns=times)
    )


def test_learned_is_trained_on_demand_or_read_from_a_file(trace, tmp_path) -> None:
    small = train_learned(trace.head(200), 20, options=TrainingOptions(trees=5))
    small.save(tmp_path / "model.json")
    file = f"learned:{tmp_path / 'model.json'}"
    report = evaluate_forecasts(trace, ["learned", file], horizon=20, sample=300)
    assert [row.forecast for row in report.forecasts] == ["learned", file]
    assert all(0.3 < row.auc < 0.8 for row in report.forecasts)  # geometric: nothing to learn
    with pytest.raises(InputError, match="trained for horizon 20, not 30"):
        evaluate_forecasts(trace, [file], horizon=30)


def test_the_same_seed_gives_the_same_report_but_for_times(trace) -> None:
    one, two, other = (
        evaluate_forecasts(trace, ["noisy:0.3", "exact-match"], sample=300, seed=seed)
        for seed in (1, 1, 2)
    )
    times = ["fit_s", "predict_us"]
    pd.testing.assert_frame_equal(
        one.to_frame().drop(columns=times), two.to_frame().drop(columns=times)
    )
    assert one.to_frame()["auc"].tolist() != other.to_frame()["auc"].tolist()


def test_written_tables_say_what_the_report_says(trace, tmp_path) -> None:
    report = evaluate_forecasts(trace, ["survival", "oracle"], sample=300)
    written = report.write(tmp_path / "a folder")
    assert {path.name for path in written} == {
        *(f"{t}.{s}" for t in ("forecasts", "calibration", "coverage") for s in ("csv", "parquet")),
        *(f"forecasts.{suffix}" for suffix in ("json", "svg", "pdf", "html")),
    }
    document = json.loads((tmp_path / "a folder" / "forecasts.json").read_text())
    assert document["schema"] == "olprouting/forecasts/1"
    assert document["settings"]["versions"]["scikit-learn"]
    assert [row["forecast"] for row in document["forecasts"]] == ["survival", "oracle"]
    table = pd.read_csv(tmp_path / "a folder" / "forecasts.csv")
    assert table["auc"].tolist() == pytest.approx([row.auc for row in report.forecasts])
    for frame in (report.calibration_frame(), report.coverage_frame()):
        assert frame.groupby("forecast")["queries"].sum().tolist() == [300, 300]
    assert "survival" in report.summary()


def test_what_was_judged_before_ctrl_c_is_kept(trace) -> None:
    report = evaluate_forecasts(trace, ["survival", Constant(interrupt=True), "oracle"], sample=300)
    assert report.interrupted
    assert [row.forecast for row in report.forecasts] == ["survival"]
    nothing = evaluate_forecasts(trace, [Constant(interrupt=True)], sample=300)
    assert nothing.interrupted
    assert len(nothing.to_frame()) == 0
    assert nothing.summary()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon = 0 must be >= 1"),
        ({"train_share": 0.0}, "train_share = 0.0 must lie strictly between 0 and 1"),
        ({"train_share": 0.0001}, "400 request.s. cannot be split after 0"),
        ({"sample": 0}, "queries = 0 must be >= 1"),
        ({"forecasts": ["learned", "survivl"]}, "unknown forecast 'survivl'.*Did you mean"),
        ({"forecasts": ["learned:none.json"]}, "none.json: cannot read the model"),
        ({"forecasts": ["noisy:2"]}, r"must lie in \[0, 1\]"),
    ],
)
def test_bad_arguments_are_named(trace, arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_forecasts(trace, **arguments)


def test_an_empty_trace_cannot_be_split(trace) -> None:
    with pytest.raises(InputError, match=r"0 request.s. cannot be split"):
        evaluate_forecasts(trace.head(0), ["oracle"])


def test_a_history_of_one_length_is_answered_by_all() -> None:
    """Constant history, then lengths beyond all of it: no forecaster may fail or leave [1, H+1]."""
    trace = Trace([10] * 20, [7] * 10 + [200] * 10)
    report = evaluate_forecasts(
        trace, ["survival", "km", "exact-match", "learned"], horizon=5, sample=None
    )
    assert len(report.forecasts) == 4
    assert np.isfinite(report.to_frame()["bias_tokens"]).all()
    assert report.to_frame()["covered_share"].tolist() == pytest.approx([7 / 200] * 4)
