"""How long the learned forecast takes to train, per query, and per admission.

Run with ``pytest tests/benchmarks/test_learned_benchmark.py --benchmark-enable``. References: for
training, its features alone; for our trees, scikit-learn's evaluation of trees of the same shape
on the same rows; for all ages of a request at once, one row at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from olprouting.compiling import compiled
from olprouting.forecasts import Queries
from olprouting.forecasts.learned import train_learned
from olprouting.forecasts.learned.nominal_clock import features_of, nothing_completed
from olprouting.forecasts.learned.tree_kernels import age_steps
from olprouting.traces import from_profile

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from olprouting.forecasts.learned import LearnedModel
    from olprouting.instances import Trace

REQUESTS, QUERIES, ADMISSIONS = 100_000, 20_000, 1000


@pytest.fixture(scope="module")
def trace() -> Trace:
    return from_profile("azure-2023-conv-like", REQUESTS, np.random.default_rng(0))


@pytest.fixture(scope="module")
def model(trace: Trace) -> LearnedModel:
    return train_learned(trace.head(2000), 80)


@pytest.mark.benchmark(group="training on 100,000 requests, horizon 80")
@pytest.mark.parametrize("part", ["features only", "all"])
def test_training(benchmark: BenchmarkFixture, trace: Trace, part: str, request) -> None:
    if part == "all":
        if not request.config.getoption("benchmark_enable"):
            trace = trace.head(500)  # a smoke test must be short
        model = benchmark.pedantic(train_learned, (trace, 80), rounds=1)
        assert model.trees.buckets > 1
    else:
        spacing = trace.decode_tokens.mean() / 256
        rows = benchmark(lambda: features_of(trace, spacing, nothing_completed(128, 0.05)))
        assert len(rows) == REQUESTS


@pytest.mark.benchmark(group="20,000 queries")
@pytest.mark.parametrize("by", ["olprouting", "scikit-learn"])
def test_queries(benchmark: BenchmarkFixture, trace: Trace, model: LearnedModel, by: str) -> None:
    asked = trace.head(2000)
    rng = np.random.default_rng(1)
    queries = Queries(rng.integers(0, 2000, QUERIES), rng.integers(0, 300, QUERIES))
    if by == "olprouting":
        model.predict(asked, queries, 80)
        assert len(benchmark(model.predict, asked, queries, 80).finish_probability) == QUERIES
        return
    rows = features_of(asked, model.iterations_per_request, model.recent.to_kernel())
    rows = rows[queries.request]
    rows[:, 1] = queries.age
    remaining = asked.decode_tokens[queries.request] - queries.age
    options = {"n_estimators": 200, "max_depth": 3, "subsample": 0.5, "random_state": 0}
    classifier = GradientBoostingClassifier(**options).fit(rows[:5000], remaining[:5000] <= 80)
    regressor = GradientBoostingRegressor(**options).fit(rows[:5000], remaining[:5000])
    result = benchmark(lambda: (classifier.predict_proba(rows), regressor.predict(rows)))
    assert len(result[1]) == QUERIES


@compiled
def steps_of_all(trees, rows, probability, remaining):
    total = 0.0
    for request in range(len(rows)):
        age_steps(trees, rows[request], probability, remaining)
        total += probability[0]
    return total


@pytest.mark.benchmark(group="1,000 admissions: the forecast at all ages")
@pytest.mark.parametrize("by", ["steps by age", "one age at a time"])
def test_admissions(
    benchmark: BenchmarkFixture, trace: Trace, model: LearnedModel, by: str
) -> None:
    admitted = trace.head(ADMISSIONS)
    rows = features_of(admitted, model.iterations_per_request, model.recent.to_kernel())
    steps = np.empty((2, model.trees.buckets))
    if by == "steps by age":
        steps_of_all(model.trees, rows, *steps)
        assert benchmark(steps_of_all, model.trees, rows, *steps) > 0
        return
    # an age of every bucket, to which `steps by age` gives the answer too
    ages = np.unique(model.trees.bucket_of_age, return_index=True)[1]
    queries = Queries(np.repeat(np.arange(ADMISSIONS), len(ages)), np.tile(ages, ADMISSIONS))
    benchmark.pedantic(model.predict, (admitted, queries, 80), rounds=1, warmup_rounds=1)
