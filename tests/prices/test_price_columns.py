"""Pricing by prefix sums is the dense dot product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_prices import Case, cases, some_prices

from olprouting.errors import InputError
from olprouting.prices import make_columns, request_margins
from olprouting.prices.pricing_kernels import all_margins


def margins_of(case: Case, prices: np.ndarray) -> np.ndarray:
    problem = case.problem()
    margins = np.empty(problem.columns.size)
    sums = np.empty((3, len(case.slots), problem.width + 1))
    all_margins(problem, prices[0], prices[1], sums, margins)
    return margins


@settings(max_examples=150, deadline=None)
@given(cases(least=1), st.integers(0, 999))
def test_prefix_sums_price_columns_as_dense_columns_do(case: Case, seed: int) -> None:
    """Catches an age that is off by one, the wrong mode's offset, and use counted past T."""
    prices = some_prices(case, seed)
    dense = np.array(case.reward) - np.tensordot(case.dense(), prices, 3)
    np.testing.assert_allclose(margins_of(case, prices), dense, rtol=1e-9, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(cases(least=1), st.integers(0, 999), st.integers(1, 9))
def test_margins_of_waiting_requests(case: Case, seed: int, period: int) -> None:
    """Catches prefix sums that begin at another period than the requests do, or mix workers."""
    period = min(period, case.slots.shape[1])
    prices, columns = some_prices(case, seed), case.columns()
    first = period - 1 if case.positions == "absolute" else 0
    margins = np.empty((columns.size, len(case.slots)))
    request_margins(
        columns.reward,
        columns.active,
        columns.tokens,
        prices[0],
        prices[1],
        first,
        case.width,
        2.0,
        0.5,
        margins,
    )
    true = np.stack([2 * prices[0], prices[1]])  # price_unit, and price_unit * mem_scale
    for g in range(len(case.slots)):
        moved = case._replace(worker=[g] * columns.size, start=[period] * columns.size)
        expected = np.array(case.reward) - np.tensordot(moved.dense(), true, 3)
        np.testing.assert_allclose(margins[:, g], expected, rtol=1e-9, atol=1e-9)


def test_workers_with_equal_prices_tie_to_the_last_bit() -> None:
    """Catches sums that run on from worker to worker, which would break ties by index."""
    rng = np.random.default_rng(0)
    row = rng.random(50)
    prices = np.tile(row, (3, 1))
    margins = np.empty((20, 3))
    active, tokens = rng.integers(1, 60, 20), rng.integers(0, 99, 20)
    request_margins(rng.random(20), active, tokens, prices, prices, 7, 50, 1.0, 0.01, margins)
    assert (margins == margins[:, :1]).all()


def test_a_hand_priced_column() -> None:
    # prompt 5, 3 tokens from period 2: it holds 6, 7, 8 tokens in periods 2, 3, 4; T = 3
    case = Case(
        [9.0], [0], [2], [5], [3], "decode", None, "absolute", *([np.ones((1, 3))] * 2), 1, 3
    )
    prices = np.array([[[100.0, 1, 2]], [[100.0, 0.5, 0.25]]])
    assert margins_of(case, prices)[0] == 9 - (1 + 2 + 6 * 0.5 + 7 * 0.25)
    mixed = case._replace(batching="mixed")  # 5 tokens in the prefill period 2, then 6
    assert margins_of(mixed, prices)[0] == 9 - (1 + 2 + 5 * 0.5 + 6 * 0.25)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"decode_tokens": [1, 0]}, r"decode_tokens\[1\] = 0"),
        ({"start_period": 0}, r"start_period\[0\] = 0"),
        ({"prompt_tokens": -1}, r"prompt_tokens\[0\]"),
        ({"worker": -1}, r"worker\[0\]"),
        ({"worker": 0.5}, "worker must hold integers"),
        ({"reward": [1.0, np.nan]}, r"reward\[1\]"),
        ({"age_offset": -1}, "age_offset"),
        ({"batching": "decod"}, "'decode'"),
        ({"positions": "relativ"}, "'relative'"),
        ({"reward": [1.0, 2, 3], "worker": [0, 1]}, "lengths"),
    ],
)
def test_bad_columns_are_refused_by_name(changes: dict[str, object], named: str) -> None:
    """Catches bad input that would be a silent wrong price, or a read outside of an array."""
    good: dict[str, object] = {
        "reward": 1.0,
        "worker": 0,
        "start_period": 1,
        "prompt_tokens": 3,
        "decode_tokens": 2,
    }
    with pytest.raises(InputError, match=named):
        make_columns(**(good | changes))  # type: ignore[arg-type]
