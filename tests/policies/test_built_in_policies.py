"""What every policy must do: admit exactly U, respect slots, break ties fairly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.exact import assignments, recheck
from olprouting.policies import PolicyOptions, View, decision_of, make_policy

POLICIES = (
    "random",
    "round-robin",
    "power-of-two",
    "jsq",
    "least-load",
    "vllm",
    "dynamo",
    "sglang",
    "least-imbalance",
    "br0",
    "brh",
)
HORIZON = 2


@st.composite
def views(draw: st.DrawFn, most_waiting=8) -> View:
    """A state with full workers, empty queues, duplicates and ties now and then."""
    workers = draw(st.integers(1, 4))
    each = {"min_size": workers, "max_size": workers}
    window = st.lists(st.integers(0, 30), min_size=HORIZON + 1, max_size=HORIZON + 1)
    free = draw(st.lists(st.integers(0, 3), **each))
    sizes = draw(st.lists(st.integers(1, 12), max_size=most_waiting))
    return View(
        np.array(draw(st.lists(window, **each)), dtype=np.float64),
        np.array(draw(st.lists(st.integers(0, 5), **each)), dtype=np.int64),
        np.array(free, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
        np.arange(len(sizes)),
        min(len(sizes), sum(free)),
        1,
    )


def policy_for(name, view, **options):
    """The policy, and the view with the window that the engine would give it."""
    policy = make_policy(name, len(view.free_slots), PolicyOptions(horizon=HORIZON, **options))
    width = policy.horizon + 1
    seen = np.ascontiguousarray(view.projected_load_tokens[:, :width])
    return policy, view._replace(projected_load_tokens=seen)


@pytest.mark.parametrize("name", [*POLICIES, "exact"])
@settings(max_examples=60, deadline=None)
@given(view=views(), ties=st.sampled_from(["random", "index"]), s_greedy=st.integers(0, 9))
def test_every_policy_admits_exactly_u_and_respects_slots(name, view, ties, s_greedy) -> None:
    """Catches a policy that idles, admits twice, or overfills a worker."""
    policy, seen = policy_for(name, view, ties=ties, s_greedy=s_greedy)
    before = seen.copy()
    pairs = [(int(i), int(g)) for i, g in policy.route(seen, np.random.default_rng(0))]
    assert len({i for i, _ in pairs}) == len(pairs) == view.admissions
    assert all(0 <= i < len(view.waiting_requests) for i, _ in pairs)
    given_to = np.bincount([g for _, g in pairs], minlength=len(view.free_slots))
    assert (given_to <= view.free_slots).all()
    for name_, array in before._asdict().items():  # the view is for reading
        np.testing.assert_array_equal(getattr(seen, name_), array)


@pytest.mark.parametrize("name", [*POLICIES, "exact"])
@settings(max_examples=60, deadline=None)
@given(view=views(most_waiting=4))
def test_no_policy_beats_the_enumeration(name, view) -> None:
    """A value below the minimum over all assignments means a wrong objective or a wrong policy.

    The exact policy must reach it, over its whole window, and least-imbalance does for one request.
    """
    policy, seen = policy_for(name, view)
    decision = decision_of(view, gamma="0.86" if name in ("exact", "least-imbalance") else 1)
    pairs = tuple((int(i), int(g)) for i, g in policy.route(seen, np.random.default_rng(0)))
    best = min(recheck(decision, candidate) for candidate in assignments(decision))
    value = recheck(decision, pairs)
    assert value >= best
    if name == "exact" or (name == "least-imbalance" and len(view.waiting_requests) == 1):
        assert float(value - best) <= 1e-4  # gamma < 1: within the solver's tolerance


@pytest.mark.parametrize(
    "name",
    ["random", "round-robin", "power-of-two", "jsq", "least-load", "vllm", "dynamo", "sglang"],
)
@settings(max_examples=40, deadline=None)
@given(view=views())
def test_fcfs_policies_take_the_queue_in_order(name, view) -> None:
    """Catches a policy that reorders the queue although its class is first come, first served."""
    policy, seen = policy_for(name, view)
    positions = [i for i, _ in policy.route(seen, np.random.default_rng(0))]
    assert positions == list(range(view.admissions))


@settings(max_examples=150, deadline=None)
@given(view=views())
def test_fcfs_destinations_are_those_of_the_definition(view) -> None:
    """JSQ: fewest active; LeastLoad: fewest tokens; RoundRobin: cyclic, skipping the full ones."""
    for name in ("jsq", "least-load", "round-robin"):
        policy, seen = policy_for(name, view, ties="index")
        free, counts = view.free_slots.tolist(), view.active_requests.tolist()
        loads, pointer = view.projected_load_tokens[:, 0].tolist(), 0
        expected = []
        for size in view.waiting_prompt_tokens[: view.admissions].tolist():
            open_ = [g for g in range(len(free)) if free[g]]
            if name == "round-robin":
                chosen = min(open_, key=lambda g, p=pointer: (g - p) % len(free))
                pointer = (chosen + 1) % len(free)
            else:
                measure = counts if name == "jsq" else loads
                chosen = min(open_, key=lambda g, m=measure: (m[g], g))
            free[chosen] -= 1
            counts[chosen] += 1
            loads[chosen] += size
            expected.append(chosen)
        assert [g for _, g in policy.route(seen, np.random.default_rng(0))] == expected


def least_weighted(view, score):
    """Where requests go by a score of (queued, running, queued tokens, running tokens) by worker.

    `score` takes four lists and returns one; the first of the least ones takes the request.
    """
    queued, tokens = view.queued_requests.tolist(), view.queued_tokens.tolist()
    running = (view.active_requests - view.queued_requests).tolist()
    held = (view.projected_load_tokens[:, 0] - view.queued_tokens).tolist()
    chosen = []
    for size in view.waiting_prompt_tokens.tolist():
        scores = score(queued, running, tokens, held)
        chosen.append(scores.index(min(scores)))
        queued[chosen[-1]] += 1
        tokens[chosen[-1]] += size
    return chosen


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_routers_that_people_run_go_by_their_own_terms(data) -> None:
    """vLLM: 4 waiting + running; Dynamo: prefill tokens and all tokens; llm-d: queue and KV use."""
    workers = data.draw(st.integers(1, 4))
    each = st.lists(st.integers(0, 9), min_size=workers, max_size=workers)
    queued, running, tokens, held, kv_free = (np.array(data.draw(each)) for _ in range(5))
    kv_free += 1
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), max_size=5)), dtype=np.int64)
    free = np.full(workers, len(sizes))
    view = View(
        (held + tokens)[:, None].astype(float), queued + running, free, sizes,
        np.arange(len(sizes)), len(sizes), 1, kv_free_tokens=kv_free, waiting_kv_tokens=sizes,
        queued_requests=queued, queued_tokens=tokens,
    )  # fmt: skip

    def llm_d(queued, running, tokens, held):
        spread = max(queued) - min(queued)
        shares = [(n - min(queued)) / spread if spread else 0.0 for n in queued]
        used = [h / (h + f) for h, f in zip(held, kv_free.tolist(), strict=True)]
        return [2 * share + 2 * use for share, use in zip(shares, used, strict=True)]

    scores = {
        "vllm": lambda queued, running, tokens, held: [
            4 * q + r for q, r in zip(queued, running, strict=True)
        ],
        "dynamo": lambda queued, running, tokens, held: [
            t + (t + h) for t, h in zip(tokens, held, strict=True)
        ],
        "llm-d": llm_d,
    }
    for name, score in scores.items():
        policy = make_policy(name, workers, PolicyOptions(ties="index"))
        pairs = policy.route(view, np.random.default_rng(0))
        assert pairs == list(enumerate(least_weighted(view, score))), name


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_sglang_goes_by_its_record_unless_counts_differ_much(data) -> None:
    """Catches a record that forgets earlier decisions, and thresholds that are joined by "or"."""
    workers = data.draw(st.integers(1, 4))
    policy = make_policy("sglang", workers, PolicyOptions(ties="index"))
    record = [0] * workers
    for _ in range(3):
        counts = data.draw(st.lists(st.integers(0, 200), min_size=workers, max_size=workers))
        sizes = data.draw(st.lists(st.integers(1, 9), max_size=5))
        view = View(
            np.zeros((workers, 1)), np.array(counts), np.full(workers, len(sizes)),
            np.array(sizes, dtype=np.int64), np.arange(len(sizes)), len(sizes), 1,
        )  # fmt: skip
        expected = []
        for size in sizes:
            apart = max(counts) - min(counts) > 64 and max(counts) > 1.5 * min(counts)
            measure = counts if apart else record
            chosen = measure.index(min(measure))
            counts[chosen] += 1
            record[chosen] += size
            expected.append(chosen)
        pairs = policy.route(view, np.random.default_rng(0))
        assert pairs == list(enumerate(expected))


def test_round_robin_goes_on_where_it_was() -> None:
    """Catches a next worker that starts over with every decision."""
    policy = make_policy("round-robin", 3)
    chosen = [policy.route(one_waiting([0, 0, 0]), np.random.default_rng(0))[0][1] for _ in "12345"]
    assert chosen == [0, 1, 2, 0, 1]


def one_waiting(active, loads=None, free=None) -> View:
    loads = active if loads is None else loads
    return View(
        np.array([[load] for load in loads], dtype=np.float64),
        np.array(active, dtype=np.int64),
        np.array([1] * len(active) if free is None else free, dtype=np.int64),
        np.array([7]),
        np.array([0]),
        1,
        1,
    )


@pytest.mark.parametrize("s_greedy", [0, 7])
@pytest.mark.parametrize(
    "name",
    [
        "random",
        "power-of-two",
        "jsq",
        "least-load",
        "vllm",
        "dynamo",
        "least-imbalance",
        "br0",
        "brh",
    ],
)
def test_random_ties_are_fair(name, s_greedy) -> None:
    """4 idle workers, 4000 draws: 900 to 1100 each (the standard deviation is 27)."""
    policy = make_policy(name, 4, PolicyOptions(horizon=0, s_greedy=s_greedy))
    rng = np.random.default_rng(12)
    chosen = [policy.route(one_waiting([0] * 4), rng)[0][1] for _ in range(4000)]
    counts = np.bincount(chosen, minlength=4)
    assert counts.min() >= 900
    assert counts.max() <= 1100


def test_power_of_two_draws_with_replacement() -> None:
    """Counts 0, 1, 2, 3: the k-th fewest wins with (2(4-k)+1)/16: 7, 5, 3, 1 of 16.

    Without replacement it would be 6, 4, 2, 0 of 12, and the fullest would never win.
    """
    policy = make_policy("power-of-two", 4)
    rng = np.random.default_rng(2)
    chosen = [policy.route(one_waiting([0, 1, 2, 3]), rng)[0][1] for _ in range(8000)]
    shares = np.bincount(chosen, minlength=4) / 8000
    np.testing.assert_allclose(shares, np.array([7, 5, 3, 1]) / 16, atol=0.02)


@pytest.mark.parametrize("name", ["jsq", "least-load", "least-imbalance", "br0", "brh"])
def test_index_ties_are_deterministic_and_draw_nothing(name) -> None:
    """Catches hidden randomness where the user asked for none."""
    policy = make_policy(name, 4, PolicyOptions(ties="index", horizon=0))
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    assert {policy.route(one_waiting([5, 2, 2, 2]), rng)[0][1] for _ in range(50)} == {1}
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("s_greedy", [0, 7])
@pytest.mark.parametrize(
    "name", ["jsq", "least-load", "least-imbalance", "round-robin", "br0", "brh"]
)
def test_a_decision_without_a_tie_draws_nothing(name, s_greedy) -> None:
    """Catches draws that would shift every later one and couple unrelated decisions."""
    policy = make_policy(name, 4, PolicyOptions(horizon=0, s_greedy=s_greedy))
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    policy.route(one_waiting([3, 1, 2, 4]), rng)
    assert rng.bit_generator.state == before
    if name != "round-robin":
        policy.route(one_waiting([3, 1, 1, 4]), rng)
        assert rng.bit_generator.state != before


@pytest.mark.parametrize("name", ["random", "power-of-two"])
def test_a_single_open_worker_draws_nothing(name) -> None:
    """There is nothing to choose."""
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    view = one_waiting([3, 1, 2], free=[0, 0, 1])
    assert make_policy(name, 3).route(view, rng) == [(0, 2)]
    assert rng.bit_generator.state == before
