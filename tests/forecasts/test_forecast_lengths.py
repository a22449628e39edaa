"""Forecasts that fix a decode length per request."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.forecasts import NoisyOracle, Oracle, make_forecast
from olprouting.instances import Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    decode = np.random.default_rng(6).geometric(0.01, 5000)
    return Trace(np.ones(5000, np.int64), decode)


def test_the_oracle_knows_the_trace(trace) -> None:
    """Catches an oracle with an offset."""
    lengths = Oracle().decode_lengths(trace, np.random.default_rng(0))
    np.testing.assert_array_equal(lengths, trace.decode_tokens)


@pytest.mark.parametrize("spread", [0.0, 0.2, 1.0])
def test_noise_stays_in_its_band_and_is_centred(trace, spread) -> None:
    """Uniform(1 - spread, 1 + spread) has mean 1 and standard deviation spread / sqrt(3)."""
    lengths = NoisyOracle(spread).decode_lengths(trace, np.random.default_rng(0))
    assert lengths.min() >= 1
    assert (lengths <= np.floor(trace.decode_tokens * (1 + spread) + 0.5)).all()
    assert (lengths >= np.floor(trace.decode_tokens * (1 - spread) + 0.5)).all()
    long = trace.decode_tokens >= 50  # where rounding does not matter
    ratio = lengths[long] / trace.decode_tokens[long]
    assert ratio.mean() == pytest.approx(1, abs=0.04)
    assert ratio.std() == pytest.approx(spread / np.sqrt(3), abs=0.02)


def test_noise_is_rounded_to_the_nearest_whole_token(trace) -> None:
    """Catches lengths that are cut off, or noise drawn more than once per request."""
    lengths = NoisyOracle(0.4).decode_lengths(trace, np.random.default_rng(9))
    rng = np.random.default_rng(9)
    wanted = [o * rng.uniform(0.6, 1.4) for o in trace.decode_tokens.tolist()]
    assert np.abs(lengths - np.maximum(wanted, 1)).max() <= 0.5 + 1e-9


def test_the_same_seed_gives_the_same_noise(trace) -> None:
    """Catches noise from a hidden generator."""
    one, two, other = (
        NoisyOracle().decode_lengths(trace, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "forecast"),
    [("oracle", Oracle()), ("noisy", NoisyOracle(0.2)), ("noisy:0.35", NoisyOracle(0.35))],
)
def test_forecasts_are_found_by_name(name, forecast) -> None:
    """Catches a name that reports print but make_forecast does not know."""
    assert make_forecast(name) == forecast
    assert make_forecast(forecast.name) == forecast


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("orakle", "unknown forecast 'orakle'; known: .*survival.*Did you mean 'oracle'"),
        ("noisy:lots", "forecast 'noisy:lots': 'lots' is not a number"),
        ("noisy:1.5", r"noise spread = 1.5 must lie in \[0, 1\]"),
        ("noisy:-0.1", r"noise spread = -0.1 must lie in \[0, 1\]"),
        ("noisy:nan", r"noise spread = nan must lie in \[0, 1\]"),
        ("oracle:0.2", "unknown forecast 'oracle:0.2'"),
    ],
)
def test_a_wrong_forecast_is_refused(name, message) -> None:
    """Catches a typo that runs with perfect knowledge."""
    with pytest.raises(InputError, match=message):
        make_forecast(name)
