"""What a policy sees and when: load credited at dispatch, stale signals, arguments refused."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.instances import Cluster, Trace
from olprouting.policies import FunctionPolicy, PolicyOptions, make_policy

CLUSTER = Cluster([2, 3, 1, 2])


@pytest.fixture(scope="module")
def trace() -> Trace:
    rng = np.random.default_rng(8)
    return Trace(rng.integers(1, 50, 120), rng.geometric(0.2, 120))


@pytest.mark.parametrize("ties", ["index", "random"])
@pytest.mark.parametrize("policy", ["jsq", "least-load", "round-robin", "br0", "brh"])
def test_load_is_credited_at_dispatch(policy, ties) -> None:
    """8 equal requests, 4 idle workers: 2 each. Late credit would send all to one worker."""
    result = simulate(
        Trace([100] * 8, [5] * 8),
        Cluster.homogeneous(4, 8),
        make_policy(policy, 4, PolicyOptions(ties=ties, horizon=3)),
        backlog=8,
    )
    assert np.bincount(result.worker).tolist() == [2, 2, 2, 2]


def watch(policy, trace, delay):
    """Run and return (iteration, loads seen, counts seen, free slots seen) of every decision."""
    seen = []

    def note(made) -> None:
        view = made.view.copy()
        seen.append(
            (
                view.iteration,
                view.projected_load_tokens[:, 0].tolist(),
                view.active_requests.tolist(),
                view.free_slots.tolist(),
            )
        )

    result = simulate(
        trace, CLUSTER, policy, backlog=9, signal_delay=delay, on_decision=note, series_every=1
    )
    return result, seen


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_a_stale_signal_is_the_state_of_so_many_iterations_ago(trace, delay) -> None:
    """Catches an off-by-one in the age of loads and counts, and stale free slots.

    The state at the start of iteration k is rebuilt from the admissions of the run alone:
    zeros before the run began.
    """
    result, seen = watch(make_policy("jsq", 4), trace, delay)
    start, prompt = result.admission_iteration, trace.prompt_tokens
    end = start + trace.decode_tokens - 1
    for iteration, loads, counts, free in seen:

        def residents(k, g):
            return np.flatnonzero((start < k) & (end >= k) & (result.worker == g))

        then = iteration - delay
        for g in range(4):
            there = residents(then, g)
            assert counts[g] == len(there)
            assert loads[g] == sum(prompt[i] + then - start[i] for i in there)
            assert free[g] == CLUSTER.slots[g] - len(residents(iteration, g))
    assert len(seen) > 30


@pytest.mark.parametrize("policy", ["jsq", "least-load", "br0", "power-of-two"])
def test_no_delay_is_the_fresh_policy_and_a_delay_is_not(trace, policy) -> None:
    """Catches a delay that never takes effect, or one that does when it should not."""
    fresh = simulate(trace, CLUSTER, make_policy(policy, 4), backlog=9)
    same = simulate(trace, CLUSTER, make_policy(policy, 4), backlog=9, signal_delay=0)
    stale = simulate(trace, CLUSTER, make_policy(policy, 4), backlog=9, signal_delay=3)
    np.testing.assert_array_equal(same.worker, fresh.worker)
    assert not np.array_equal(stale.worker, fresh.worker)
    assert stale.metrics.finished == 120


def test_a_policy_may_scribble_on_its_view(trace) -> None:
    """Regression: counting down free slots in place, as anyone would, changed the run."""

    def first_free(view, rng, scribble):
        free = view.free_slots if scribble else view.free_slots.copy()
        pairs = []
        for i in range(view.admissions):
            g = int(np.argmax(free))
            free[g] -= 1
            pairs.append((i, g))
        if scribble:
            view.waiting_prompt_tokens[:] = 1
            view.waiting_requests[:] = 0
            view.active_requests[:] = 0
            view.projected_load_tokens[:] = 0
        return pairs

    tidy, untidy = (
        simulate(
            trace,
            CLUSTER,
            FunctionPolicy("f", lambda view, rng, s=scribble: first_free(view, rng, s)),
            backlog=9,
        )
        for scribble in (False, True)
    )
    np.testing.assert_array_equal(untidy.worker, tidy.worker)
    assert untidy.metrics == tidy.metrics


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backlog": None}, "no arrival times: choose an arrival process"),
        ({"backlog": 0}, "backlog = 0 must be >= 1"),
        ({"refresh": "never"}, "refresh = 'never' must be 'iteration' or 'horizon'"),
        ({"signal_delay": -1}, "signal_delay = -1 must be >= 0 iterations"),
        ({"signal_delay": 1, "policy": "brh"}, "needs a policy without lookahead; brh projects 2"),
        ({"series_every": 0}, "series_every = 0 must be >= 1"),
        ({"max_iterations": -1}, "max_iterations = -1 must be >= 0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(trace, arguments, message) -> None:
    """Each would otherwise give a run that is not what was asked for."""
    policy = make_policy(arguments.pop("policy", "jsq"), 4, PolicyOptions(horizon=2))
    cluster = arguments.pop("cluster", CLUSTER)
    with pytest.raises(InputError, match=message):
        simulate(trace, cluster, policy, **{"backlog": 4, **arguments})


def test_a_decode_length_that_cannot_be_run_is_refused() -> None:
    """Catches an attempt to allocate a calendar of 10^12 iterations."""
    with pytest.raises(InputError, match="decode_tokens up to 1000000000000 do not fit a run"):
        simulate(Trace([1], [10**12]), Cluster([1]), make_policy("jsq", 1), backlog=1)
