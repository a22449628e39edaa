"""Open-loop residuals: the policy's own bookings, right only while the forecast lengths are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.forecasts import NoisyOracle, Oracle
from olprouting.instances import Cluster, SloWeights, StepTime, Trace
from olprouting.policies import PeriodOptions, PolicyOptions, make_policy

POLICIES = ("bid-price", "bid-price-exact", "lp-rounding", "period-integer")
PER_TOKEN = SloWeights(1, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Wrong:
    """A forecast of given lengths."""

    lengths: tuple[int, ...]
    name: str = "wrong"

    def decode_lengths(self, trace, rng):
        return np.array(self.lengths)


def planner(residuals, name="lp-rounding", last_period="fixed", periods=8):
    period = PeriodOptions(PER_TOKEN, periods=periods, residuals=residuals, last_period=last_period)
    return make_policy(name, 1, PolicyOptions(ties="index", solver="highs", period=period))


def seen(residuals, forecast, last_period="fixed"):
    """Slots and KV tokens left from period 3 on: A (prompt 3) is admitted in 1, B comes in 3."""
    trace = Trace([3, 4], [4, 1], release_iteration=[1, 3])
    cluster = Cluster([2], kv_tokens=[20], step_time=StepTime(1.0, 0.0))
    policy, found = planner(residuals, last_period=last_period), {}
    choose = policy.choose

    def watch(situation, view, rng):
        found[situation.period] = situation
        return choose(situation, view, rng)

    policy.choose = watch
    run = simulate(trace, cluster, policy, forecast=forecast, max_iterations=8)
    assert run.admission_iteration.tolist() == [1, 3]
    seen = found[3]
    slots = [int(seen.slots_now[0]), *seen.problem.slots[0, 1:].tolist()]
    return slots, seen.problem.kv_tokens[0].tolist()


def test_a_request_that_outlasts_its_forecast_is_forgotten_by_the_bookings():
    """A was forecast 2 periods (1, 2) but runs in 1..4; in 3 it holds 3 + 2 + 1 = 6 tokens."""
    forecast = Wrong((2, 1))
    assert seen("true", forecast) == ([1, 2, 2, 2, 2, 2], [14, 20, 20, 20, 20, 20])
    assert seen("open-loop", forecast) == ([2] * 6, [20] * 6)


def test_the_bookings_hold_room_that_the_real_worker_has_again():
    """A runs in 1..2 but was forecast 5 periods: booked in 3, 4, 5 with 6, 7, 8 tokens."""
    trace_forecast = Wrong((5, 1))
    trace = Trace([3, 4], [2, 1], release_iteration=[1, 3])
    cluster = Cluster([1], kv_tokens=[20], step_time=StepTime(1.0, 0.0))
    starts = {
        residuals: simulate(
            trace, cluster, planner(residuals), forecast=trace_forecast, max_iterations=20
        ).admission_iteration.tolist()
        for residuals in ("true", "open-loop")
    }
    assert starts == {"true": [1, 3], "open-loop": [1, 6]}  # one slot: B waits for the booking


@pytest.mark.parametrize("last_period", ["fixed", "receding"])
def test_with_true_lengths_both_see_the_same(last_period):
    by_workers = seen("true", Oracle(), last_period)
    assert by_workers[0][:3] == [1, 1, 2]
    assert by_workers[1][:3] == [14, 13, 20]
    assert seen("open-loop", Oracle(), last_period) == by_workers


def _random_run(name, residuals, forecast, batching):
    rng = np.random.default_rng(3)
    trace = Trace(
        rng.integers(1, 30, 30),
        rng.integers(1, 12, 30),
        release_iteration=np.sort(rng.integers(1, 20, 30)),
    )
    cluster = Cluster([2, 4], kv_tokens=[50, 90], step_time=StepTime(1.0, 0.0))
    policy = planner(residuals, name, periods=60)
    return simulate(trace, cluster, policy, forecast=forecast, batching=batching, periods=60)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("batching", ["decode", "mixed"])
def test_runs_with_true_lengths_are_the_same(name, batching):
    """The bookings of a run without forecast errors are the workers themselves."""
    runs = [_random_run(name, way, Oracle(), batching) for way in ("true", "open-loop")]
    assert np.array_equal(runs[0].admission_iteration, runs[1].admission_iteration)
    assert np.array_equal(runs[0].worker, runs[1].worker)


@pytest.mark.parametrize("name", POLICIES)
def test_with_wrong_lengths_the_engine_still_accepts_every_start(name):
    run = _random_run(name, "open-loop", NoisyOracle(0.9), "decode")
    assert run.metrics.finished > 0


def test_an_unknown_kind_of_residuals_is_refused():
    with pytest.raises(InputError, match="residuals"):
        PeriodOptions(residuals="guessed")
