"""Training: the trees are scikit-learn's, the rows are the paper's, odd histories are answered."""

from __future__ import annotations

import numpy as np
import pytest
from learned_cases import random_trace
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from olprouting.errors import InputError
from olprouting.forecasts import Queries
from olprouting.forecasts.learned import TrainingOptions, train_learned
from olprouting.forecasts.learned.nominal_clock import features_of, nothing_completed
from olprouting.forecasts.learned.training import training_rows
from olprouting.instances import Trace

QUICK = TrainingOptions(trees=25, learning_rate=0.1, max_rows=1500, concurrency=16, window=20)


@pytest.fixture(scope="module")
def history() -> Trace:
    return random_trace(400, 7)


@pytest.fixture(scope="module")
def model(history):
    return train_learned(history, 40, seed=3, options=QUICK)


def test_forecasts_are_those_of_scikit_learn(history, model) -> None:
    """Train the same with scikit-learn alone; catches a tree, a rate or a start that got lost."""
    rng = np.random.default_rng(3)
    spacing = history.decode_tokens.mean() / 16
    recent = nothing_completed(20, 0.05)
    features = features_of(history, spacing, recent)
    rows = training_rows(history, features, QUICK, rng)
    seeds = rng.integers(2**31, size=2).tolist()
    common = {"n_estimators": 25, "max_depth": 3, "learning_rate": 0.1, "subsample": 0.5}
    common["min_samples_leaf"] = 0.005
    finishes = rows.remaining <= 40
    classifier = GradientBoostingClassifier(**common, random_state=seeds[0])
    classifier.fit(rows.features, finishes)
    regressor = GradientBoostingRegressor(**common, random_state=seeds[1])
    regressor.fit(rows.features[finishes], rows.remaining[finishes])

    later = random_trace(200, 8)
    queries = Queries(np.arange(200), np.random.default_rng(0).integers(0, 900, 200))
    asked = features_of(later, spacing, recent)
    asked[:, 1] = queries.age
    answers = model.predict(later, queries, 40)
    p = classifier.predict_proba(asked)[:, 1]
    mu = np.clip(regressor.predict(asked), 1, 40)
    np.testing.assert_allclose(answers.finish_probability, p, rtol=0, atol=1e-9)
    np.testing.assert_allclose(answers.finisher_remaining, mu, rtol=0, atol=1e-9)
    c = (1 - p) * 41 + p * mu
    np.testing.assert_allclose(answers.expected_remaining, c, rtol=0, atol=1e-9)


def test_rows_are_all_ages_in_steps_below_the_length() -> None:
    """Hand case, Delta T = 20: lengths 1, 20, 21, 60 give 1, 1, 2, 3 rows."""
    trace = Trace([5, 6, 7, 8], [1, 20, 21, 60])
    features = features_of(trace, 1.0, nothing_completed(4, 0.5))
    rows = training_rows(trace, features, TrainingOptions(), np.random.default_rng(0))
    assert rows.features[:, 0].tolist() == [5, 6, 7, 7, 8, 8, 8]
    assert rows.features[:, 1].tolist() == [0, 0, 0, 20, 0, 20, 40]
    assert rows.remaining.tolist() == [1, 20, 21, 1, 60, 40, 20]


def test_the_same_seed_trains_the_same_model(history, model) -> None:
    assert train_learned(history, 40, seed=3, options=QUICK).to_json() == model.to_json()
    assert train_learned(history, 40, seed=4, options=QUICK).to_json() != model.to_json()


def test_it_learns_what_lengths_depend_on() -> None:
    """Short prompts decode 10 tokens, long ones 200; catches features or targets mixed up."""
    prompt = np.where(np.arange(600) % 3 == 0, 50, 2000)
    trace = Trace(prompt, np.where(prompt == 50, 10, 200))
    model = train_learned(trace, 40, options=QUICK)
    answers = model.predict(trace, Queries(np.array([0, 1, 1]), np.array([0, 0, 180])), 40)
    assert answers.finish_probability[0] > 0.9
    assert answers.finish_probability[1] < 0.1
    assert answers.finish_probability[2] > 0.9
    assert answers.finisher_remaining[0] == pytest.approx(10, abs=2)  # 0.9^25 of the mean is left
    assert answers.finisher_remaining[2] == pytest.approx(20, abs=2)


@pytest.mark.parametrize(("length", "p", "c"), [(5, 1.0, 5.0), (10_000, None, None), (1, 1.0, 1.0)])
def test_a_constant_history_is_answered(length, p, c) -> None:
    """With one class no classifier can be fitted; the probability is then that constant."""
    trace = Trace([10, 20, 30], [length] * 3)
    model = train_learned(trace, 80, options=QUICK)
    answers = model.predict(trace, Queries(np.array([0, 2]), np.array([0, 0])), 80)
    assert np.isfinite(answers).all()
    if p is not None:
        assert answers.finish_probability.tolist() == [p, p]
        assert answers.expected_remaining == pytest.approx([c, c])


def test_where_nobody_finished_everybody_outlasts() -> None:
    """Rows at age 0 only (Delta T = 500): r = 300 > H for all."""
    options = TrainingOptions(trees=5, age_step_tokens=500)
    trace = Trace([10, 20, 30], [300] * 3)
    answers = train_learned(trace, 80, options=options).predict(
        trace, Queries(np.arange(3), np.array([0, 10, 290])), 80
    )
    assert answers.finish_probability.tolist() == [0, 0, 0]
    assert answers.expected_remaining.tolist() == [81, 81, 81]


def test_one_request_is_history_enough_and_none_is_not() -> None:
    trace = Trace([10], [300])
    assert train_learned(trace, 80, options=QUICK).longest_decode_tokens == 300
    with pytest.raises(InputError, match="is empty: a learned forecast needs at least one"):
        train_learned(trace.head(0), 80)


def test_ages_beyond_all_history_are_answered_and_marked(history, model) -> None:
    longest = int(history.decode_tokens.max())
    queries = Queries(np.zeros(3, np.int64), np.array([longest - 1, longest, 2**40]))
    answers = model.predict(history, queries, 40)
    assert np.isfinite(answers).all()
    assert (answers.expected_remaining <= 41).all()
    assert model.covered(history, queries).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("horizon", "row", "age", "message"),
    [
        (80, 0, 0, "trained for horizon 40, not 80; train one with --horizon 80"),
        (40, 0, -1, "age.0. = -1 must be >= 0"),
        (40, 400, 0, "request 400: the trace has 400 requests"),
        (40, -1, 0, "request.0. = -1 must be >= 0"),
    ],
)
def test_bad_queries_are_named(history, model, horizon, row, age, message) -> None:
    with pytest.raises(InputError, match=message):
        model.predict(history, Queries(np.array([row]), np.array([age])), horizon)


def test_no_query_has_no_answer(history, model) -> None:
    none = np.empty(0, np.int64)
    assert model.predict(history, Queries(none, none), 40).expected_remaining.shape == (0,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trees": 0}, "trees = 0 must be a whole number >= 1"),
        ({"window": 2.5}, "window = 2.5 must be a whole number >= 1"),
        ({"subsample": 0}, "subsample = 0 must be finite and > 0"),
        ({"min_leaf_share": 0.6}, r"min_leaf_share = 0.6 must lie in \(0, 0.5\]"),
        ({"ewma_weight": 1.5}, r"ewma_weight = 1.5 must lie in \(0, 1\]"),
    ],
)
def test_bad_options_are_named(changes, message) -> None:
    with pytest.raises(InputError, match=message):
        TrainingOptions(**changes)
    with pytest.raises(InputError, match="horizon = 0"):
        train_learned(random_trace(3, 0), 0)


def test_progress_is_told_for_every_tree(history) -> None:
    told = []
    options = TrainingOptions(trees=3, max_rows=100)
    train_learned(history, 40, options=options, on_progress=lambda *call: told.append(call))
    assert told == [(f"trees: {w}", n, 3) for w in ("finish", "remaining") for n in (1, 2, 3)]
