"""Our evaluation of trees: row by row, and for all ages of a request at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_cases import plain_sum, random_model, random_trace

from olprouting.errors import InputError
from olprouting.forecasts import Queries
from olprouting.forecasts.learned.ensemble import TreeEnsemble
from olprouting.forecasts.learned.nominal_clock import features_of
from olprouting.forecasts.learned.tree_kernels import bucket_of, cutoff_steps


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 7), st.integers(0, 5))
def test_steps_by_age_are_the_forecast_at_every_age(seed, trees, depth) -> None:
    """Catches a bucket off by one, a branch of a tree that is lost or counted twice."""
    model = random_model(seed, trees=trees, depth=depth)
    trace = random_trace(3, seed)
    rows = features_of(trace, model.iterations_per_request, model.recent.to_kernel())
    ages = np.append(np.arange(450), [10**5, 2**40])
    for request in range(3):
        truth = model.predict(trace, Queries(np.full(len(ages), request), ages), 9)
        steps = np.empty((2, model.trees.buckets))
        cutoff = np.empty(model.trees.buckets, np.int64)
        cutoff_steps(model.trees, rows[request], *steps, cutoff)
        bucket = np.array([bucket_of(model.trees, age) for age in ages])
        np.testing.assert_allclose(steps[0][bucket], truth.finish_probability, atol=1e-9)
        np.testing.assert_allclose(steps[1][bucket], truth.finisher_remaining, atol=1e-9)
        c = truth.expected_remaining
        assert (cutoff[bucket] >= c - 1e-8).all()
        assert (cutoff[bucket] < c + 1).all()
        assert cutoff.min() >= 1
        assert cutoff.max() <= 10


def test_rows_fall_into_the_leaves_that_plain_python_finds() -> None:
    """Catches wrong sides, wrong trees, and forecasts that leave their ranges."""
    model, trace = random_model(5, trees=20), random_trace(50, 5)
    queries = Queries(np.repeat(np.arange(50), 4), np.tile([0, 3, 90, 1000], 50))
    answers = model.predict(trace, queries, 9)
    rows = features_of(trace, model.iterations_per_request, model.recent.to_kernel())
    for place, (request, age) in enumerate(zip(*queries, strict=True)):
        row = rows[request].copy()
        row[1] = age
        p = 1 / (1 + math.exp(-plain_sum(model.finish_log_odds, row)))
        mu = min(max(plain_sum(model.finisher_remaining, row), 1), 9)
        assert answers.finish_probability[place] == pytest.approx(p, abs=1e-12)
        assert answers.finisher_remaining[place] == pytest.approx(mu, abs=1e-12)
        assert answers.expected_remaining[place] == pytest.approx((1 - p) * 10 + p * mu)
    assert answers.expected_remaining.min() >= 1
    assert answers.expected_remaining.max() <= 10


def test_trees_that_never_split_by_age_have_one_bucket() -> None:
    model = random_model(0, trees=0)
    assert model.trees.buckets == 1
    assert model.trees.bucket_of_age.tolist() == [0]


# one tree: the root 0 splits by age at 10 into the leaves 1 and 2
SPLIT = {
    "initial": 0.5,
    "first": [0, 3],
    "feature": [1, -1, -1],
    "threshold": [10.0, 0.0, 0.0],
    "left": [1, -1, -1],
    "right": [2, -1, -1],
    "value": [0.0, 1.0, 2.0],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial": float("nan")}, r"initial\[0\] = nan must be a finite number"),
        ({"initial": "0.5"}, "initial must hold numbers"),
        ({"first": []}, "first must start with 0"),
        ({"first": [0, 3, 3]}, "every tree has a root"),
        ({"first": [0, 4]}, "feature must have 4 entries, got 3"),
        ({"feature": [7, -1, -1]}, r"feature\[0\] = 7 must be less than 7"),
        ({"feature": [-2, -1, -1]}, r"feature\[0\] = -2 must be >= -1"),
        ({"threshold": [float("inf"), 0, 0]}, r"threshold\[0\] = inf must be a finite number"),
        ({"threshold": [2.0**40, 0, 0]}, "of an age must lie in"),
        ({"left": [0, -1, -1]}, r"left\[0\] = 0 must be a later node of the same tree"),
        ({"right": [3, -1, -1]}, r"right\[0\] = 3 must be a later node of the same tree"),
        ({"right": [1, -1, -1]}, "node 1 must be the child of exactly one other"),
        ({"left": [1, 2, -1]}, "leaves must have the children -1"),
        ({"feature": [-1, -1, -1]}, "node 1 must be the child of exactly one other"),
        ({"value": [0, 1]}, "value must have 3 entries"),
        ({"value": [0, None, 2]}, r"value must hold numbers, got None at \[1\]"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(changes, message) -> None:
    """Each would send a kernel out of bounds, round in circles, or to numbers that are none."""
    TreeEnsemble(**SPLIT)
    with pytest.raises(InputError, match=message):
        TreeEnsemble(**(SPLIT | changes))


def test_a_tree_too_deep_for_the_stack_is_refused() -> None:
    """A chain of splits: node n has the leaf n + 1 and the split n + 2."""
    depth = 33
    inner = list(range(0, 2 * depth, 2))
    nodes = 2 * depth + 1
    feature, left, right = (np.full(nodes, -1) for _ in range(3))
    feature[inner] = 1
    left[inner] = np.array(inner) + 1
    right[inner] = np.array(inner) + 2
    with pytest.raises(InputError, match="33 deep; at most 32"):
        TreeEnsemble(0.0, [0, nodes], feature, np.zeros(nodes), left, right, np.zeros(nodes))
