"""Dispatch on arrival, and closed loops, against a referee, a central queue and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from reference_clocks import Referee
from reference_dispatch import ArrivalReferee
from test_engine_against_reference import same_views, traces
from test_engine_kv_and_clocks_reference import (
    agree,
    check_limits,
    clusters,
    model_options,
)

from olprouting.engine import KvOptions, replay_policy, simulate
from olprouting.errors import InputError
from olprouting.forecasts import NoisyOracle, Oracle
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import PolicyOptions, make_policy

COUNTING = (
    "random", "round-robin", "power-of-two", "jsq", "least-load", "vllm", "dynamo",
    "sglang", "least-imbalance",
)  # fmt: skip
BY_INDEX = PolicyOptions(ties="index", horizon=0)


def released(draw, trace, run_options):
    """Arrivals that are no backlog: those of the trace, or a closed loop."""
    backlog = run_options.pop("backlog")
    in_flight = None if backlog is None else draw(st.integers(1, 6))
    return run_options | {"in_flight": in_flight}


@settings(max_examples=120, deadline=None)
@given(data=st.data(), trace=traces(), cluster=clusters(), name=st.sampled_from(COUNTING))
def test_dispatch_on_arrival_equals_the_referee(data, trace, cluster, name) -> None:
    """Catches a queue out of order, a wrong count in a view, an arrival noticed late."""
    kv, run_options, spread = data.draw(model_options(trace))
    run_options = released(data.draw, trace, run_options)
    policy = make_policy(name, cluster.workers, PolicyOptions(horizon=0))
    forecast = Oracle() if spread is None else NoisyOracle(spread)
    options = {"forecast": forecast, "kv": KvOptions(**kv, oversize="reject"), **run_options}
    views = []
    compiled = simulate(trace, cluster, policy, dispatch="arrival", **options)
    plain = simulate(
        trace,
        cluster,
        policy,
        dispatch="arrival",
        on_decision=lambda made: views.append(made.view.copy()),
        **options,
    )
    policy.memory[:] = 0
    run = ArrivalReferee(trace, cluster, policy.route, spread=spread, **kv, **run_options).run()
    agree(compiled, run)
    same_views(views, run.views)
    assert plain.metrics == compiled.metrics
    check_limits(compiled, run, cluster)
    if run_options["periods"] is None:
        assert compiled.metrics.unfinished == 0
    if cluster.kv_tokens is not None:
        event(f"preempted: {compiled.metrics.kv.preemptions > 0}")
    event(f"queued: {compiled.metrics.queues.mean_queued_requests > 0}")


@settings(max_examples=40, deadline=None)
@given(data=st.data(), trace=traces(), cluster=clusters(), name=st.sampled_from(COUNTING[:5]))
def test_a_closed_loop_under_a_central_queue_equals_the_referee(data, trace, cluster, name) -> None:
    """Catches a completion that releases nothing, or a rejection that is counted in flight."""
    kv, run_options, _ = data.draw(model_options(trace))
    run_options = run_options | {"backlog": None, "in_flight": data.draw(st.integers(1, 6))}
    policy = make_policy(name, cluster.workers)
    result = simulate(trace, cluster, policy, kv=KvOptions(**kv, oversize="reject"), **run_options)
    policy.memory[:] = 0
    agree(result, Referee(trace, cluster, policy.route, **kv, **run_options).run())


@settings(max_examples=40, deadline=None)
@given(data=st.data(), trace=traces(), cluster=clusters())
def test_with_one_worker_the_two_ways_of_dispatch_coincide(data, trace, cluster) -> None:
    """One worker's queue is the central one: spec 11.3.

    With the independent clock the central run notices an arrival at the end of a step, so that
    iterations are numbered differently; the times of tokens are not.
    """
    kv, run_options, _ = data.draw(model_options(trace))
    run_options = released(data.draw, trace, run_options)
    alone = Cluster(
        cluster.slots[:1],
        kv_tokens=None if cluster.kv_tokens is None else cluster.kv_tokens[:1],
        step_time=cluster.step_time,
    )
    central, arrival = (
        simulate(
            trace,
            alone,
            make_policy("jsq", 1),
            dispatch=dispatch,
            kv=KvOptions(**kv, oversize="reject"),
            **run_options,
        )
        for dispatch in ("central", "arrival")
    )
    same = ["first_token_s", "finish_s", "preemptions"]
    if run_options["clock"] == "barrier":
        same += ["admission_iteration", "release_s", "first_token_iteration", "finish_iteration"]
        rows = central.metrics.to_row(), arrival.metrics.to_row()
        assert rows[0].items() <= rows[1].items()
    for name in same:
        np.testing.assert_array_equal(getattr(arrival, name), getattr(central, name))


@pytest.fixture(scope="module")
def hand():
    """Two workers of one slot, round robin, four requests at once; a step takes a second.

    Requests 0 and 2 go to worker 0, 1 and 3 to worker 1. Request 0 takes 4 steps, 1 takes 1: the
    third waits for the first while worker 1 is empty from iteration 4 on.
    """
    trace = Trace([5, 5, 7, 2], [4, 1, 2, 2], arrival_s=[0.0] * 4)
    cluster = Cluster([1, 1], step_time=StepTime(1.0, 0.0))
    return simulate(
        trace, cluster, make_policy("round-robin", 2), dispatch="arrival", series_every=1
    )


def test_a_request_waits_for_its_worker_while_the_other_is_empty(hand) -> None:
    """Catches a request that changes its worker, or starts before its slot is free."""
    assert hand.worker.tolist() == [0, 1, 0, 1]
    assert hand.admission_iteration.tolist() == [1, 1, 5, 2]
    assert hand.finish_s.tolist() == [4, 1, 6, 3]
    assert hand.series_load_tokens.tolist() == [[5, 5], [6, 2], [7, 3], [8, 0], [7, 0], [8, 0]]
    assert hand.series_frame()["waiting_requests"].tolist() == [2, 1, 1, 1, 0, 0]


def test_waiting_is_told_before_and_after_dispatch(hand) -> None:
    """Request 2 waits 4 s, request 3 waits 1 s, both at workers; a slot is stranded once, at 4."""
    queues = hand.metrics.queues
    assert queues.before_dispatch.max_s == 0
    assert (queues.after_dispatch.mean_s, queues.after_dispatch.max_s) == (5 / 4, 4)
    assert queues.mean_queued_requests == 5 / 6
    assert queues.mean_stranded_slots == 1 / 6


def test_the_router_waits_for_the_barrier_before_it_dispatches() -> None:
    """An arrival half a second into a step of one second is sent when it is over."""
    trace = Trace([5, 5], [3, 1], arrival_s=[0.0, 0.5])
    cluster = Cluster([1, 1], step_time=StepTime(1.0, 0.0))
    run = simulate(trace, cluster, make_policy("jsq", 2), dispatch="arrival")
    assert run.metrics.queues.before_dispatch.max_s == 0.5


def test_counts_and_tokens_seen_are_as_old_as_the_signals() -> None:
    """With signals one iteration old a queue is seen when it is an iteration old."""
    trace = Trace([5, 4, 3], [9, 9, 9], release_iteration=[1, 2, 3])
    cluster = Cluster([1], step_time=StepTime(1.0, 0.0))
    seen = []
    simulate(
        trace,
        cluster,
        make_policy("least-load", 1),
        dispatch="arrival",
        signal_delay=1,
        on_decision=lambda made: seen.append(made.view.copy()),
    )
    assert [view.queued_requests.tolist() for view in seen] == [[0], [0], [0]]
    assert [view.active_requests.tolist() for view in seen] == [[0], [0], [1]]


def test_an_exported_run_is_sent_again_to_the_same_workers() -> None:
    """Catches a replay that chooses anew; preempted requests stay with their worker."""
    rng = np.random.default_rng(3)
    trace = Trace(rng.integers(1, 20, 60), rng.integers(1, 20, 60))
    options = {"in_flight": 12, "dispatch": "arrival"}
    cluster = Cluster([4, 4, 4], kv_tokens=[60] * 3)
    run = simulate(trace, cluster, make_policy("random", 3), **options)
    again = simulate(trace, cluster, replay_policy(run.to_frame(), "arrival"), **options)
    assert run.metrics.kv.preemptions > 0
    np.testing.assert_array_equal(again.finish_s, run.finish_s)


@pytest.mark.parametrize(
    ("policy", "arrivals", "remedy"),
    [
        ("jsq", {"backlog": 4}, "closed:C"),
        ("jsq", {"backlog": 4, "in_flight": 4}, "released by one"),
        ("jsq", {"in_flight": 0}, "must be >= 1"),
        ("bid-price", {"in_flight": 4}, "holds requests back"),
        ("br0", {"in_flight": 4}, "least-imbalance"),
    ],
)
def test_what_makes_no_sense_on_arrival_is_refused(policy, arrivals, remedy) -> None:
    """Catches a run that silently treats a backlog or a holding policy as something else."""
    with pytest.raises(InputError, match=remedy):
        simulate(
            Trace([1, 2], [1, 1]),
            Cluster([1, 1], kv_tokens=[99, 99] if policy == "bid-price" else None),
            make_policy(policy, 2),
            dispatch="arrival",
            **arrivals,
        )


def test_a_request_that_the_smallest_worker_cannot_hold_is_refused_by_name() -> None:
    """On arrival it might be sent there and never leave: 5 + 3 tokens, 7 in the smaller worker."""
    with pytest.raises(InputError, match="smallest worker has 7"):
        simulate(
            Trace([5], [3]),
            Cluster([1, 1], kv_tokens=[7, 20]),
            make_policy("jsq", 2),
            dispatch="arrival",
            in_flight=1,
        )
