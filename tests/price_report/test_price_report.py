"""The report on bid prices: values recomputed, bounds in order, limits equal, seeds kept."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

import olprouting as olp
from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.exact import SolveOptions, solve
from olprouting.forecasts import NoisyOracle
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import PeriodOptions, PolicyOptions, make_policy
from olprouting.price_report import (
    collected_reward,
    judge_period,
    measure_prices,
    require_equal_limits,
)
from olprouting.price_report.judge import reward_of
from olprouting.traces import poisson_by_period

PERIOD = PeriodOptions(periods=120, t1=30, t2=6)
OPTIONS = PolicyOptions(period=PERIOD, ties="index")
CLUSTER = Cluster([3, 3], kv_tokens=[90, 90], step_time=StepTime(1.0, 0.0))


@pytest.fixture(scope="module")
def trace():
    rng = np.random.default_rng(2)
    requests = Trace(rng.integers(5, 40, 50), rng.integers(2, 25, 50))
    return poisson_by_period(requests, 0.6, rng)


def measure(trace, **changes):
    arguments = {"options": OPTIONS, "sample": 15, "forecast": NoisyOracle(0.2)} | changes
    return measure_prices(trace, CLUSTER, ("jsq", "random"), **arguments)


@pytest.fixture(scope="module")
def report(trace):
    return measure(trace)


@pytest.fixture(scope="module")
def judged(trace):
    """Sampled periods of a run with their records, as the study makes them."""
    from olprouting.policies.bid_price import BidPricePolicy
    from olprouting.price_report.sampled_period import sampled_period

    policy = make_policy("bid-price", 2, OPTIONS)
    assert isinstance(policy, BidPricePolicy)
    periods = []
    simulate(
        trace,
        CLUSTER,
        policy,
        periods=120,
        on_decision=lambda event: periods.append(sampled_period(event, policy)),
    )
    chosen = periods[:: max(1, len(periods) // 15)]
    return [(period, *judge_period(period, SolveOptions())) for period in chosen]


def test_the_judged_policy_always_runs_first_and_all_periods_are_judged(report):
    assert [run.policy for run in report.runs] == ["bid-price", "prices-0", "jsq", "random"]
    assert len(report.records) == 15 == min(15, report.settings["periods_with_a_choice"])
    assert not report.interrupted
    periods = [record.period for record in report.records]
    assert periods == sorted(set(periods))


def test_bounds_are_above_optima_and_optima_above_every_way_to_choose(report):
    contested = 0
    for record in report.records:
        slack = 1e-6 * max(1.0, record.lp_bound)
        assert record.lp_bound >= record.integer_bound - slack
        assert record.integer_bound >= record.reward_integer - slack
        for way in ("subgradient", "exact", "rounding"):
            assert getattr(record, f"reward_{way}") <= record.reward_integer + slack
            assert getattr(record, f"gap_{way}") >= 0
        contested += record.contested
    assert contested >= 3


def test_bounds_say_how_they_were_proven_and_how_often_they_were_met(report):
    """Counted again from the records, with a limit that proves nothing in one of them."""
    first, *rest = report.records
    unproven = replace(first, integer_bound=None, integer_proven=False, lp_proven=False)
    again = replace(report, records=(unproven, *rest))
    periods = len(report.records)
    lp, integer, f = again.bounds
    assert (lp.name, lp.periods, lp.met) == ("lp_bound", periods, periods - 1)
    assert (integer.name, integer.periods, integer.met) == (
        "integer_bound",
        periods - 1,
        periods - 1,
    )
    assert (f.name, f.periods, f.met) == ("f_bound", periods, periods)
    assert all(hasattr(first, bound.name) and bound.proven_by for bound in again.bounds)


def test_exact_prices_have_the_smallest_f(report):
    for record in report.records:
        assert record.exact_converged
        slack = 1e-6 * max(1.0, abs(record.f_exact))
        assert record.f_exact <= record.f_subgradient + slack
        assert record.f_bound <= record.f_exact + slack
        assert record.f_gap == record.f_subgradient - record.f_exact


def test_f_of_a_sampled_period_is_that_of_its_definition(judged):
    """Catches a sample that shares arrays with the run, which would show a later state."""
    for period, record, exact in judged:
        for (batch, memory), f in (
            ((period.batch, period.memory), record.f_subgradient),
            ((exact.batch, exact.memory), record.f_exact),
        ):
            assert definition(period.sample, batch, memory) == pytest.approx(f, rel=1e-9)


def definition(sample, batch, memory):
    paid = (batch * sample.slots + memory * sample.kv_tokens).sum() * sample.slot_factor
    margins = [0.0] if not len(sample.columns.reward) else []
    for r, g, first, active, tokens in zip(*sample.columns, strict=True):
        at = range(first, min(first + active, sample.width))
        margins.append(
            max(0.0, r - sum(batch[g, i] + memory[g, i] * (tokens + i - first) for i in at))
        )
    return paid + np.mean(margins)


def test_the_reward_of_a_sampled_period_is_that_of_its_starts(judged):
    for period, record, _ in judged:
        problem = period.problem
        starts = [term_by_term(problem, j) for j, _ in period.admitted]
        assert record.reward_subgradient == pytest.approx(sum(starts))
        assert record.reward_subgradient == reward_of(problem, list(period.admitted))


def term_by_term(problem, j):
    """The paper's six terms for starting request j now."""
    w, k, T = problem.weights, problem.period, problem.periods
    o, t = int(problem.decode_tokens[j]), int(problem.arrival_period[j])
    return (
        w.alpha * min(o, T - k + 1)
        + w.beta * max(T - (k + o - 1), 0)
        + w.gamma * (T - k + 1)
        + w.sigma
        + w.zeta1 * (k + o - t < problem.t1)
        + w.zeta2 * (k - t < problem.t2)
    )


def test_the_reward_of_a_run_is_that_of_its_first_starts(trace):
    run = simulate(trace, CLUSTER, make_policy("jsq", 2, OPTIONS), periods=120)
    assert run.metrics.kv.preemptions > 0  # first starts differ from the last admissions
    w, T, total = PERIOD.weights, 120, 0.0
    for i, k in enumerate(run.first_token_iteration.tolist()):
        o, t = int(trace.decode_tokens[i]), int(run.release_iteration[i])
        if k > 0:
            total += w.alpha * min(o, T - k + 1) + w.beta * max(T - (k + o - 1), 0)
            total += w.gamma * (T - k + 1) + w.sigma
            total += w.zeta1 * (k + o - t < 30) + w.zeta2 * (k - t < 6)
    assert collected_reward(run, PERIOD, "decode") == pytest.approx(total)


def test_starts_past_the_last_period_are_worth_nothing(trace):
    run = simulate(trace, CLUSTER, make_policy("jsq", 2, OPTIONS))
    short = PeriodOptions(periods=1)
    in_first = int((run.first_token_iteration == 1).sum())
    assert collected_reward(run, short, "decode") <= 4 * in_first


def test_with_a_receding_horizon_a_late_start_is_worth_as_much_as_an_early_one():
    """One request at a time on an empty worker: each is worth the same whenever it comes."""
    lonely = Trace([1, 1], [3, 3], release_iteration=[1, 500])
    run = simulate(lonely, CLUSTER, make_policy("jsq", 2, OPTIONS))
    receding = PeriodOptions(periods=50, last_period="receding")
    first = collected_reward(run, receding, "decode")
    one = simulate(lonely.head(1), CLUSTER, make_policy("jsq", 2, OPTIONS))
    assert first == pytest.approx(2 * collected_reward(one, receding, "decode"))


def test_exact_prices_that_are_not_proven_compare_with_nothing(judged, monkeypatch):
    """Regression: after a time limit p = 0 stood in, and f(run) - f(exact) was negative."""
    from olprouting.price_report import PriceQuality
    from olprouting.prices import exact_prices

    def out_of_time(problem, **options):
        return replace(exact_prices(problem), converged=False, reason="not converged: time_limit")

    monkeypatch.setattr("olprouting.policies.bid_price.exact_prices", out_of_time)
    record, _ = judge_period(judged[3][0], SolveOptions())
    assert not record.exact_converged
    assert record.f_gap is record.distance is record.same_requests is None
    assert record.reward_exact is record.gap_exact is record.loss_exact is None
    quality = PriceQuality.of((record,))
    assert quality.share_proven == 0
    assert quality.f_gap_mean is quality.share_same_pairs is None


def test_the_same_seed_gives_the_same_report(trace, report):
    again = measure(trace)
    assert content(again) == content(report)
    assert content(measure(trace, seed=1)) != content(report)


def content(report):
    """All but the times."""
    document = {
        "runs": [asdict(run) for run in report.runs],
        "records": [asdict(record) for record in report.records],
    }
    for rows in document.values():
        for row in rows:
            for name in [n for n in row if n.startswith(("route_", "update_"))]:
                del row[name]
            for name in ("exact_s", "lp_s", "integer_s"):
                row.pop(name, None)
    return json.dumps(document)


def test_a_larger_threshold_never_lowers_the_satisfaction_of_a_run(trace):
    run = simulate(trace, CLUSTER, make_policy("bid-price", 2, OPTIONS), periods=120)
    rates = [run.satisfaction_rate(t2) for t2 in range(0, 120, 5)]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_twice_the_capacity_never_lowers_the_optimum_of_a_period(judged):
    for period, record, _ in judged:
        twice = period.problem.replace(
            slots=2 * period.problem.slots, kv_tokens=2 * period.problem.kv_tokens
        )
        wide = solve(twice, drop_oversize=True, test_uniqueness=False)
        assert wide.value >= record.lp_bound - 1e-6 * max(1.0, record.lp_bound)


def test_the_optima_of_a_period_do_not_depend_on_the_workers_numbers(judged):
    """Runs do: where workers tie, the lower number starts the request, and histories part."""
    for period, record, _ in judged:
        turned = period.problem.replace(
            slots=period.problem.slots[::-1], kv_tokens=period.problem.kv_tokens[::-1]
        )
        whole = solve(turned, formulation="integer", drop_oversize=True)
        assert whole.value == pytest.approx(record.reward_integer, rel=1e-6)


def test_runs_at_different_limits_are_not_compared(trace):
    jsq = make_policy("jsq", 2, OPTIONS)
    base = simulate(trace, CLUSTER, jsq)
    for changes, message in (
        ({"slots": [4, 3]}, r"slots: jsq ran with \[3, 3\] and jsq with \[4, 3\]"),
        ({"kv_tokens": [90, 91]}, "kv_tokens"),
        ({"kv_tokens": None}, "no limit"),
    ):
        other = simulate(trace, CLUSTER.replace(**changes), jsq)
        with pytest.raises(InputError, match=message):
            require_equal_limits([base, other])
    require_equal_limits([base, simulate(trace, CLUSTER, jsq)])


def test_ctrl_c_keeps_what_is_finished(trace):
    def stop(what, done, total):
        if what == "solve: sampled periods" and done == 3:
            raise KeyboardInterrupt

    stopped = measure(trace, on_progress=stop)
    assert stopped.interrupted
    assert len(stopped.runs) == 4
    assert len(stopped.records) == 3


def test_ctrl_c_before_anything_is_judged_still_reports_and_writes(trace, tmp_path):
    def stop(what, done, total):
        raise KeyboardInterrupt

    stopped = measure(trace, on_progress=stop)
    assert stopped.interrupted
    assert stopped.records == ()
    assert stopped.quality is None
    assert stopped.to_document()["prices"] is None
    assert stopped.write(tmp_path)


def test_the_report_is_written_in_full(report, tmp_path):
    written = {path.name for path in report.write(tmp_path / "new")}
    names = ("runs", "requests", "periods", "prices", "price_strip", "convergence")
    tables = {f"{name}.{suffix}" for name in names for suffix in _SUFFIXES}
    figures = {f"{f}.{s}" for f in _FIGURES for s in ("svg", "pdf")}
    assert written == {"prices.json", "prices.html"} | figures | tables
    document = json.loads((tmp_path / "new" / "prices.json").read_text())
    assert document["schema"] == "olprouting/prices/1"
    assert document["settings"]["slots"] == [3, 3]
    assert len(pd.read_parquet(tmp_path / "new" / "periods.parquet")) == 15
    assert set(report.prices["kind"]) == {"learned", "nearest optimal"}


_SUFFIXES = ("csv", "parquet")
_FIGURES = ("rewards", "prices", "price_strip", "convergence")


def test_the_convergence_table_starts_at_no_prices_and_ends_nearer_to_the_minimum(report):
    steps = report.convergence
    assert steps["step"].iloc[0] == 0
    assert (steps["f"] >= steps["f_exact"] - 1e-9).all()
    assert steps["f"].iloc[-1] < steps["f"].iloc[0]


def test_the_independent_clock_is_reported_in_seconds(trace):
    timed = poisson_by_period(trace, 0.6, np.random.default_rng(3), period_s=1.0)
    period = PeriodOptions(periods=200, t1=30, t2=6, period_s=1.0)
    report = measure_prices(
        timed,
        CLUSTER,
        ("jsq",),
        options=PolicyOptions(period=period),
        sample=5,
        clock="independent",
    )
    assert all(run.satisfaction is None and run.ttft_mean is None for run in report.runs)
    assert all(run.ttft_mean_s >= 0 and run.reward > 0 for run in report.runs)
    assert report.records


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample": 0}, "sample = 0"),
        ({"clock": "independent"}, "period_s"),
        ({"options": PolicyOptions(period=PeriodOptions(period_s=1.0))}, "barrier"),
        ({"clock": "wall"}, "unknown clock"),
    ],
)
def test_what_does_not_fit_together_is_refused(trace, changes, message):
    with pytest.raises(InputError, match=message):
        measure(trace, **changes)


def test_workers_without_kv_limits_are_refused(trace):
    with pytest.raises(InputError, match="kv_tokens"):
        measure_prices(trace, Cluster([3, 3]), options=OPTIONS)


def test_arrivals_by_period_have_the_rate_and_keep_the_requests():
    many = Trace(np.ones(4000, int), np.ones(4000, int))
    by_period = poisson_by_period(many, 0.4, np.random.default_rng(0))
    assert by_period.release_iteration[0] == 1
    # the mean gap of 4000 arrivals is within 6 standard errors of 2.5
    assert by_period.release_iteration[-1] / 4000 == pytest.approx(2.5, rel=6 / 4000**0.5)
    with pytest.raises(InputError, match="rate"):
        poisson_by_period(many, 0.0, np.random.default_rng(0))


def test_the_names_are_exported():
    assert olp.measure_prices is measure_prices
    assert olp.PriceReport.__name__ == "PriceReport"
