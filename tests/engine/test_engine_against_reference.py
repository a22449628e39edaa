"""Compiled loop == plain Python loop == the referee in reference_engine.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from reference_engine import run_reference

from olprouting.engine import simulate
from olprouting.forecasts import NoisyOracle, Oracle
from olprouting.instances import Cluster, PowerModel, StepTime, Trace
from olprouting.policies import FunctionPolicy, PolicyOptions, make_policy

COMPILED = ("random", "round-robin", "power-of-two", "jsq", "least-load", "br0", "brh")
PER_REQUEST = {
    "worker": "worker",
    "admission_iteration": "admission",
    "release_iteration": "release",
    "release_s": "release_s",
    "first_token_s": "first_s",
    "finish_s": "finish_s",
}
SERIES = {
    "iteration": "iteration",
    "start_s": "start_s",
    "step_s": "step_s",
    "imbalance_tokens": "imbalance",
    "active_requests": "active",
    "waiting_requests": "waiting",
    "admitted_requests": "admitted",
}


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Up to 14 requests: bursts, idle gaps, one-token requests, one that outlasts everything."""
    requests = draw(st.integers(1, 14))
    columns = {
        "prompt_tokens": st.integers(1, 20),
        "decode_tokens": st.one_of(st.integers(1, 3), st.integers(1, 12), st.just(60)),
    }
    gaps = {"arrival_s": (0.0, 0.0, 0.03, 1.0, 70.0), "release_iteration": (0, 0, 1, 3, 90)}
    drawn = {
        name: draw(st.lists(values, min_size=requests, max_size=requests))
        for name, values in columns.items()
    }
    clock = draw(st.sampled_from(["arrival_s", "release_iteration", "backlog"]))
    if clock in gaps:
        steps = draw(st.lists(st.sampled_from(gaps[clock]), min_size=requests, max_size=requests))
        drawn[clock] = np.cumsum(steps) + (clock == "release_iteration")
    return Trace(**drawn)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """One to four workers of unequal size; every coefficient of the step time on and off."""
    return Cluster(
        slots=draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)),
        step_time=StepTime(
            fixed_s=draw(st.sampled_from([0.0, 0.02, 1.0])),
            per_token_s=draw(st.sampled_from([1e-3, 0.5])),
            per_slot_s=draw(st.sampled_from([0.0, 0.1])),
            shared_per_token_s=draw(st.sampled_from([0.0, 0.01])),
        ),
        power=draw(st.sampled_from([PowerModel(), PowerModel(50, 90, 1.5)])),
    )


@st.composite
def runs(draw: st.DrawFn, policies=COMPILED):
    """(trace, cluster, policy, arguments of simulate, spread of the forecast)."""
    trace, cluster = draw(traces()), draw(clusters())
    options = PolicyOptions(
        ties=draw(st.sampled_from(["random", "index"])),
        horizon=draw(st.integers(0, 6)),
        beta=draw(st.sampled_from([1.0, 3.0, 14.67])),
        gamma=draw(st.sampled_from([1.0, 0.5, 0.86])),
        r_max=draw(st.integers(1, 5)),
        s_greedy=draw(st.integers(0, 8)),
        br_growth=draw(st.sampled_from(["frozen", "growing"])),
        subset_search=draw(st.sampled_from(["enumerate", "reachable"])),
    )
    policy = make_policy(draw(st.sampled_from(policies)), cluster.workers, options)
    recorded = trace.arrival_s is not None or trace.release_iteration is not None
    arguments = {
        "backlog": None if recorded else draw(st.integers(1, 6)),
        "refresh": draw(st.sampled_from(["iteration", "horizon"])),
        "signal_delay": 0 if policy.horizon else draw(st.sampled_from([0, 0, 1, 3])),
        "seed": draw(st.integers(0, 9)),
        "max_iterations": draw(st.sampled_from([None, None, 0, 1, 7])),
    }
    return trace, cluster, policy, arguments, draw(st.sampled_from([None, 0.2, 1.0]))


def agree(result, run) -> None:
    """Fail unless a result is the referee's: integers exactly, seconds up to rounding."""
    for ours, theirs in PER_REQUEST.items():
        expected = [request[theirs] for request in run.requests]
        np.testing.assert_allclose(getattr(result, ours), expected, rtol=1e-9, err_msg=ours)
    row = result.metrics.to_row()
    assert {name for name in row if not name.startswith("periods_")} == run.metrics.keys()
    for name, value in run.metrics.items():
        close = value if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
        assert row[name] == close, name
    frame = result.series_frame()
    for ours, theirs in SERIES.items():
        np.testing.assert_allclose(frame[ours], [s[theirs] for s in run.steps], rtol=1e-9)
    if run.steps:
        loads = np.array([s["loads"] for s in run.steps])
        np.testing.assert_array_equal(result.series_load_tokens, loads)
        np.testing.assert_array_equal(frame["max_load_tokens"], loads.max(axis=1))
        np.testing.assert_allclose(frame["mean_load_tokens"], loads.mean(axis=1))


def same_views(seen, expected) -> None:
    assert len(seen) == len(expected)
    for ours, theirs in zip(seen, expected, strict=True):
        for name, value in theirs._asdict().items():
            np.testing.assert_array_equal(getattr(ours, name), value, err_msg=name)


@pytest.mark.parametrize("policies", [COMPILED, ("brh",)], ids=["all", "lookahead"])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_compiled_loop_equals_plain_loop_equals_referee(policies, data) -> None:
    """Catches any slip of the incremental engine: loads, projection, queue, clock, metrics."""
    trace, cluster, policy, arguments, spread = data.draw(runs(policies))
    forecast = Oracle() if spread is None else NoisyOracle(spread)
    views = []
    compiled = simulate(trace, cluster, policy, forecast=forecast, series_every=1, **arguments)
    plain = simulate(
        trace,
        cluster,
        policy,
        forecast=forecast,
        series_every=1,
        on_decision=lambda made: views.append(made.view.copy()),
        **arguments,
    )
    policy.memory[:] = 0
    run = run_reference(
        trace, cluster, policy.route, horizon=policy.horizon, spread=spread, **arguments
    )
    agree(compiled, run)
    same_views(views, run.views)
    for name in PER_REQUEST:  # the two loops agree to the last bit
        np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
    assert plain.metrics == compiled.metrics
    np.testing.assert_array_equal(plain.series, compiled.series)
    for kind in ("idle_iterations", "censored", "single_token_requests"):
        event(f"{kind}: {run.metrics[kind] > 0}")  # --hypothesis-show-statistics
    event(f"shrunken window: {len({v.projected_load_tokens.shape for v in run.views}) > 1}")


def latest_first(view, rng):
    """Admit from the end of the queue to random free slots: nothing like a built-in policy."""
    slots = [g for g, free in enumerate(view.free_slots) for _ in range(free)]
    rng.shuffle(slots)
    last = len(view.waiting_requests) - 1
    return [(last - i, slots[i]) for i in range(view.admissions)]


@settings(max_examples=200, deadline=None)
@given(runs(policies=("jsq",)), st.integers(0, 7))
def test_a_policy_that_skips_the_queue_equals_the_referee(case, horizon) -> None:
    """Catches mistakes where admissions are out of queue order: gaps in the queue, wrong rows."""
    trace, cluster, _, arguments, spread = case
    arguments["signal_delay"] = 0 if horizon else arguments["signal_delay"]
    policy = FunctionPolicy("latest-first", latest_first, horizon)
    views = []
    result = simulate(
        trace,
        cluster,
        policy,
        forecast=Oracle() if spread is None else NoisyOracle(spread),
        series_every=1,
        on_decision=lambda made: views.append(made.view.copy()),
        **arguments,
    )
    run = run_reference(trace, cluster, latest_first, horizon=horizon, spread=spread, **arguments)
    agree(result, run)
    same_views(views, run.views)


@settings(max_examples=60, deadline=None)
@given(runs(policies=("jsq", "br0", "brh")), st.integers(1, 9))
def test_a_wider_view_changes_nothing_that_the_policy_does(case, further) -> None:
    """Catches a policy that looks beyond its own horizon because somebody else asked for more."""
    trace, cluster, policy, arguments, _ = case
    arguments |= {"refresh": "iteration", "signal_delay": 0}
    alone = simulate(trace, cluster, policy, **arguments)
    widths = set()
    watched = simulate(
        trace,
        cluster,
        policy,
        view_horizon=policy.horizon + further,
        on_decision=lambda made: widths.add(made.view.projected_load_tokens.shape[1]),
        **arguments,
    )
    np.testing.assert_array_equal(watched.worker, alone.worker)
    assert watched.metrics == alone.metrics
    assert widths <= {policy.horizon + further + 1}
