"""Intervals: by hand, by what they must contain, and by how often they hold the true value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from olprouting.intervals import (
    Interval,
    block_means,
    block_sums,
    bootstrap_interval,
    t_interval,
)


def ratio(above, below, axis=-1):
    return above.sum(axis=axis) / below.sum(axis=axis)


def test_t_intervals_are_students() -> None:
    mean, low, high = t_interval(np.array([1.0, 3.0]), 0.95)  # t(0.975, 1) = 12.7062
    assert (mean, low, high) == pytest.approx((2, 2 - 12.7062, 2 + 12.7062), abs=1e-4)


@pytest.mark.parametrize(
    "interval",
    [
        lambda values: t_interval(values),
        lambda values: bootstrap_interval(ratio, values, np.ones_like(values)),
    ],
)
def test_of_one_value_there_is_no_interval_and_of_none_no_estimate(interval) -> None:
    """Catches one draw of noise shown with an interval of width 0."""
    assert interval(np.array([5.0])).estimate == 5
    assert not interval(np.array([5.0])).is_known
    assert math.isnan(interval(np.array([])).estimate)
    assert interval(np.array([5.0])).text(".0f") == "5 (no interval)"


def test_what_excludes_zero_can_be_told_from_it() -> None:
    assert Interval(2.0, 1.0, 3.0).excludes_zero
    assert Interval(-2.0, -3.0, -1.0).excludes_zero
    assert not Interval(2.0, 0.0, 3.0).excludes_zero
    assert not Interval(2.0, np.nan, np.nan).excludes_zero


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=8))
def test_a_t_interval_contains_its_mean(values) -> None:
    mean, low, high = t_interval(np.array(values), 0.95)
    assert low <= mean <= high


def test_a_bootstrap_holds_the_true_ratio_about_as_often_as_it_says() -> None:
    """Catches rows that are not drawn together, and intervals of another level."""
    rng = np.random.default_rng(5)
    held = 0
    for seed in range(100):
        below = rng.exponential(1.0, 40) + 1
        above = 0.6 * below + rng.normal(0, 0.1, 40)
        _, low, high = bootstrap_interval(ratio, above, below, seed=seed)
        held += low <= 0.6 <= high
    assert 86 <= held <= 100


def test_where_all_rows_agree_the_interval_is_a_point() -> None:
    same = np.full(10, 3.0)
    assert bootstrap_interval(ratio, same, same) == (1.0, 1.0, 1.0)


@given(st.integers(1, 40), st.integers(1, 50))
def test_blocks_keep_the_sum_and_differ_by_one_in_size(count, blocks) -> None:
    values = np.arange(count, dtype=float)
    assert block_sums(values, blocks).sum() == values.sum()
    sizes = block_sums(np.ones(count), blocks)
    assert len(sizes) == min(count, blocks)
    assert np.ptp(sizes) <= 1
    assert block_means(np.ones((2, count)), blocks) == pytest.approx(1)
