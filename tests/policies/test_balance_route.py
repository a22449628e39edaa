"""BR-0 and BR-H: the compiled policy against a referee in fractions, and its searches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import reference_balance_route as referee
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.exact import objective
from olprouting.instances import Decision
from olprouting.policies import PolicyOptions, View, make_policy
from olprouting.policies.score_kernels import (
    best_single_scan,
    best_single_sorted,
    best_subset_enumerated,
    best_subset_reachable,
    score,
)

SEARCHES = {"enumerate": best_subset_enumerated, "reachable": best_subset_reachable}
BETAS = ("1", "2", "3", "14.67", "43", "0.5")
GAMMAS = ("1", "0.5", "0.86")


def view_of(loads, free, sizes) -> View:
    return View(
        np.array(loads, dtype=np.float64).reshape(len(loads), -1),
        np.zeros(len(loads), np.int64),
        np.array(free, np.int64),
        np.array(sizes, np.int64),
        np.arange(len(sizes)),
        min(len(sizes), sum(free)),
        1,
    )


def draw_state(rng, horizon):
    """Loads, free slots and sizes; small numbers so that ties, plateaus and duplicates come."""
    workers = rng.integers(1, 5)
    scale = int(rng.choice([3, 12, 2000]))
    loads = rng.integers(0, 3 * scale, (workers, horizon + 1))
    if rng.random() < 0.3:
        loads[:] = loads[:, :1]
    if rng.random() < 0.3:
        loads[-1] = loads[0]
    free = rng.integers(0, 5, workers)
    sizes = rng.integers(1, scale + 1, rng.integers(0, 12))
    return loads.tolist(), free.tolist(), sizes.tolist()


def draw_window(rng):
    """Sizes, limit and score of one Stage-2 search; margins are multiples now and then."""
    horizon = int(rng.integers(0, 6))
    scale = int(rng.choice([4, 30, 5000]))
    sizes = rng.integers(1, scale + 1, rng.integers(1, 8))
    margins = rng.integers(0, 3 * scale, horizon + 1).astype(float)
    if rng.random() < 0.3:
        margins[:] = margins[0]
    gamma, beta = rng.choice(GAMMAS), rng.choice(BETAS)
    weights = float(gamma) ** np.arange(horizon + 1)
    growing = int(rng.integers(2))
    return sizes, int(rng.integers(1, 8)), (margins, weights, float(beta), growing), gamma, beta


@pytest.mark.parametrize("search", list(SEARCHES))
@pytest.mark.parametrize("name", ["br0", "brh"])
def test_admissions_are_those_of_the_referee(name, search) -> None:
    """2,000 states: both stages, both growths, H 0..5, r_max 1..6, s_greedy 0..10.

    Catches a wrong worker, window, fallback, margin update or tie-break anywhere in the policy.
    """
    rng = np.random.default_rng(20260)
    for _ in range(2000):
        horizon = int(rng.integers(0, 6)) if name == "brh" else 0
        loads, free, sizes = draw_state(rng, horizon)
        r_max, s_greedy = int(rng.integers(1, 7)), int(rng.integers(0, 11))
        gamma, beta = str(rng.choice(GAMMAS)), str(rng.choice(BETAS))
        growing = bool(rng.integers(2))
        options = PolicyOptions(
            ties="index",
            horizon=horizon,
            beta=float(beta),
            gamma=float(gamma),
            r_max=r_max,
            s_greedy=s_greedy,
            br_growth="growing" if growing else "frozen",
            subset_search=search,
        )
        policy = make_policy(name, len(loads), options)
        expected = referee.route(
            loads,
            free,
            sizes,
            gamma=Fraction(gamma),
            beta=Fraction(len(loads)) if name == "br0" else Fraction(beta),
            growing=growing and name == "brh",
            r_max=r_max,
            s_greedy=s_greedy,
        )
        found = policy.route(view_of(loads, free, sizes), rng)
        assert found == expected, (loads, free, sizes, options)


@pytest.mark.parametrize("search", list(SEARCHES))
def test_a_subset_search_finds_what_fractions_find(search) -> None:
    """3,000 windows: the same subset, hence the same score, ties included."""
    rng = np.random.default_rng(7)
    for _ in range(3000):
        sizes, limit, scoring, gamma, beta = draw_window(rng)
        margins, weights, _, growing = scoring
        value, subset = referee.best_subset(
            list(enumerate(sizes.tolist())),
            limit,
            [int(m) for m in margins],
            [Fraction(gamma) ** h for h in range(len(weights))],
            Fraction(beta),
            growing,
        )
        found, chosen = SEARCHES[search](sizes, min(limit, len(sizes)), *scoring)
        assert chosen.tolist() == [i for i, _ in subset], (sizes, limit, scoring)
        assert found == pytest.approx(float(value), rel=1e-9, abs=1e-6)


def test_both_subset_searches_agree_on_large_windows() -> None:
    """2,000 windows of up to 12 requests with sizes in thousands, beyond the referee's reach."""
    rng = np.random.default_rng(11)
    for _ in range(2000):
        _, limit, scoring, _, _ = draw_window(rng)
        sizes = rng.integers(1, 3000, 12)
        first = best_subset_enumerated(sizes, limit, *scoring)
        second = best_subset_reachable(sizes, limit, *scoring)
        assert first[1].tolist() == second[1].tolist(), (sizes, limit, scoring)
        assert first[0] == pytest.approx(second[0], rel=1e-12)


def test_the_shortcut_of_stage_one_is_the_scan() -> None:
    """5,000 pools with duplicates and plateaus: O(H log W) must choose what O(H W) chooses."""
    rng = np.random.default_rng(5)
    plateaus = 0
    for _ in range(5000):
        _, _, scoring, _, _ = draw_window(rng)
        pool = rng.integers(1, int(rng.choice([5, 40, 6000])), rng.integers(1, 40))
        order = np.argsort(pool, kind="stable")
        found = order[best_single_sorted(pool[order], order, *scoring)]
        assert found == best_single_scan(pool, *scoring), (pool, scoring)
        values = [score(size, 1, *scoring) for size in set(pool.tolist())]
        plateaus += sum(v == max(values) for v in values) > 1
    assert plateaus > 200


@pytest.mark.parametrize("growth", ["frozen", "growing"])
def test_a_shrunken_window_is_a_shorter_horizon(growth) -> None:
    """Between refreshes a policy of H = 80 gets windows of fewer offsets, and weighs just those.

    Regression: it read on past the end of its margins, and routed by whatever lay there.
    """
    rng = np.random.default_rng(31)
    common = {"ties": "index", "gamma": 0.86, "beta": 14.67, "br_growth": growth}
    for _ in range(500):
        loads, free, sizes = draw_state(rng, int(rng.integers(0, 6)))
        view = view_of(loads, free, sizes)
        longer = make_policy("brh", len(loads), PolicyOptions(horizon=80, **common))
        fitting = PolicyOptions(horizon=len(loads[0]) - 1, **common)
        expected = make_policy("brh", len(loads), fitting).route(view, rng)
        assert longer.route(view, rng) == expected


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_f0_is_the_drop_of_the_imbalance(data) -> None:
    """For one admission at H = 0 and beta = G, F equals the change of the exact objective."""
    workers = data.draw(st.integers(1, 4))
    loads = data.draw(st.lists(st.integers(0, 50), min_size=workers, max_size=workers))
    size = data.draw(st.integers(1, 60))
    g = data.draw(st.integers(0, workers - 1))
    decision = Decision([[load] for load in loads], [1] * workers, [size])
    drop = objective(decision, ()) - objective(decision, ((0, g),))
    margins = np.array([float(max(loads) - loads[g])])
    assert score(float(size), 1, margins, np.ones(1), float(workers), 0) == drop


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_brh_at_horizon_zero_with_beta_g_is_br0(data) -> None:
    """Catches a BR-0 that is anything but the special case it is defined as."""
    workers = data.draw(st.integers(1, 4))
    lists = {"min_size": workers, "max_size": workers}
    state = view_of(
        data.draw(st.lists(st.integers(0, 40), **lists)),
        data.draw(st.lists(st.integers(0, 4), **lists)),
        data.draw(st.lists(st.integers(1, 12), max_size=10)),
    )
    options = PolicyOptions(ties="index", horizon=0, beta=float(workers), gamma=0.3)
    found = [
        make_policy(name, workers, options).route(state, np.random.default_rng(0))
        for name in ("br0", "brh")
    ]
    assert found[0] == found[1]


def test_ties_between_workers_are_spread() -> None:
    """Two equal workers when nothing overflows: lowest index sent 43% of all to worker 0 once."""
    policy = make_policy("br0", 8, PolicyOptions(s_greedy=0))
    rng = np.random.default_rng(1)
    state = view_of([5] * 7 + [50], [1] * 8, [3])
    firsts = [policy.route(state, rng)[0][1] for _ in range(7000)]
    counts = np.bincount(firsts, minlength=8)
    assert counts[7] == 0
    assert counts[:7].min() > 850
    assert counts[:7].max() < 1150
