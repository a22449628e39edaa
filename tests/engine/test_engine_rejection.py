"""Requests that a policy turns away during a run: counted, exported, replayed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.engine import KvOptions, replay_policy, simulate
from olprouting.errors import InputError
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import REJECT, FunctionPolicy
from olprouting.traces import read_trace

SECOND = StepTime(1.0, 0.0)


def policy(function, **kind):
    return FunctionPolicy("mine", function, **({"maximal": False} | kind))


def test_three_requests_by_hand() -> None:
    """Iteration 1: A starts, B is turned away; A's slot is free again in 3, and C moves up.

    C arrives in iteration 2 and waits at position 0 while A runs. It has 1 token.
    """
    seen = []

    def choose(view, rng):
        seen.append((view.iteration, view.waiting_requests.tolist()))
        return [(0, 0), (1, REJECT)] if view.iteration == 1 else [(0, 0)]

    run = simulate(
        Trace([1, 1, 1], [2, 9, 1], release_iteration=[1, 1, 2]),
        Cluster([1], step_time=SECOND),
        policy(choose),
        series_every=1,
    )
    assert seen == [(1, [0, 1]), (3, [2])]
    numbers = run.metrics
    assert (numbers.arrived, numbers.finished, numbers.rejected, numbers.unfinished) == (3, 2, 1, 0)
    assert numbers.decode_tokens == 3
    assert run.rejected.tolist() == [False, True, False]
    assert run.rejection_iteration.tolist() == [-1, 1, -1]
    assert run.worker.tolist() == [0, -1, 0]
    assert run.admission_iteration.tolist() == [1, -1, 3]
    assert run.series_frame()["admitted_requests"].tolist() == [1, 0, 1]
    assert run.series_frame()["waiting_requests"].tolist() == [0, 1, 0]
    assert run.satisfaction_rate(10) == 2 / 3


def test_rejections_take_no_slot() -> None:
    """One slot, one start, three rejections: four pairs are not too many."""
    run = simulate(
        Trace([1] * 4, [1] * 4, release_iteration=[1] * 4),
        Cluster([1], step_time=SECOND),
        policy(lambda view, rng: [(0, REJECT), (1, REJECT), (2, 0), (3, REJECT)]),
    )
    assert run.worker.tolist() == [-1, -1, 0, -1]
    assert run.metrics.rejected == 3


def test_a_run_in_which_all_are_turned_away_ends() -> None:
    """One a period: the idle periods in between are no standstill, and nothing is left over."""
    run = simulate(
        Trace([1] * 5, [1] * 5, release_iteration=[1, 1, 1, 9, 9]),
        Cluster([1], step_time=SECOND),
        policy(lambda view, rng: [(0, REJECT)]),
        max_idle_iterations=1,
    )
    assert run.rejection_iteration.tolist() == [1, 2, 3, 9, 10]
    assert (run.metrics.rejected, run.metrics.unfinished) == (5, 0)
    assert run.metrics.ttft.mean_s is None


@pytest.mark.parametrize("limits", [None, [90, 90]])
def test_a_maximal_policy_may_not_reject(limits) -> None:
    with pytest.raises(InputError, match="policy 'mine', iteration 1: worker -1 turns a request"):
        simulate(
            Trace([1], [1], release_iteration=[1]),
            Cluster([1, 1], kv_tokens=limits),
            policy(lambda view, rng: [(0, REJECT)], maximal=True),
        )


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, REJECT), (0, REJECT)], "it chose a request twice"),
        ([(0, REJECT), (0, 1)], "it chose a request twice"),
        ([(3, REJECT)], r"waiting positions must lie in 0\.\.2"),
        ([(0, -2)], r"workers must lie in 0\.\.1, or be -1 to reject"),
        ([(0, 0), (1, 0), (2, REJECT)], "more requests than it has free slots"),
    ],
)
def test_bad_pairs_are_refused_by_name(pairs, message) -> None:
    with pytest.raises(InputError, match=f"policy 'mine', iteration 1: .*{message}"):
        simulate(
            Trace([1] * 3, [1] * 3), Cluster([1, 1]), policy(lambda view, rng: pairs), backlog=3
        )


@pytest.mark.parametrize("clock", ["barrier", "independent"])
@pytest.mark.parametrize("released", ["time", "iteration", "backlog"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_nobody_is_lost_and_a_replay_does_the_same(tmp_path_factory, clock, released, data) -> None:
    """A policy that starts, rejects or ignores at random, also when no slot is free.

    Catches rejected requests that are counted twice, come back, hold a place in the queue, or are
    turned away at another moment in the replay.
    """
    requests = data.draw(st.integers(1, 25))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    prompt, decode = rng.integers(1, 40, requests), rng.geometric(0.3, requests)
    prompt[rng.random(requests) < 0.1] = 200  # no worker can hold them
    when = np.cumsum(rng.choice([0, 0, 1, 30], requests))
    when -= when[0]  # as a trace is when it is read
    trace = Trace(
        prompt,
        decode,
        arrival_s=when / 10 if released == "time" else None,
        release_iteration=when + 1 if released == "iteration" else None,
    )

    def choose(view, rng):
        free, left = view.free_slots, 1 + int(view.kv_free_tokens.min(initial=10**6))
        for j in range(len(view.waiting_requests)):
            what = rng.integers(4)
            if what == 0:
                yield j, REJECT
            elif what > 1 and free.any() and view.waiting_kv_tokens[j] < left // 2:
                g = int(np.argmax(free))
                free[g] -= 1
                yield j, g

    options = {"clock": clock, "kv": KvOptions("reserve", oversize="reject")}
    cluster = Cluster([2, 3], kv_tokens=[100, 150], step_time=StepTime(0.017, 3e-5, 0.001))
    run = simulate(
        trace,
        cluster,
        policy(choose, needs_residents=True),
        backlog=4 if released == "backlog" else None,
        seed=1,
        max_idle_iterations=50,
        **options,
    )
    numbers = run.metrics
    assert numbers.arrived == numbers.finished + numbers.rejected + numbers.unfinished
    assert numbers.rejected == run.rejected.sum()
    assert not (run.rejected & (run.finish_iteration > 0)).any()
    assert (run.rejection_iteration[run.rejected] >= run.release_iteration[run.rejected]).all()
    assert run.rejected[prompt == 200].all() or numbers.unfinished
    if numbers.unfinished or numbers.kv.preemptions:
        return
    path = tmp_path_factory.mktemp("run") / "run.csv"
    run.to_frame().to_csv(path, index=False)
    table = pd.read_csv(path)
    again = simulate(read_trace(path), cluster, replay_policy(table), **options)
    assert again.metrics == numbers
    for name in ("worker", "admission_iteration", "rejection_iteration", "finish_s"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name), err_msg=name)


def test_a_replay_that_would_reject_too_late_is_refused() -> None:
    table = Trace([1], [1], release_iteration=[1]).to_frame()
    table["worker"], table["admission_iteration"], table["rejection_iteration"] = -1, -1, 2
    late = Trace([1], [1], release_iteration=[5])
    with pytest.raises(InputError, match="row 0: the request was rejected in iteration 2"):
        simulate(late, Cluster([1]), replay_policy(table))
