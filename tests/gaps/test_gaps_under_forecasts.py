"""Gaps where lengths are forecast: the forecast's error and the heuristic's told apart."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.forecasts import ExactMatch, NoisyOracle, Survival
from olprouting.gaps import measure_gaps
from olprouting.instances import Cluster, Trace
from olprouting.policies import PolicyOptions, make_policy

CLUSTER = Cluster.homogeneous(3, 4)
OPTIONS = PolicyOptions(horizon=6, gamma=0.86, solver="brute-force")


def trace_of(seed: int) -> Trace:
    rng = np.random.default_rng(seed)
    return Trace(rng.integers(1, 40, 60), rng.geometric(0.15, 60), key=rng.integers(0, 4, 60))


def report_of(forecast, seed=0, projection="cutoff"):
    return measure_gaps(
        trace_of(seed),
        CLUSTER,
        ("jsq", "brh"),
        options=OPTIONS,
        decisions=15,
        backlog=5,
        forecast=forecast,
        projection=projection,
        judged_by="both",
    )


@pytest.mark.parametrize("projection", ["cutoff", "expected"])
@pytest.mark.parametrize("forecast", [Survival(), ExactMatch(), NoisyOracle(0.9)])
def test_nobody_beats_the_optimum_that_knows_all_lengths(forecast, projection) -> None:
    """Catches optima of another state, and forecast loads compared with true ones."""
    report = report_of(forecast, projection=projection)
    assert any(record.forecast_error_tokens for record in report.records)  # lengths are not known
    for record in report.records:
        if record.horizon == 0:  # nothing is forecast
            assert record.true_gap_tokens is record.forecast_error_tokens is None
        else:
            assert record.true_gap_tokens >= 0
            assert record.forecast_error_tokens >= 0
    for row in report.policies:
        if row.horizon:
            assert row.share_compared == 1
            parts = row.forecast_error_mean_tokens + row.heuristic_error_mean_tokens
            assert parts == pytest.approx(row.true_gap_mean_tokens)


def test_a_forecast_without_error_costs_nothing() -> None:
    """Noise of width 0 is the truth: no forecast error, and both gaps are the same."""
    for record in report_of(NoisyOracle(0.0)).records:
        if record.horizon:
            assert record.forecast_error_tokens == 0
            assert record.true_gap_tokens == pytest.approx(record.gap_tokens)


def test_the_oracle_is_not_compared_with_itself() -> None:
    """Catches solving every decision twice for nothing."""
    assert all(record.true_gap_tokens is None for record in report_of(None).records)


def test_true_loads_are_those_an_oracle_sees() -> None:
    """Catches an offset of one, or ages counted wrongly, in the loads that are called true."""
    truths, projected = [], []

    def look(event) -> None:
        truths.append(event.true_load_tokens(6))
        projected.append(event.view.projected_load_tokens.copy())

    policy = make_policy("brh", 3, OPTIONS)
    for batching in ("decode", "mixed"):
        simulate(trace_of(1), CLUSTER, policy, backlog=5, batching=batching, on_decision=look)
    np.testing.assert_array_equal(truths, projected)
