"""The independent clock by hand, policies that let requests wait, and runs of so many periods."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.engine import KvOptions, replay_policy, simulate
from olprouting.errors import InputError
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import FunctionPolicy, PolicyOptions, make_policy, register_policy

BY_INDEX = PolicyOptions(ties="index")
JSQ = make_policy("jsq", 2, BY_INDEX)
SECOND = StepTime(1.0, 0.0)

# Two workers of one slot; a step takes 1 s + 0.1 s a token. Requests A 10 o=2, B 20 o=1, C 5 o=1
# at time 0 and D 1 o=1 at 4 s.
#   worker 0: A 0 to 2.0, A 2.0 to 4.1 (11 tokens)          D 4.1 to 5.2
#   worker 1: B 0 to 3.0, C 3.0 to 4.5
# Moments: 0 (A, B), 2.0, 3.0 (C), 4.1 (D; nobody was free at 4.0), 4.5, 5.2.


@pytest.fixture(scope="module")
def apart():
    return simulate(
        Trace([10, 20, 5, 1], [2, 1, 1, 1], arrival_s=[0.0, 0.0, 0.0, 4.0]),
        Cluster([1, 1], step_time=StepTime(1.0, 0.1)),
        JSQ,
        clock="independent",
        series_every=1,
    )


def test_each_worker_runs_its_own_steps(apart) -> None:
    """Catches steps cut short by another worker's end, or slots offered in mid-step."""
    assert apart.worker.tolist() == [0, 1, 1, 0]
    assert apart.first_token_s.tolist() == pytest.approx([2.0, 3.0, 4.5, 5.2])
    assert apart.finish_s.tolist() == pytest.approx([4.1, 3.0, 4.5, 5.2])
    assert apart.release_s.tolist() == pytest.approx([0, 0, 0, 4.1])
    assert apart.series_frame()["start_s"].tolist() == pytest.approx([0, 2.0, 3.0, 4.1, 4.5])


def test_numbers_of_the_barrier_are_left_out(apart) -> None:
    """An imbalance would mean nothing here; a 0 would look like perfect balance."""
    numbers = apart.metrics
    assert numbers.iterations == 5  # steps: two of A, one each of the others
    assert numbers.makespan_s == pytest.approx(5.2)
    assert numbers.mean_imbalance_tokens is None
    assert numbers.mean_imbalance_with_idle_tokens is None
    assert numbers.mean_idle_share is None
    assert numbers.energy_j is None
    assert numbers.periods is None
    assert "imbalance_tokens" not in apart.series_frame()
    with pytest.raises(ValueError, match="has no periods"):
        apart.satisfaction_rate(3)


def test_an_idle_worker_takes_an_arrival_while_another_works() -> None:
    """B comes at 0.5 s and starts at once on worker 1; under the barrier it waits until 2 s."""
    trace = Trace([10, 10], [1, 1], arrival_s=[0.0, 0.5])
    cluster = Cluster([1, 1], step_time=StepTime(1.0, 0.1))
    apart = simulate(trace, cluster, JSQ, clock="independent")
    assert apart.finish_s.tolist() == [2.0, 2.5]
    assert simulate(trace, cluster, JSQ).finish_s.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": "brh"}, "clock 'independent': brh projects 2 iterations ahead"),
        ({"signal_delay": 1}, "signal_delay = 1 iterations needs the barrier clock"),
        ({"periods": 5}, "periods = 5 needs the barrier clock"),
        ({"shared": 0.1}, "shared_per_token_s = 0.1 is time that workers spend together"),
        ({"clock": "sundial"}, "unknown clock 'sundial'; known: barrier, independent"),
        ({"periods": 0}, "periods = 0 must be >= 1"),
        ({"max_idle_iterations": 0}, "max_idle_iterations = 0 must be >= 1"),
        ({"batching": "prefill"}, "unknown batching 'prefill'"),
    ],
)
def test_what_has_no_meaning_is_refused(arguments, message) -> None:
    """Each would otherwise be ignored in silence."""
    policy = make_policy(arguments.pop("policy", "jsq"), 2, PolicyOptions(horizon=2))
    times = StepTime(1.0, 0.1, shared_per_token_s=arguments.pop("shared", 0.0))
    arguments = {"clock": "independent", "backlog": 1, **arguments}
    with pytest.raises(InputError, match=message):
        simulate(Trace([1], [1]), Cluster([1, 1], step_time=times), policy, **arguments)


def not_before(period):
    """Return a policy that lets everybody wait until `period`."""

    def route(view, rng):
        if view.iteration < period:
            return []
        workers = np.repeat(np.arange(len(view.free_slots)), view.free_slots)
        return enumerate(workers[: view.admissions])

    return FunctionPolicy("not-before", route, maximal=False)


@pytest.mark.parametrize("clock", ["barrier", "independent"])
def test_a_policy_may_let_requests_wait(clock) -> None:
    """Three idle iterations of a second, then a step: release and start are told apart."""
    result = simulate(
        Trace([3, 3], [1, 2], arrival_s=[0.0, 0.0]),
        Cluster([2], step_time=SECOND),
        not_before(4),
        clock=clock,
    )
    assert result.admission_iteration.tolist() == [4, 4]
    assert result.finish_s.tolist() == [4.0, 5.0]
    assert (result.metrics.iterations, result.metrics.idle_iterations) == (2, 3)


def test_waiting_counts_in_periods() -> None:
    """Start in period 4 after arrival in 1 is a TTFT of 3: within 3, not below."""
    result = simulate(
        Trace([3], [2], release_iteration=[1]), Cluster([1], step_time=SECOND), not_before(4)
    )
    assert result.metrics.periods.ttft.mean == 3
    assert result.metrics.periods.end_to_end.mean == 5
    assert result.metrics.periods.tokens_per_period == 2 / 5
    assert result.satisfaction_rate(3) == 1
    assert result.satisfaction_rate(3, inclusive=False) == 0
    assert result.satisfaction_rate(2.5) == 0


@pytest.mark.parametrize("clock", ["barrier", "independent"])
@pytest.mark.parametrize("fixed_s", [0.0, 1.0])
def test_a_policy_that_admits_nobody_comes_to_an_end(clock, fixed_s) -> None:
    """Catches an endless loop, above all where idle iterations take no time.

    After five of them the clock jumps to the second arrival; after five more all is over.
    """
    result = simulate(
        Trace([1, 1], [1, 1], arrival_s=[0.0, 1000.0]),
        Cluster([1], step_time=StepTime(fixed_s, 0.1)),
        FunctionPolicy("nobody", lambda view, rng: [], maximal=False),
        clock=clock,
        max_idle_iterations=5,
    )
    numbers = result.metrics
    assert (numbers.finished, numbers.unfinished, numbers.censored) == (0, 2, True)
    assert result.release_s.tolist() == [0.0, 1000.0]
    assert numbers.idle_iterations == 10


def test_a_maximal_policy_must_admit_all() -> None:
    """Only a policy that says so may wait."""
    trace, cluster = Trace([1, 1], [1, 1]), Cluster([2])
    with pytest.raises(InputError, match="it must admit exactly 2 requests"):
        simulate(trace, cluster, FunctionPolicy("f", lambda view, rng: [(0, 0)]), backlog=2)
    register_policy("patient", maximal=False)(lambda view, rng: [(0, 0)][: view.admissions])
    result = simulate(trace, cluster, make_policy("patient", 1), backlog=2)
    assert result.admission_iteration.tolist() == [1, 2]
    greedy = FunctionPolicy("g", lambda view, rng: [(0, 0), (1, 0), (2, 0)], maximal=False)
    with pytest.raises(InputError, match="it must admit at most 2 requests"):
        simulate(Trace([1] * 3, [1] * 3), cluster, greedy, backlog=3)


def test_a_run_ends_with_its_last_period() -> None:
    """Six periods: A runs in 1..3, B in 4..6 of its 9, C was released in 5 and never admitted.

    D would come in period 7: it is unfinished, but has not arrived.
    """
    result = simulate(
        Trace([1, 1, 1, 1], [3, 9, 1, 1], release_iteration=[1, 1, 5, 7]),
        Cluster([1], step_time=SECOND),
        make_policy("jsq", 1),
        periods=6,
    )
    numbers = result.metrics
    assert (numbers.finished, numbers.unfinished, numbers.censored) == (1, 3, True)
    assert numbers.iterations == 6
    assert result.release_iteration.tolist() == [1, 1, 5, -1]
    assert result.first_token_iteration.tolist() == [1, 4, -1, -1]
    assert result.satisfaction_rate(3) == 2 / 3  # of A, B and C
    assert numbers.periods.ttft.mean == 1.5


def test_idle_periods_before_the_end_count() -> None:
    """A finishes in period 2, B would come in 100; ten periods are two busy and eight idle."""
    result = simulate(
        Trace([1, 1], [2, 1], release_iteration=[1, 100]),
        Cluster([1], step_time=SECOND),
        make_policy("jsq", 1),
        periods=10,
    )
    assert (result.metrics.iterations, result.metrics.idle_iterations) == (2, 8)
    assert result.metrics.periods.tokens_per_period == 0.2
    assert result.release_iteration.tolist() == [1, -1]


@pytest.mark.parametrize("released", ["time", "backlog"])
@pytest.mark.parametrize("batching", ["decode", "mixed"])
@pytest.mark.parametrize("clock", ["barrier", "independent"])
def test_an_exported_run_is_replayed(clock, batching, released) -> None:
    """Catches moments that shift between a run and its replay; KV limits bite without preemption.

    Reservations of the true length: requests wait for room but are never sent back. One is
    rejected.
    """
    rng = np.random.default_rng(5)
    prompt, decode = rng.integers(1, 60, 80), rng.geometric(0.1, 80)
    prompt[10] = 200
    arrival_s = np.cumsum(rng.choice([0.0, 0.01, 0.1], 80)) if released == "time" else None
    trace = Trace(prompt, decode, arrival_s=arrival_s)
    cluster = Cluster([4, 2], kv_tokens=[120, 90], step_time=StepTime(0.0173, 3.1e-5, 0.0011))
    options = {"clock": clock, "batching": batching, "kv": KvOptions("reserve", oversize="reject")}
    backlog = None if released == "time" else 7
    original = simulate(trace, cluster, JSQ, backlog=backlog, **options)
    assert original.metrics.rejected >= 1
    assert original.metrics.kv.preemptions == 0
    again = simulate(
        trace.replace(release_iteration=None if released == "time" else original.release_iteration),
        cluster,
        replay_policy(original.to_frame()),
        **options,
    )
    assert again.metrics == original.metrics
    np.testing.assert_array_equal(again.finish_s, original.finish_s)


def test_a_replay_that_cannot_be_is_refused() -> None:
    """A table tells one admission per request, and admissions are tied to the clock."""
    trace = Trace([5, 4, 3], [6, 5, 2], arrival_s=[0, 0, 0])
    cluster = Cluster([3], kv_tokens=[16], step_time=SECOND)
    table = simulate(trace, cluster, make_policy("jsq", 1)).to_frame()
    with pytest.raises(InputError, match="row 1: the request was preempted"):
        replay_policy(table)
    table = simulate(trace, Cluster([1], step_time=SECOND), make_policy("jsq", 1)).to_frame()
    late = trace.replace(arrival_s=None, release_iteration=[1, 9, 9])
    with pytest.raises(
        InputError, match=r"row 1: .* admitted in iteration 7, .* still waits in .*9"
    ):
        simulate(late, Cluster([1], step_time=SECOND), replay_policy(table))


def test_with_a_prefill_step_the_projection_comes_true() -> None:
    """Loads ahead, with perfect forecasts, are those that today's residents will have.

    A request of o tokens is active in o + 1 iterations: catches windows that end one early.
    """
    rng = np.random.default_rng(9)
    trace = Trace(rng.integers(1, 30, 60), rng.geometric(0.2, 60))
    views = []
    first_free = FunctionPolicy("first-free", not_before(1).route, horizon=6)
    result = simulate(
        trace,
        Cluster([3, 2]),
        first_free,
        backlog=5,
        batching="mixed",
        on_decision=lambda made: views.append(made.view.copy()),
    )
    start, last_age = result.admission_iteration, trace.decode_tokens
    for view in views:
        for g in range(2):
            here = (start < view.iteration) & (result.worker == g)
            age = view.iteration - start[here][:, None] + np.arange(7)
            held = np.where(
                age <= last_age[here][:, None], trace.prompt_tokens[here][:, None] + age, 0
            )
            np.testing.assert_array_equal(view.projected_load_tokens[g], held.sum(0))
    assert len(views) > 20
