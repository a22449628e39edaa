"""The Pareto helper: dominance on points made by hand, runs as `simulate` makes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.instances import WEIGHT_SETS, Cluster, SloWeights, StepTime, Trace
from olprouting.policies import PeriodOptions, PolicyOptions, make_policy
from olprouting.price_report import METRICS, non_dominated, pareto, weight_sweep
from olprouting.price_report.run_outcome import RunOutcome, requests_of
from olprouting.traces import poisson_by_period

PERIOD = PeriodOptions(periods=120, t1=30, t2=6)
OPTIONS = PolicyOptions(period=PERIOD, ties="index")
CLUSTER = Cluster([3, 3], kv_tokens=[90, 90], step_time=StepTime(1.0, 0.0))
WEIGHTS = (
    SloWeights.preset("latency-only"),
    SloWeights.preset("throughput-only"),
    SloWeights.preset("tail-only"),
    SloWeights.preset("latency-only"),
)


@pytest.fixture(scope="module")
def trace():
    rng = np.random.default_rng(2)
    requests = Trace(rng.integers(5, 40, 50), rng.integers(2, 25, 50))
    return poisson_by_period(requests, 0.6, rng)


@pytest.fixture(scope="module")
def front(trace):
    return pareto(trace, CLUSTER, WEIGHTS, ("ttft_mean", "tokens_per_period"), options=OPTIONS)


@pytest.mark.parametrize(
    ("points", "directions", "expected"),
    [
        ([(1, 4), (2, 3), (3, 3), (4, 1)], ("min", "min"), [1, 1, 0, 1]),
        ([(1, 4), (2, 3), (3, 5), (4, 5)], ("min", "max"), [1, 0, 1, 0]),
        ([(1, 4), (1, 5), (2, 4)], ("min", "min"), [1, 0, 0]),  # ties in one metric
        ([(1, 4), (1, 5), (2, 5)], ("min", "max"), [0, 1, 0]),
        ([(1, 2), (1, 2), (2, 1), (2, 2)], ("min", "min"), [1, 1, 1, 0]),  # duplicates stay both
        ([(1, 2), (1, 2), (0, 2)], ("min", "max"), [0, 0, 1]),
        ([(3, 3)], ("max", "max"), [1]),
        ([(np.nan, 9), (1, 2)], ("min", "max"), [0, 1]),  # no value: neither on the front nor above
        ([], ("min", "max"), []),
    ],
)
def test_dominance_by_hand(points, directions, expected):
    assert non_dominated(points, directions).tolist() == [bool(mark) for mark in expected]


def test_one_run_per_weight_vector_as_simulated(trace, front):
    assert [point.weights for point in front.points] == list(WEIGHTS)
    assert not front.interrupted
    for point in front.points:
        options = replace(OPTIONS, period=replace(PERIOD, weights=point.weights))
        run = simulate(trace, CLUSTER, make_policy("bid-price", 2, options), periods=120)
        requests = requests_of(run, options.period, "decode")
        expected = RunOutcome.of(run, requests, options.period.t2, [], [])
        for name in METRICS:
            assert getattr(point.outcome, name) == getattr(expected, name)


def test_marks_are_those_of_the_values(front):
    frame = front.to_frame()
    assert list(frame.columns) == [
        *("alpha", "beta", "gamma", "sigma", "zeta1", "zeta2"),
        *("ttft_mean", "tokens_per_period", "censored", "non_dominated"),
    ]
    values = frame[["ttft_mean", "tokens_per_period"]]
    assert len(values.drop_duplicates()) > 1
    marks = non_dominated(values.to_numpy(), ("min", "max"))
    assert frame["non_dominated"].tolist() == marks.tolist()
    assert marks[0] == marks[3]  # the same weights twice
    assert len(front.front) == marks.sum() >= 1


def test_the_plot_shows_every_run_and_names_the_metrics(front):
    from matplotlib.figure import Figure

    ax = front.plot(Figure().subplots())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ttft mean (periods)", "tokens per period")
    assert sum(len(line.get_xdata()) for line in ax.lines) == len(WEIGHTS)
    assert sorted(text.get_text() for text in ax.texts) == sorted(front.names)


def test_runs_are_named_by_published_weights_or_by_what_differs(front):
    """Regression: points were numbered, and the reader had to look every number up."""
    assert list(front.names) == [
        next(name for name, weights in WEIGHT_SETS.items() if weights == point.weights)
        for point in front.points
    ]
    own = weight_sweep(SloWeights(1, 2, 3, 4, 5, 6), "beta", (0.5, 7))
    points = [
        replace(point, weights=weights) for point, weights in zip(front.points, own, strict=False)
    ]
    assert replace(front, points=tuple(points)).names == ("beta 0.5", "beta 7")


def test_metrics_are_numbers_of_a_run():
    assert set(METRICS) <= set(RunOutcome.__dataclass_fields__)
    assert set(METRICS.values()) == {"min", "max"}


def test_a_sweep_changes_one_weight():
    swept = weight_sweep(WEIGHTS[0], "zeta2", [0, 0.5, 2])
    assert [weights.zeta2 for weights in swept] == [0, 0.5, 2]
    assert {weights.replace(zeta2=0) for weights in swept} == {WEIGHTS[0].replace(zeta2=0)}
    with pytest.raises(InputError, match=r"unknown weight 'zeta'.*zeta1"):
        weight_sweep(WEIGHTS[0], "zeta", [1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ("ttft", "finished")}, "unknown metric 'ttft'; known: .*ttft_mean"),
        ({"metrics": ("reward", "finished")}, "unknown metric 'reward'"),
        ({"metrics": ("finished", "finished")}, "two different"),
        ({"metrics": "finished"}, "two different"),
        ({"weights": ()}, "at least one"),
        ({"weights": [1.0]}, "must be SloWeights"),
    ],
)
def test_what_cannot_be_done_is_named(trace, changes, message):
    with pytest.raises(InputError, match=message):
        pareto(trace, CLUSTER, **({"weights": WEIGHTS, "options": OPTIONS} | changes))


def test_metrics_in_periods_need_common_periods(trace):
    options = replace(OPTIONS, period=replace(PERIOD, period_s=1.0))
    with pytest.raises(InputError, match=r"ttft_mean.*independent"):
        pareto(trace, CLUSTER, WEIGHTS, options=options, clock="independent")


def test_ctrl_c_keeps_the_runs_finished_until_then(trace, front, monkeypatch):
    from olprouting.price_report.runner import Runner

    whole, runs = Runner.run, []

    def run_two(runner, *arguments):
        runs.append(runner)
        if len(runs) > 2:
            raise KeyboardInterrupt
        return whole(runner, *arguments)

    monkeypatch.setattr(Runner, "run", run_two)
    cut = pareto(trace, CLUSTER, WEIGHTS, front.metrics, options=OPTIONS)
    assert cut.interrupted
    assert [point.weights for point in cut.points] == list(WEIGHTS[:2])
