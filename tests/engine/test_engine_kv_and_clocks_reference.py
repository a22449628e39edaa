"""Both clocks, both kernels and every KV mode against the referee in reference_clocks.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from reference_clocks import Referee
from test_engine_against_reference import same_views, traces

from olprouting.engine import KvOptions, simulate
from olprouting.forecasts import NoisyOracle, Oracle
from olprouting.instances import Cluster, StepTime
from olprouting.policies import FunctionPolicy, PolicyOptions, make_policy

FCFS = ("random", "round-robin", "power-of-two", "jsq", "least-load")
PER_REQUEST = {
    "worker": "worker",
    "admission_iteration": "admission",
    "release_iteration": "release",
    "release_s": "release_s",
    "first_token_iteration": "first",
    "first_token_s": "first_s",
    "finish_iteration": "finish",
    "finish_s": "finish_s",
    "preemptions": "preemptions",
}


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """One to three workers; KV limits between too small for most requests and out of the way."""
    workers = draw(st.integers(1, 3))
    each = {"min_size": workers, "max_size": workers}
    sizes = st.lists(st.sampled_from([12, 24, 35, 60, 90, 400]), **each)
    return Cluster(
        slots=draw(st.lists(st.integers(1, 4), **each)),
        kv_tokens=draw(st.one_of(sizes, sizes, st.none())),
        step_time=StepTime(
            fixed_s=draw(st.sampled_from([0.0, 0.02, 1.0])),
            per_token_s=draw(st.sampled_from([1e-3, 0.5])),
            per_slot_s=draw(st.sampled_from([0.0, 0.1])),
        ),
    )


@st.composite
def model_options(draw: st.DrawFn, trace):
    """Options of the model, which referee and engine take alike."""
    mode = draw(st.sampled_from(["tokens", "blocks", "reserve"]))
    clock = draw(st.sampled_from(["barrier", "independent"]))
    recorded = trace.arrival_s is not None or trace.release_iteration is not None
    kv = {"mode": mode, "age_offset": draw(st.sampled_from([None, None, 0, 3]))}
    if mode == "blocks":
        kv["block_tokens"] = draw(st.sampled_from([1, 5, 16]))
    if mode == "reserve":
        kv["max_output_tokens"] = draw(st.sampled_from([None, 1, 8]))
    run = {
        "clock": clock,
        "batching": draw(st.sampled_from(["decode", "mixed"])),
        "backlog": None if recorded else draw(st.integers(1, 6)),
        "periods": draw(st.sampled_from([None, None, 1, 9, 40])) if clock == "barrier" else None,
        "max_idle_iterations": draw(st.sampled_from([1, 4])),
        "seed": draw(st.integers(0, 9)),
    }
    return kv, run, draw(st.sampled_from([None, 0.2, 1.0]))


def agree(result, run) -> None:
    """Integers exactly, seconds up to rounding."""
    for ours, theirs in PER_REQUEST.items():
        expected = [request[theirs] for request in run.requests]
        np.testing.assert_allclose(getattr(result, ours), expected, rtol=1e-9, err_msg=ours)
    row = result.metrics.to_row()
    for name, value in run.metrics.items():
        close = value if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
        assert row[name] == close, name
    for group in ("kv_", "periods_"):
        assert {n for n in row if n.startswith(group)} == {
            n for n in run.metrics if n.startswith(group)
        }


def check_limits(result, run, cluster) -> None:
    """What must hold of every run, whatever the referee says."""
    numbers = result.metrics
    assert numbers.arrived == numbers.finished + numbers.rejected + numbers.unfinished
    assert (result.preemptions[result.rejected] == 0).all()
    if cluster.kv_tokens is not None:
        assert all(used <= cluster.kv_tokens[g] for _, g, used in run.kv_steps)
        assert (np.array(numbers.kv.peak_tokens) <= cluster.kv_tokens).all()


@settings(max_examples=250, deadline=None)
@given(data=st.data(), trace=traces(), cluster=clusters(), name=st.sampled_from(FCFS))
def test_fcfs_policies_under_kv_limits_by_either_clock_equal_the_referee(
    data, trace, cluster, name
) -> None:
    """Catches any slip in accounting, preemption, calendar, event order or head-of-line blocking.

    FCFS policies never stall: whatever is not rejected finishes, unless the periods run out.
    """
    kv, run_options, spread = data.draw(model_options(trace))
    policy = make_policy(name, cluster.workers, PolicyOptions())
    forecast = Oracle() if spread is None else NoisyOracle(spread)
    arguments = {"forecast": forecast, "kv": KvOptions(**kv, oversize="reject"), **run_options}
    views = []
    compiled = simulate(trace, cluster, policy, **arguments)
    plain = simulate(
        trace,
        cluster,
        policy,
        on_decision=lambda made: views.append(made.view.copy()),
        **arguments,
    )
    policy.memory[:] = 0
    run = Referee(trace, cluster, policy.route, spread=spread, **kv, **run_options).run()
    agree(compiled, run)
    same_views(views, run.views)
    for name in PER_REQUEST:
        np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
    assert plain.metrics == compiled.metrics
    check_limits(compiled, run, cluster)
    if run_options["periods"] is None:
        assert compiled.metrics.unfinished == 0
        rejected = trace.decode_tokens[compiled.rejected].sum()
        assert compiled.metrics.decode_tokens == trace.decode_tokens.sum() - rejected
    if cluster.kv_tokens is not None:
        event(f"preempted: {compiled.metrics.kv.preemptions > 0}")
        event(f"rejected: {compiled.metrics.rejected > 0}")
    event(f"unfinished: {compiled.metrics.unfinished > 0}")


def moody(kv_limits):
    """Return a policy that admits some requests from anywhere, or none, and overfills workers."""

    def route(view, rng):
        pairs = []
        free = view.free_slots.copy()
        some = rng.integers(0, view.admissions + 1)
        for i in rng.permutation(len(view.waiting_requests))[:some]:
            fits = free > 0
            if kv_limits is not None:  # not where it could not run even alone
                fits &= view.waiting_kv_tokens[i] <= kv_limits
            if fits.any():
                g = rng.choice(np.flatnonzero(fits))
                free[g] -= 1
                pairs.append((int(i), int(g)))
        return pairs

    return route


@settings(max_examples=150, deadline=None)
@given(data=st.data(), trace=traces(), cluster=clusters())
def test_a_policy_that_waits_and_overfills_equals_the_referee(data, trace, cluster) -> None:
    """Catches mistakes of idle iterations, gaps in the queue, and preemption of newcomers."""
    kv, run_options, spread = data.draw(model_options(trace))
    route = moody(cluster.kv_tokens)
    result = simulate(
        trace,
        cluster,
        FunctionPolicy("moody", route, maximal=False),
        forecast=Oracle() if spread is None else NoisyOracle(spread),
        kv=KvOptions(**kv, oversize="reject"),
        **run_options,
    )
    run = Referee(trace, cluster, route, spread=spread, **kv, **run_options).run()
    agree(result, run)
    check_limits(result, run, cluster)
    event(f"idled: {result.metrics.idle_iterations > 0}")
    event(f"gave up: {result.metrics.unfinished > 0}")


@settings(max_examples=60, deadline=None)
@given(trace=traces(), cluster=clusters(), batching=st.sampled_from(["decode", "mixed"]))
def test_one_worker_knows_no_difference_between_the_clocks(trace, cluster, batching) -> None:
    """A single worker waits for nobody: every number but those of the barrier is the same."""
    alone = Cluster(
        cluster.slots[:1],
        kv_tokens=None if cluster.kv_tokens is None else cluster.kv_tokens[:1],
        step_time=cluster.step_time,
    )
    recorded = trace.arrival_s is not None or trace.release_iteration is not None
    barrier, independent = (
        simulate(
            trace,
            alone,
            make_policy("jsq", 1),
            backlog=None if recorded else 3,
            batching=batching,
            kv=KvOptions(oversize="reject"),
            clock=clock,
        )
        for clock in ("barrier", "independent")
    )
    for name in PER_REQUEST:
        np.testing.assert_array_equal(getattr(independent, name), getattr(barrier, name))
    rows = barrier.metrics.to_row(), independent.metrics.to_row()
    of_the_barrier = {name for name, value in rows[1].items() if value is None}
    for name in rows[1].keys() - of_the_barrier:
        assert rows[1][name] == rows[0][name], name


@settings(max_examples=60, deadline=None)
@given(trace=traces(), cluster=clusters(), batching=st.sampled_from(["decode", "mixed"]))
def test_steps_of_equal_length_keep_the_clocks_together(trace, cluster, batching) -> None:
    """Workers that start together and need a second each stay in step without a barrier."""
    equal = cluster.replace(step_time=StepTime(1.0, 0.0))
    at_once = trace.replace(arrival_s=None, release_iteration=None)
    barrier, independent = (
        simulate(
            at_once,
            equal,
            make_policy("least-load", equal.workers),
            backlog=len(trace),
            batching=batching,
            kv=KvOptions(oversize="reject"),
            clock=clock,
        )
        for clock in ("barrier", "independent")
    )
    for name in PER_REQUEST:
        np.testing.assert_array_equal(getattr(independent, name), getattr(barrier, name))
    assert independent.metrics.makespan_s == barrier.metrics.makespan_s
