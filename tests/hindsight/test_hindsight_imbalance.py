"""Least total imbalance of a run: brute force over every maximal policy, bounds below it."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.exact.highs import new_highs, pass_model
from olprouting.exact.matrix import compile_model
from olprouting.hindsight import (
    ImbalanceResult,
    Schedule,
    hindsight_imbalance,
    imbalance_bound,
    imbalance_ratio,
)
from olprouting.hindsight.imbalance.run import FORCED, longest_run, run_fault, total_imbalance
from olprouting.hindsight.imbalance.search import RunSearch
from olprouting.instances import Cluster, StopReason, Trace
from olprouting.instances.documents import fingerprint
from olprouting.models import hindsight_imbalance as model
from olprouting.policies import PolicyOptions, make_policy


def least(waiting, running, slots, k, releases):
    """Return the least imbalance from iteration k on: running holds (worker, load, left)."""
    waiting = waiting + [(s, o) for s, o, t in releases if t == k]
    later = [release for release in releases if release[2] > k]
    if not waiting and not running:
        return least([], [], slots, min(t for _, _, t in later), later) if later else 0
    free = list(slots)
    for g, _, _ in running:
        free[g] -= 1
    count = min(len(waiting), sum(free))
    best = None
    for chosen in itertools.permutations(range(len(waiting)), count):
        for workers in itertools.product(range(len(slots)), repeat=count):
            if any(workers.count(g) > free[g] for g in range(len(slots))):
                continue
            now = running + [(g, *waiting[i]) for i, g in zip(chosen, workers, strict=True)]
            loads = [sum(load for h, load, _ in now if h == g) for g in range(len(slots))]
            rest = [waiting[i] for i in range(len(waiting)) if i not in chosen]
            after = [(g, load + 1, left - 1) for g, load, left in now if left > 1]
            value = len(slots) * max(loads) - sum(loads) + least(rest, after, slots, k + 1, later)
            best = value if best is None else min(best, value)
    return best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([2, 9]))
def test_the_search_finds_the_best_of_all_maximal_policies(seed: int, largest: int) -> None:
    """Among others, of equal requests, which the search does not tell apart."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    prompt, decode = rng.integers(1, largest, count), rng.integers(1, 4, count)
    release = np.sort(rng.integers(1, 4, count))
    slots = rng.integers(1, 3, 2)
    trace, cluster = Trace(prompt, decode, release_iteration=release), Cluster(slots)
    releases = list(zip(prompt.tolist(), decode.tolist(), release.tolist(), strict=True))
    expected = least([], [], slots.tolist(), 1, releases)
    result = hindsight_imbalance(trace, cluster)
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.total_tokens == result.bound_tokens == expected
    assert imbalance_bound(trace, cluster) <= expected
    for name in ("jsq", "br0"):
        run = simulate(trace, cluster, make_policy(name, 2, PolicyOptions()), seed=0)
        frame = run.metrics
        total = frame.mean_imbalance_tokens * frame.iterations
        assert total >= expected - 1e-6


def test_the_forced_bound_is_exact_for_a_single_request_and_0_when_saturated() -> None:
    alone = Trace([3], [2], release_iteration=[5])
    assert imbalance_bound(alone, Cluster([1, 1])) == 7  # 3 + 4, the other worker is empty
    crowd = Trace([3, 3, 9], [1, 1, 1], release_iteration=[1, 1, 1])
    assert imbalance_bound(crowd, Cluster([1, 1])) == 0


@pytest.mark.parametrize("seed", range(3))
def test_highs_finds_the_same_optimum_of_the_program(seed: int) -> None:
    """Larger than brute force can do, with workers that differ."""
    rng = np.random.default_rng(seed)
    trace = Trace(
        rng.integers(1, 20, 6),
        rng.integers(1, 4, 6),
        release_iteration=np.sort(rng.integers(1, 4, 6)),
    )
    cluster = Cluster([1, 2])
    columns = trace.prompt_tokens, trace.decode_tokens, trace.release_iteration, cluster.slots
    solver = new_highs(verbose=False)
    pass_model(solver, compile_model(model.build(*columns, longest_run(trace, cluster))))
    solver.run()
    found = hindsight_imbalance(trace, cluster)
    assert solver.getInfo().objective_function_value == pytest.approx(found.total_tokens)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 60))
def test_a_search_that_stops_early_bounds_the_optimum_from_both_sides(
    seed: int, steps: int
) -> None:
    """Catches a branch that is neither tried nor counted among those left."""
    rng = np.random.default_rng(seed)
    release = np.sort(rng.integers(1, 9, 7))
    trace = Trace(rng.integers(1, 50, 7), rng.integers(1, 9, 7), release_iteration=release)
    cluster = Cluster(rng.integers(1, 3, 2))
    optimum = hindsight_imbalance(trace, cluster).total_tokens
    search = RunSearch(trace, cluster, longest_run(trace, cluster), None)
    done = search.go_on(steps)
    assert search.bound_tokens <= optimum
    if search.best is not None:
        assert run_fault(trace, cluster, search.best) is None
        assert total_imbalance(trace, cluster, search.best) >= optimum
    if done:
        assert search.bound_tokens == optimum


def crowded(requests: int) -> tuple[Trace, Cluster]:
    """More than a search can prove."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 5000, requests), rng.integers(1, 500, requests)
    return Trace(*sizes, release_iteration=np.arange(1, requests + 1)), Cluster([4, 4])


def test_no_time_leaves_a_run_and_the_better_bound() -> None:
    trace, cluster = crowded(60)
    result = hindsight_imbalance(trace, cluster, time_limit_s=0)
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.total_tokens > result.bound_tokens >= imbalance_bound(trace, cluster) > 0


def test_ctrl_c_keeps_run_and_bound() -> None:
    def interrupt(what: str, passed_s: int, limit_s: int) -> None:
        raise KeyboardInterrupt

    trace, cluster = crowded(60)
    result = hindsight_imbalance(trace, cluster, on_progress=interrupt)
    assert result.stop_reason is StopReason.INTERRUPTED
    assert result.total_tokens > result.bound_tokens > 0


def test_a_run_to_start_with_is_never_made_worse_and_must_be_possible() -> None:
    trace, cluster = crowded(60)
    best = hindsight_imbalance(trace, cluster, time_limit_s=0.5)
    again = hindsight_imbalance(trace, cluster, time_limit_s=0, start=best.schedule)
    assert again.total_tokens <= best.total_tokens
    assert best.schedule is not None
    late = Schedule(best.schedule.worker, best.schedule.start_period + 1)
    with pytest.raises(InputError, match="start: no maximal policy makes this run: request 0"):
        hindsight_imbalance(trace, cluster, start=late)


def test_a_run_is_rated_by_the_bound() -> None:
    # one slot each, and all at once: first come first served pairs 9 with 2, then 10 with 3
    trace, cluster = Trace([9, 2, 3], [2, 1, 1], release_iteration=[1, 1, 1]), Cluster([1, 1])
    best = hindsight_imbalance(trace, cluster)
    run = simulate(trace, cluster, make_policy("jsq", 2), seed=0)
    assert imbalance_ratio(run, best).total_tokens == 14
    assert imbalance_ratio(run, best).ratio == 1
    alone = Trace([3, 3], [1, 1], release_iteration=[1, 1])
    even = hindsight_imbalance(alone, cluster)
    assert imbalance_ratio(simulate(alone, cluster, make_policy("jsq", 2)), even).ratio is None
    with pytest.raises(InputError, match="of other requests"):
        imbalance_ratio(run, even)
    waits = simulate(trace, Cluster([1, 2]), make_policy("jsq", 2), seed=0)
    with pytest.raises(
        InputError, match=r"jsq: no maximal policy makes this run: worker 1 holds 2"
    ):
        imbalance_ratio(waits, best)


def test_what_it_cannot_do_is_said_in_one_line() -> None:
    trace = Trace([5] * 2001, [300] * 2001, release_iteration=[1] * 2001)
    with pytest.raises(InputError, match=r"2001 requests are more than 2000; take fewer"):
        hindsight_imbalance(trace, Cluster([2, 2]))
    with pytest.raises(InputError, match="loads of workers in iterations are more than"):
        hindsight_imbalance(trace.head(2), Cluster(np.ones(100_000)))
    with pytest.raises(InputError, match="64 bits"):
        hindsight_imbalance(Trace([2**53] * 2, [500] * 2, release_iteration=[1, 1]), Cluster([2]))
    with pytest.raises(InputError, match="KV limits"):
        imbalance_bound(trace, Cluster([2], kv_tokens=[5]))
    with pytest.raises(InputError, match="release_iteration"):
        imbalance_bound(Trace([1], [1]), Cluster([2]))
    assert hindsight_imbalance(trace.head(0), Cluster([2])).total_tokens == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["jsq", "round-robin", "random"]))
def test_the_run_of_any_maximal_policy_is_one(seed: int, name: str) -> None:
    """The engine and the definition agree on what is feasible, and on the total."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    trace = Trace(
        rng.integers(1, 9, count),
        rng.integers(1, 6, count),
        release_iteration=np.sort(rng.integers(1, 20, count)),
    )
    cluster = Cluster(rng.integers(1, 3, 3))
    run = simulate(trace, cluster, make_policy(name, 3, PolicyOptions()), seed=seed)
    schedule = Schedule(run.worker, run.admission_iteration)
    assert run_fault(trace, cluster, schedule) is None
    total = run.metrics.mean_imbalance_tokens * run.metrics.iterations
    assert total_imbalance(trace, cluster, schedule) == pytest.approx(total)
    assert imbalance_bound(trace, cluster) <= total + 1e-6


@pytest.fixture(scope="module")
def document():
    # One slot each. 9 beside 2, then 10 beside 3: 7 + 7. Instead 9 beside 3, then 10 beside 2:
    # 6 + 8. The 9 last: 1, then 9 and 10 alone.
    trace, cluster = Trace([9, 2, 3], [2, 1, 1], release_iteration=[1, 1, 1]), Cluster([1, 1])
    assert hindsight_imbalance(trace, cluster).total_tokens == 14
    run = Schedule(np.array([0, 1, 1]), np.array([1, 1, 2]))
    found = (14, "by hand", 14, run, StopReason.OPTIMAL, 1.0, 0.0)
    return json.loads(json.dumps(ImbalanceResult(trace, cluster, *found).to_document()))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"total_tokens": 13}, "total_tokens is stated as 13, but the document proves 14"),
        ({"bound_tokens": 13}, "bound_tokens is stated as 13, but the document proves 14"),
        ({"bound_tokens": 15, "stop_reason": "time_limit"}, "15 is above total_tokens = 14"),
        ({"proven_by": FORCED}, "bound_tokens is stated as 14, but the document proves 0"),
        ({"worker": [0, 0, 1]}, "worker 0 holds 2 of 1 requests in iteration 1"),
        ({"worker": [0, 2, 1]}, "admitted by worker 2, there are 2"),
        ({"worker": [0, 1]}, "it has 2 workers and 3 admissions, the trace 3 requests"),
        ({"worker": [0, 1, 0.5]}, "whole numbers"),
        ({"worker": None}, "whole numbers"),
        ({"admission_iteration": [1, 0, 2]}, "admitted in 0, outside 1..5"),
        ({"admission_iteration": [1, 1, 3]}, "request 2 waits beside a free slot in iteration 2"),
        ({"problem_sha256": "0"}, "problem_sha256 is stated as"),
        ({"problem": {}}, "problem lacks"),
        ({"problem": 3}, "problem must be an object, found 3"),
        ({"stop_reason": "tired"}, "not a olprouting/hindsight-imbalance/1 document"),
        ({"schema": "olprouting/hindsight/1"}, "schema"),
    ],
)
def test_a_tampered_result_is_refused(document, change, complaint) -> None:
    assert ImbalanceResult.from_text(json.dumps(document)).total_tokens == 14
    with pytest.raises(InputError, match=complaint) as error:
        ImbalanceResult.from_text(json.dumps(document | change), "saved.json")
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("saved.json")


@pytest.mark.parametrize("column", ["prompt_tokens", "decode_tokens", "release_iteration"])
def test_a_forged_result_too_large_to_check_is_refused(document, column) -> None:
    """Never an array of 2^53 iterations, or a sum beyond 64 bits."""
    problem = document["problem"] | {column: [2**53] * 3}
    forged = document | {"problem": problem, "problem_sha256": fingerprint(problem)}
    with pytest.raises(InputError, match=r"fewer requests|total_tokens is stated as"):
        ImbalanceResult.from_text(json.dumps(forged))
