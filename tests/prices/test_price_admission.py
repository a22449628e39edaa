"""Algorithm 1: admission by margin, and which columns become history."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.errors import InputError
from olprouting.prices import greedy_admission, pairs_to_record


def left_over(request, worker, active, tokens, slots, kv_tokens):  # type: ignore[no-untyped-def]
    """Independent checker: subtract every admitted request period by period."""
    slots, kv_tokens = slots.copy(), kv_tokens.copy()
    for j, g in zip(request.tolist(), worker.tolist(), strict=True):
        for age in range(active[j]):
            if age < slots.shape[1]:
                slots[g, age] -= 1
                kv_tokens[g, age] -= tokens[j] + age
    return slots, kv_tokens


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(0, 12),
    st.integers(1, 4),
    st.sampled_from(["random", "index"]),
)
def test_admissions_fit_and_nothing_better_was_left(
    seed: int, requests: int, workers: int, ties: str
) -> None:
    """Catches a request placed twice, an overfull period, and a stop at the first misfit."""
    rng = np.random.default_rng(seed)
    periods = int(rng.integers(1, 8))
    margins = rng.integers(-3, 6, (requests, workers)) / 2
    active, tokens = rng.integers(1, 10, requests), rng.integers(0, 30, requests)
    slots = rng.integers(-1, 5, (workers, periods))
    kv_tokens = rng.integers(-5, 120, (workers, periods))
    request, worker = greedy_admission(
        margins, active, tokens, slots, kv_tokens, ties=ties, rng=rng
    )
    assert len(set(request.tolist())) == len(request)
    taken = margins[request, worker]
    assert (taken > 0).all()
    assert (np.diff(taken) <= 0).all()
    # feasible, and every pair passed over did not fit when its turn came
    fewer = [left_over(request[:n], worker[:n], active, tokens, slots, kv_tokens)
             for n in range(len(request) + 1)]  # fmt: skip
    rest = fewer[-1]
    for j, g in zip(request.tolist(), worker.tolist(), strict=True):
        used = min(active[j], periods)
        assert (rest[0][g, :used] >= 0).all()
        assert (rest[1][g, :used] >= 0).all()
    for j in set(range(requests)) - set(request.tolist()):
        for g in range(workers):
            if margins[j, g] <= 0:
                continue
            used = min(active[j], periods)
            need = tokens[j] + np.arange(used)
            # ties may come before or after: with all of them taken it cannot have fitted
            slots_left, tokens_left = fewer[int((taken >= margins[j, g]).sum())]
            fits = (slots_left[g, :used] >= 1).all() and (tokens_left[g, :used] >= need).all()
            assert not fits


def admit(margins: list[list[float]], slots: list[int], **options: object) -> list[tuple[int, int]]:
    """Admit requests of one period and one token."""
    count = len(margins)
    residual = np.array(slots)[:, None]
    request, worker = greedy_admission(
        np.array(margins),
        np.ones(count, np.int64),
        np.ones(count, np.int64),
        residual,
        np.full_like(residual, 99),
        **options,  # type: ignore[arg-type]
    )
    return list(zip(request.tolist(), worker.tolist(), strict=True))


def test_margins_decide_and_misfits_are_skipped() -> None:
    # worker 0 has one slot: request 1 takes it, request 0 goes to worker 1, request 2 is at 0
    margins = [[4.0, 3.0], [5.0, 1.0], [0.0, 0.0]]
    assert admit(margins, [1, 2], ties="index") == [(1, 0), (0, 1)]


def test_admitted_requests_grow() -> None:
    """Catches residuals that forget growth: each holds 4 tokens, then 5, and 9 are left then."""
    two = np.full(2, 2)
    tokens, slots = np.full(2, 4), np.full((1, 2), 5)
    for left, admitted in ((9, [0]), (10, [0, 1])):
        kv_tokens = np.array([[99, left]])
        request, _ = greedy_admission(np.ones((2, 1)), two, tokens, slots, kv_tokens, ties="index")
        assert request.tolist() == admitted


def test_ties_by_index_and_at_random() -> None:
    """Catches all ties filling worker 0: of 4,000 draws each worker gets 900 to 1,100."""
    equal = [[1.0] * 4]
    assert admit(equal, [1] * 4, ties="index") == [(0, 0)]
    rng = np.random.default_rng(0)
    workers = [admit(equal, [1] * 4, ties="random", rng=rng)[0][1] for _ in range(4000)]
    assert np.bincount(workers).min() >= 900
    assert np.bincount(workers).max() <= 1100


def test_no_random_number_without_a_tie() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    admit([[3.0, 2.0], [1.0, -1.0]], [2, 2], rng=rng)
    assert rng.bit_generator.state == before


def test_residuals_of_the_caller_are_left_alone() -> None:
    slots, kv_tokens = np.ones((1, 2), np.int64), np.full((1, 2), 9)
    one = np.ones(1, np.int64)
    greedy_admission(np.ones((1, 1)), one, one, slots, kv_tokens, ties="index")
    assert slots.tolist() == [[1, 1]]
    assert kv_tokens.tolist() == [[9, 9]]


def test_bad_arguments_are_refused() -> None:
    one, table = np.ones(1, np.int64), np.ones((1, 1), np.int64)
    with pytest.raises(InputError, match="rng"):
        greedy_admission(np.ones((1, 1)), one, one, table, table)
    with pytest.raises(InputError, match="policy for ties"):
        greedy_admission(np.ones((1, 1)), one, one, table, table, ties="first")
    with pytest.raises(InputError, match="2 workers"):
        greedy_admission(np.ones((1, 2)), one, one, table, table, ties="index")
    with pytest.raises(InputError, match="2 entries"):
        greedy_admission(np.ones((2, 1)), one, one, table, table, ties="index")


def record(
    margins: list[list[float]] | np.ndarray, recorded: np.ndarray, *, per_request: bool
) -> list[tuple[int, int]]:
    request, worker = np.empty((2, len(margins)), np.int64)
    rng, table = np.random.default_rng(0), np.array(margins)
    count = pairs_to_record(table, recorded, per_request, False, rng, request, worker)
    return list(zip(request[:count].tolist(), worker[:count].tolist(), strict=True))


def test_once_per_period_the_best_pair_is_recorded() -> None:
    """Also where its margin is not positive (paper); catches a history without the congested."""
    nobody = np.zeros(2, np.bool_)
    assert record([[-5.0, -3.0], [-4.0, -9.0]], nobody, per_request=False) == [(0, 1)]
    assert not nobody.any()
    assert record(np.zeros((0, 2)), nobody[:0], per_request=False) == []


def test_once_per_request_each_is_recorded_once() -> None:
    recorded = np.array([False, True, False])
    margins = [[1.0, 2.0], [9.0, 9.0], [-1.0, -2.0]]
    assert record(margins, recorded, per_request=True) == [(0, 1), (2, 0)]
    assert recorded.all()
    assert record(margins, recorded, per_request=True) == []


def test_ties_between_pairs_to_record() -> None:
    """Catches a history that knows worker 0 only."""
    rng, seen = np.random.default_rng(0), np.zeros((2, 2), np.int64)
    request, worker = np.empty((2, 2), np.int64)
    equal, nobody = np.ones((2, 2)), np.zeros(2, np.bool_)
    for _ in range(4000):
        pairs_to_record(equal, nobody, False, True, rng, request, worker)
        seen[request[0], worker[0]] += 1
    assert seen.min() >= 900
    assert seen.max() <= 1100
    assert record([[1.0, 1.0], [1.0, 1.0]], nobody, per_request=False) == [(0, 0)]
