"""The forms of the hindsight programs agree, on instances that can be argued by hand and others."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from olprouting.exact.highs import new_highs, pass_model
from olprouting.exact.matrix import compile_model
from olprouting.models import hindsight_imbalance, hindsight_lp

FORMS = [hindsight_lp.naive, hindsight_lp.state_space]


def value(form, *arrays, integer=False):
    lp = form(*arrays, integer=integer)
    found = lp.problem.solve(solver=cp.HIGHS)
    assert lp.problem.status == cp.OPTIMAL
    return found


def early(requests, periods, release=()):
    """Each start is worth T - k + 1; NaN before the release."""
    rewards = np.tile(np.arange(periods, 0, -1.0), (requests, 1))
    for request, period in enumerate(release):
        rewards[request, : period - 1] = np.nan
    return rewards[None]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("integer", [False, True])
def test_one_slot_makes_requests_wait(form, integer) -> None:
    # two requests of two periods, one slot, T = 3: starts at 1 and 3 are worth 3 + 1
    arrays = early(2, 3), np.array([2, 2]), np.array([1, 1]), np.array([1]), np.array([99])
    assert value(form, *arrays, integer=integer) == pytest.approx(4)


@pytest.mark.parametrize("form", FORMS)
def test_kv_tokens_count_growth(form) -> None:
    # 5 tokens at the start, 6 in the second period: two at once need 12; one in the first period
    # of the other, 6 + 5
    arrays = early(2, 3), np.array([2, 2]), np.array([5, 5]), np.array([9])
    assert value(form, *arrays, np.array([12]), integer=True) == pytest.approx(6)
    assert value(form, *arrays, np.array([11]), integer=True) == pytest.approx(5)


@pytest.mark.parametrize("form", FORMS)
def test_whole_starts_cannot_be_spread_over_workers(form) -> None:
    # one request of 6 tokens: two workers of 5 hold none, one of 10 does; the LP spreads it
    active, tokens = np.array([1]), np.array([6])
    two = np.concatenate([early(1, 1)] * 2)
    pair = active, tokens, np.array([1, 1]), np.array([5, 5])
    assert value(form, two, *pair, integer=True) == pytest.approx(0)
    assert value(form, two, *pair) == pytest.approx(1)
    assert value(form, early(1, 1), active, tokens, np.array([2]), np.array([10])) == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_naive_and_state_space_per_worker_and_aggregated_are_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    requests, periods, workers = rng.integers(1, 5), rng.integers(1, 7), rng.integers(1, 4)
    rewards = rng.integers(0, 9, (1, requests, periods)).astype(float)
    rewards[rng.random(rewards.shape) < 0.2] = np.nan
    assume(not np.isnan(rewards).all())  # HiGHS through CVXPY refuses a program without columns
    active, tokens = rng.integers(1, 5, requests), rng.integers(0, 7, requests)
    slots, kv = int(rng.integers(1, 3)), int(rng.integers(1, 16))
    each = np.repeat(rewards, workers, axis=0), active, tokens
    alike = np.full(workers, slots), np.full(workers, kv)
    sums = np.array([workers * slots]), np.array([workers * kv])
    whole = value(FORMS[0], *each, *alike, integer=True)
    assert value(FORMS[1], *each, *alike, integer=True) == pytest.approx(whole)
    relaxed = value(FORMS[0], *each, *alike)
    for form in FORMS:
        assert value(form, *each, *alike) == pytest.approx(relaxed)
        assert value(form, rewards, active, tokens, *sums) == pytest.approx(relaxed)
    assert relaxed >= whole - 1e-6


def test_a_column_of_the_state_space_form_is_short() -> None:
    # 40 active periods are 81 nonzeros in the naive form, 5 here
    arrays = early(1, 50), np.array([40]), np.array([5]), np.array([1]), np.array([99])
    most = []
    for form in FORMS:
        lp = form(*arrays)
        data, _, _ = lp.problem.get_problem_data(cp.HIGHS)
        start = data["param_prob"].var_id_to_col[lp.start.id]
        matrix = data["A"].tocsc()[:, [start]]
        most.append(int((matrix != 0).sum()))
    assert most == [81, 5]


def least_imbalance(prompt, decode, release, slots, iterations):
    model = hindsight_imbalance.build(*map(np.array, (prompt, decode, release, slots)), iterations)
    solver = new_highs(verbose=False)
    pass_model(solver, compile_model(model))
    solver.run()
    return solver.getInfo().objective_function_value


def test_equal_requests_pair_up_and_a_single_one_is_alone() -> None:
    # 3 and 3 tokens in step on two workers: no imbalance
    assert least_imbalance([3, 3], [2, 2], [1, 1], [1, 1], 2) == pytest.approx(0)
    # alone, 3 + 4 tokens against an empty worker
    assert least_imbalance([3], [2], [1], [1, 1], 2) == pytest.approx(7)
    # three requests, two slots: 5 waits or one of the 4 does; pairing 4 and 4 leaves 5 alone,
    # 0 + 5; pairing 5 and 4 leaves 1 + 4
    assert least_imbalance([5, 4, 4], [1, 1, 1], [1, 1, 1], [1, 1], 2) == pytest.approx(5)


def test_no_slot_stays_free_while_a_request_waits() -> None:
    # apart, 9 and 1 would cost 9 + 1; together, as the policy demands, 8
    assert least_imbalance([9, 1], [1, 1], [1, 1], [1, 1], 3) == pytest.approx(8)
    # 1 and 2 tokens: waiting would let 2 pair with the 2 that comes later, but it may not wait
    assert least_imbalance([1, 2, 2], [1, 1, 1], [1, 1, 2], [1, 1], 4) == pytest.approx(3)
