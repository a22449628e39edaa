"""The history, and prices that follow a run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from reference_prices import random_case

from olprouting.errors import InputError
from olprouting.prices import (
    BidPrices,
    ClippedRewardsWarning,
    DescentOptions,
    History,
    PriceOptions,
    learn_prices,
    make_columns,
)


@pytest.mark.parametrize("batching", ["decode", "mixed"])
@pytest.mark.parametrize("positions", ["absolute", "relative"])
@pytest.mark.parametrize("age_offset", [None, 2])
def test_recorded_columns_are_those_made_at_once(
    batching: str, positions: str, age_offset: int | None
) -> None:
    """Catches a second, different way to make columns."""
    history = History(batching=batching, positions=positions, age_offset=age_offset)
    rows = [(1.5, 0, 2, 7, 3), (-2.0, 1, 2, 0, 1), (0.0, 0, 9, 4, 40)]
    for row in rows:
        history.record(*row)
    expected = make_columns(
        *(list(column) for column in zip(*rows, strict=True)),  # type: ignore[arg-type]
        batching=batching,
        positions=positions,
        age_offset=age_offset,
    )
    for recorded, made in zip(history.columns, expected, strict=True):
        np.testing.assert_array_equal(recorded, made)
        assert recorded.dtype == made.dtype
        assert recorded.flags.writeable == made.flags.writeable


def test_a_history_grows_drops_and_forgets() -> None:
    """Catches columns lost when arrays grow, and rows that stay behind a moved beginning."""
    history = History()
    for k in range(1, 5001):
        history.record(float(k), 0, k, k, 1)
    assert len(history) == 5000
    assert history.drop_before(4001) == 4000
    assert history.start_period.tolist() == list(range(4001, 5001))
    for k in range(5001, 9001):
        history.record(float(k), 0, k, k, 1)
    assert history.columns.reward.tolist() == list(range(4001, 9001))
    assert history.columns.first.tolist() == list(range(4000, 9000))
    assert history.drop_before(1) == 0
    history.clear()
    assert history.columns.size == 0


def test_a_limit_forgets_the_oldest() -> None:
    history = History(limit=3)
    for k in range(1, 3000):
        history.record(float(k), 0, k, k, 1)
        assert len(history) == min(k, 3)
    assert history.columns.reward.tolist() == [2997, 2998, 2999]


def test_recording_does_not_copy_what_is_there() -> None:
    """Catches arrays built anew in every period."""
    history = History()
    history.record(1.0, 0, 1, 1, 1)
    before = history.columns
    history.record(2.0, 0, 1, 1, 1)
    assert np.shares_memory(before.reward, history.columns.reward)


@pytest.mark.parametrize(
    "row", [(np.nan, 0, 1, 1, 1), (1.0, -1, 1, 1, 1), (1.0, 0, 0, 1, 1), (1.0, 0, 1, -1, 1),
            (1.0, 0, 1, 1, 0), (1.0, 0, 4, 1, 1)]
)  # fmt: skip
def test_bad_rows_are_refused(row: tuple[float, int, int, int, int]) -> None:
    history = History()
    history.record(1.0, 0, 5, 1, 1)
    with pytest.raises(InputError):
        history.record(*row)
    assert len(history) == 1


def follow(options: PriceOptions, seed: int = 1) -> BidPrices:
    """Record a congested history and update prices after each column."""
    case, rng = random_case(1, count=200), np.random.default_rng(seed)
    prices = BidPrices([4, 4], [150, 150], 40, options)
    for row in sorted(
        zip(case.start, case.reward, case.worker, case.prompt, case.decode, strict=True)
    ):
        start, reward, worker, prompt, decode = row
        prices.record(reward, worker, start, prompt, decode)
        left = 40 - start + 1
        prices.observe(start, np.full((2, left), 2), np.full((2, left), 60))
        prices.update(60, rng)
    return prices


def test_prices_follow_a_run_and_repeat() -> None:
    options = PriceOptions(DescentOptions(5, 16, 0.05))
    runs = [follow(options, seed) for seed in (1, 1, 2)]
    assert runs[0].memory.max() > 0
    assert runs[0].memory.tobytes() == runs[1].memory.tobytes()
    assert runs[0].memory.tobytes() != runs[2].memory.tobytes()
    report = runs[0].report(60)
    assert report.kind == "last"
    assert report.steps == 0
    np.testing.assert_allclose(report.memory, runs[0].true_prices()[1])
    assert report.reason.startswith("not converged")


def test_an_update_is_algorithm_2() -> None:
    """Catches a way to learn online that differs from the one that is tested."""
    prices = follow(PriceOptions(DescentOptions(7, 16, 0.02), reward_normalizer=2.0))
    start = tuple(array.copy() for array in prices.true_prices())
    learned = learn_prices(
        prices.problem(60),
        np.random.default_rng(3),
        prices.options.descent,
        iterate="last",
        start=start,  # type: ignore[arg-type]
    )
    prices.update(60, np.random.default_rng(3))
    np.testing.assert_allclose(prices.true_prices()[1], learned.memory, rtol=1e-9, atol=1e-15)


def test_a_new_normalizer_leaves_true_prices_alone() -> None:
    """Catches warm starts that jump when the units change."""
    prices = follow(PriceOptions(DescentOptions(5, 16, 0.05), refresh=10))
    before, unit = prices.true_prices(), prices.scaling.reward_normalizer
    assert before[1].max() > 0
    for _ in range(40):
        prices.record(1000.0, 0, 40, 1, 1)
    assert prices.scaling.reward_normalizer != unit
    np.testing.assert_allclose(prices.true_prices()[0], before[0], rtol=1e-12)
    np.testing.assert_allclose(prices.true_prices()[1], before[1], rtol=1e-12)


def test_the_automatic_normalizer_follows_the_rewards() -> None:
    prices = BidPrices([4], [100], 500, PriceOptions(quantile=0.5, recent=50, refresh=10))
    for k in range(1, 101):
        prices.record(float(k), 0, k, 1, 1)
    assert 70 <= prices.scaling.reward_normalizer <= 76
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is clipped by default
        follow(PriceOptions())


def test_a_run_that_clips_counts_and_warns_once() -> None:
    """The authors' normalizer of 1 clips nearly all; catches silence, and a flood of warnings."""
    with pytest.warns(ClippedRewardsWarning) as caught:
        prices = follow(PriceOptions(reward_normalizer=1.0, clip=True))
    assert len(caught) == 1
    assert (prices.recorded, prices.clipped) == (200, 200)


@pytest.mark.parametrize("batching", ["decode", "mixed"])
@pytest.mark.parametrize("positions", ["absolute", "relative"])
def test_margins_are_those_of_the_columns_they_become(batching: str, positions: str) -> None:
    """Catches a policy that prices one thing and learns from another."""
    prices = follow(
        PriceOptions(DescentOptions(20, 16, 0.05), batching=batching, positions=positions)
    )
    period = 30
    prices.observe(period, np.full((2, 11), 2), np.full((2, 11), 60))
    rng = np.random.default_rng(0)
    rewards, prompt, decode = rng.random(9), rng.integers(0, 50, 9), rng.integers(1, 30, 9)
    margins = prices.margins(period, rewards, prompt, decode)
    batch, memory = prices.true_prices()
    first = period - 1 if positions == "absolute" else 0
    for j in range(9):
        mixed = batching == "mixed"
        length = decode[j] + mixed
        ages = np.arange(min(length, prices.residuals.width - first))
        held = prompt[j] + ages + (not mixed)
        for g in range(2):
            cost = batch[g, first + ages].sum() + (memory[g, first + ages] * held).sum()
            assert margins[j, g] == pytest.approx(rewards[j] - cost, rel=1e-9, abs=1e-9)


def test_a_receding_horizon_goes_on_for_ever() -> None:
    """Catches a run that stops admitting, or learning, past the number of positions."""
    options = PriceOptions(DescentOptions(5, 16, 0.05), positions="relative", history_limit=100)
    prices, rng = BidPrices([4], [150], 20, options), np.random.default_rng(0)
    for k in range(1, 201):
        prices.observe(k, np.full((1, 20), 2), np.full((1, 20), 60))
        prices.update(100, rng)
        prices.record(float(rng.uniform(1, 5)), 0, k, int(rng.integers(60)), 9)
    assert prices.history.start_period[-1] == 200
    assert prices.history.drop_before(151) == 50  # as after an alarm of the rate guard
    assert prices.memory.max() > 0
    assert prices.margins(200, np.ones(1), np.full(1, 500), np.full(1, 9))[0, 0] < 1


def test_bad_options_are_refused() -> None:
    for bad in ({"reward_normalizer": "automatic"}, {"refresh": 0}, {"quantile": 2}):
        with pytest.raises(InputError):
            PriceOptions(**bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="worker = 1"):
        BidPrices([4], [100], 5).record(1.0, 1, 1, 1, 1)
