"""Room in the periods to come, against counting request by request and against what came true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.engine import KvOptions, simulate
from olprouting.forecasts import NoisyOracle
from olprouting.instances import Cluster, Trace
from olprouting.instances.request_curves import kv_tokens_at
from olprouting.policies import FunctionPolicy, WorkerView, make_policy
from olprouting.policies.worker_view import NO_LIMIT_TOKENS


@st.composite
def worker_views(draw: st.DrawFn) -> WorkerView:
    """Workers with residents, some of them overfull."""
    workers = draw(st.integers(1, 3))
    residents = draw(st.integers(0, 6))

    def column(low, high, length=residents):
        values = st.lists(st.integers(low, high), min_size=length, max_size=length)
        return np.array(draw(values), dtype=np.int64)

    nobody = np.empty(0, np.int64)
    return WorkerView(
        clock_s=0.0,
        slots=column(1, 3, workers),
        kv_tokens=column(1, 60, workers),
        waiting_decode_tokens=nobody,
        waiting_arrival_period=nobody,
        waiting_arrival_s=np.empty(0),
        resident_requests=np.arange(residents),
        resident_worker=column(0, workers - 1),
        resident_prompt_tokens=column(1, 20),
        resident_age=column(0, 9),
        resident_remaining=column(1, 9),
        resident_reserved_tokens=column(0, 30),
        batching=draw(st.sampled_from(["decode", "mixed"])),
        age_offset=draw(st.integers(0, 2)),
        block_tokens=draw(st.sampled_from([1, 4])),
    )


@settings(max_examples=150, deadline=None)
@given(view=worker_views(), periods=st.integers(1, 12))
def test_residuals_are_what_counting_gives(view, periods) -> None:
    """Catches residents that leave a period early or late, and clipping that goes uncounted."""
    room = view.residuals(periods)
    clipped = 0
    for g in range(len(view.slots)):
        for k in range(periods):
            here = (view.resident_worker == g) & (view.resident_remaining > k)
            used = 0
            for s, age, least in zip(
                view.resident_prompt_tokens[here],
                view.resident_age[here],
                view.resident_reserved_tokens[here],
                strict=True,
            ):
                tokens = max(s + age + k + view.age_offset, least)
                used += math.ceil(tokens / view.block_tokens) * view.block_tokens
            slots, tokens = view.slots[g] - here.sum(), view.kv_tokens[g] - used
            assert room.slots[g, k] == max(0, slots)
            assert room.kv_tokens[g, k] == max(0, tokens)
            clipped += int(slots < 0) + int(tokens < 0)
    assert room.clipped == clipped


def watch(trace, cluster, watched, **options):
    """Run an FCFS policy and return its result and every (iteration, worker view) it met."""
    seen = []

    def route(view, rng):
        seen.append((view, view.workers))
        return watched.route(view._replace(workers=None), rng) if view.admissions else []

    policy = FunctionPolicy("watch", route, needs_residents=True)
    return simulate(trace, cluster, policy, **options), seen


@pytest.mark.parametrize("batching", ["decode", "mixed"])
def test_with_perfect_forecasts_the_residuals_come_true(batching) -> None:
    """Slots and tokens that today's residents will leave free, recounted from the whole run."""
    rng = np.random.default_rng(6)
    trace = Trace(rng.integers(1, 40, 50), rng.geometric(0.2, 50))
    cluster = Cluster([4, 3], kv_tokens=[2000, 1500])
    result, seen = watch(trace, cluster, make_policy("jsq", 2), backlog=6, batching=batching)
    assert len(seen) > 20
    start = result.admission_iteration
    for view, workers in seen:
        room = workers.residuals(12)
        assert room.clipped == 0
        for g in range(2):
            here = (start > 0) & (start < view.iteration) & (result.worker == g)
            age = view.iteration - start[here][:, None] + np.arange(12)
            prompt, decode = trace.prompt_tokens[here], trace.decode_tokens[here]
            held = kv_tokens_at(age, prompt[:, None], decode[:, None], batching)
            np.testing.assert_array_equal(room.kv_tokens[g], cluster.kv_tokens[g] - held.sum(0))
            np.testing.assert_array_equal(room.slots[g], cluster.slots[g] - (held > 0).sum(0))
        np.testing.assert_array_equal(view.kv_free_tokens, room.kv_tokens[:, 0])


def test_a_worker_view_tells_forecasts_not_truths() -> None:
    """Remaining is max(1, forecast - age); what waits is known by forecast, arrival and tokens."""
    rng = np.random.default_rng(7)
    trace = Trace(
        rng.integers(1, 40, 60),
        rng.geometric(0.1, 60),
        release_iteration=1 + np.cumsum(rng.integers(0, 2, 60)),
    )
    cluster = Cluster([4, 3], kv_tokens=[150, 120])
    options = {"forecast": NoisyOracle(1.0), "seed": 3, "kv": KvOptions(oversize="reject")}
    expected = NoisyOracle(1.0).decode_lengths(trace, np.random.default_rng(3))
    result, seen = watch(trace, cluster, make_policy("jsq", 2), **options)
    assert result.metrics.kv.preemptions > 0
    met = 0
    for view, workers in seen:
        assert (np.diff(workers.resident_worker) >= 0).all()
        np.testing.assert_array_equal(
            workers.waiting_arrival_period, trace.release_iteration[view.waiting_requests]
        )
        counts = np.bincount(workers.resident_worker, minlength=2)
        np.testing.assert_array_equal(counts, view.active_requests)
        # generated tokens that preemption turned into prompt are not to come again
        for rows, prompt, length in (
            (view.waiting_requests, view.waiting_prompt_tokens, workers.waiting_decode_tokens),
            (
                workers.resident_requests,
                workers.resident_prompt_tokens + workers.resident_age,
                workers.resident_remaining,
            ),
        ):
            done = prompt - trace.prompt_tokens[rows]
            assert (length >= np.maximum(1, expected[rows] - done)).all()
            # an overdue request that came back is forecast one token anew
            kept = expected[rows] > done
            np.testing.assert_array_equal(length[kept], (expected[rows] - done)[kept])
            met += (done > 0).sum()
    assert met > 20


def test_without_limits_tokens_are_never_in_the_way() -> None:
    """A cluster without KV limits has room that is exact in double precision."""
    trace = Trace([5, 5], [2, 2])
    _, seen = watch(trace, Cluster([1]), make_policy("jsq", 1), backlog=2)
    assert len(seen) == 3  # asked whenever somebody waits, free slots or not
    assert seen[1][1].residuals(3).slots.tolist() == [[0, 1, 1]]
    assert (seen[1][1].residuals(3).kv_tokens >= NO_LIMIT_TOKENS - 99).all()
