"""How long prices and routing take: 4 workers of 29 slots and 118,784 KV tokens, 59 waiting.

Run with ``pytest tests/benchmarks/test_prices_benchmark.py --benchmark-enable``. A price update is
5 steps with mini-batches of 64 (the defaults of the authors' script), half way through the periods
and at their end, when the history covers all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from olprouting.instances import SloWeights
from olprouting.instances.reward import reward
from olprouting.prices import BidPrices, PriceOptions, exact_prices, greedy_admission, learn_prices

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

DEVICES, SLOTS, KV_TOKENS, WAITING, N_REMAIN = 4, 29, 118_784, 59, 300


class Run(NamedTuple):
    """A run in the middle: prices, residuals of periods k..T, and the requests that wait."""

    prices: BidPrices
    period: int
    slots: np.ndarray
    kv_tokens: np.ndarray
    rewards: np.ndarray
    prompt: np.ndarray
    decode: np.ndarray


def run_until(period: int, periods: int) -> Run:
    """Record one column per period, as in the paper, with Azure-like lengths."""
    rng = np.random.default_rng(5)
    weights = SloWeights.preset("tail-latency")
    prices = BidPrices([SLOTS] * DEVICES, [KV_TOKENS] * DEVICES, periods, PriceOptions())
    prompt = rng.lognormal(6.9, 0.8, period + WAITING).astype(np.int64)
    decode = rng.geometric(1 / 220, period + WAITING)
    starts = np.append(np.arange(1, period + 1), np.full(WAITING, period))
    earned = reward(
        weights, decode, starts - 3, start_period=starts, periods=periods, t1=400, t2=49
    )
    for k in range(period):
        g = int(rng.integers(DEVICES))
        prices.record(float(earned[k]), g, k + 1, int(prompt[k]), int(decode[k]))
    left = periods - period + 1
    freed = rng.random((DEVICES, left)).cumsum(axis=1) // 8  # a slot is freed every 16 periods
    slots = np.minimum(freed, SLOTS).astype(np.int64)
    kv_tokens = slots * (KV_TOKENS // SLOTS)
    prices.observe(period, slots, kv_tokens)
    for _ in range(50):
        prices.update(N_REMAIN, rng)
    waiting = slice(period, period + WAITING)
    return Run(prices, period, slots, kv_tokens, earned[waiting], prompt[waiting], decode[waiting])


@pytest.mark.parametrize(
    ("period", "periods"), [(300, 600), (600, 600), (3000, 6000), (6000, 6000)]
)
@pytest.mark.benchmark(group="price update, 5 steps of 64")
def test_price_update(benchmark: BenchmarkFixture, period: int, periods: int) -> None:
    run, rng = run_until(period, periods), np.random.default_rng(1)
    benchmark(lambda: run.prices.update(N_REMAIN, rng))
    assert run.prices.memory.min() >= 0


@pytest.mark.parametrize(("period", "periods"), [(300, 600), (3000, 6000)])
@pytest.mark.benchmark(group="routing decision without price update")
def test_routing_decision(benchmark: BenchmarkFixture, period: int, periods: int) -> None:
    run, rng = run_until(period, periods), np.random.default_rng(1)

    def decide() -> int:
        run.prices.observe(run.period, run.slots, run.kv_tokens)
        margins = run.prices.margins(run.period, run.rewards, run.prompt, run.decode)
        request, _ = greedy_admission(
            margins, run.decode, run.prompt + 1, run.slots, run.kv_tokens, rng=rng
        )
        return len(request)

    assert benchmark(decide) >= 0


@pytest.mark.parametrize(("period", "periods"), [(300, 600), (3000, 6000)])
@pytest.mark.benchmark(group="whole period: residuals, prices, margins, admission")
def test_whole_period(benchmark: BenchmarkFixture, period: int, periods: int) -> None:
    run, rng = run_until(period, periods), np.random.default_rng(1)

    def decide() -> int:
        run.prices.observe(run.period, run.slots, run.kv_tokens)
        run.prices.update(N_REMAIN, rng)
        margins = run.prices.margins(run.period, run.rewards, run.prompt, run.decode)
        request, _ = greedy_admission(
            margins, run.decode, run.prompt + 1, run.slots, run.kv_tokens, rng=rng
        )
        return len(request)

    assert benchmark(decide) >= 0


@pytest.mark.benchmark(group="the sample's minimum at T = 600, 300 columns")
@pytest.mark.parametrize("method", ["exact", "1000 steps"])
def test_minimum(benchmark: BenchmarkFixture, method: str) -> None:
    problem = run_until(300, 600).prices.problem(N_REMAIN)
    rng = np.random.default_rng(1)
    options = PriceOptions().descent.replace(steps=1000, batch=None, step_rule="inverse-sqrt")
    if method == "exact":
        result = benchmark.pedantic(lambda: exact_prices(problem), rounds=1)
        assert result.converged
    else:
        benchmark.pedantic(lambda: learn_prices(problem, rng, options), rounds=1)
