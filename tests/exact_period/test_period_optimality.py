"""Properties that hold for every period problem: random ones of both kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from period_cases import large_period, periods, random_period

from olprouting.exact import solve
from olprouting.exact.period import check_period, period_columns, solve_saa, used, value_of
from olprouting.instances import PeriodProblem, PeriodResult

FEW = settings(max_examples=40, deadline=None)


@FEW
@given(periods())
def test_lp_prices_prove_the_lp_value(problem: PeriodProblem) -> None:
    result = solve(problem)
    assert result.status in ("optimal", "optimal_within_gap"), result.message
    assert result.proven
    assert result.x is not None
    check = check_period(problem, result.x, result.prices.batch, result.prices.memory, 1e-7)
    assert check.faults == ()
    slacknesses = check.slack_cost + check.unadmitted_value + check.admitted_loss
    assert slacknesses == pytest.approx(check.gap, abs=1e-7 * (1 + abs(check.bound)))


@FEW
@given(periods(most_waiting=6))
def test_every_form_and_interface_has_one_value(problem: PeriodProblem) -> None:
    # a dual with a wrong sign or a lost row would differ
    value = solve(problem, test_uniqueness=False).value
    for form, solver in [
        ("dual", "highs"),
        ("reduced-dual", "highs"),
        ("lp", "clarabel"),
        ("lp", "pyomo:highs"),
    ]:
        other = solve(problem, formulation=form, solver=solver, test_uniqueness=False)
        assert other.bound == pytest.approx(value, rel=1e-6, abs=1e-6), (form, solver)


@FEW
@given(periods())
def test_rows_left_out_change_neither_value_nor_optimality(problem: PeriodProblem) -> None:
    full = solve(problem, reduce_rows=False, test_uniqueness=False)
    few = solve(problem, reduce_rows=True, test_uniqueness=False)
    assert few.rows <= full.rows == full.rows_in_full
    assert few.value == pytest.approx(full.value, rel=1e-7, abs=1e-9)
    # the check looks at every row of the program as written
    assert few.x is not None
    check = check_period(problem, few.x, few.prices.batch, few.prices.memory, 1e-7)
    assert check.faults == ()


@FEW
@given(periods(), st.data())
def test_a_row_left_out_is_implied_by_the_kept_ones(
    problem: PeriodProblem, data: st.DataObject
) -> None:
    # checked on any x, not only on optimal ones: scale it onto the kept rows, then look at all
    seed = data.draw(st.integers(0, 2**20))
    x = np.random.default_rng(seed).random((problem.waiting, problem.workers))
    columns = period_columns(problem)
    use = columns.usage @ x.T.ravel()
    blocked = (columns.capacity == 0) & (use > 0)
    if problem.waiting == 0 or blocked.any():
        return
    shrink = np.max(use / np.where(columns.capacity > 0, columns.capacity, 1), initial=1.0)
    slots, tokens = used(problem, x / shrink)
    assert (slots <= problem.slots + 1e-9).all()
    assert (tokens <= problem.kv_tokens * (1 + 1e-12) + 1e-9).all()


@FEW
@given(periods(most_waiting=4, most_workers=2))
def test_the_integer_program_equals_enumeration(problem: PeriodProblem) -> None:
    best = 0.0
    for choice in itertools.product(range(problem.workers + 1), repeat=problem.waiting):
        x = np.zeros((problem.waiting, problem.workers), dtype=np.int64)
        for request, worker in enumerate(choice):
            if worker < problem.workers:
                x[request, worker] = 1
        slots, tokens = used(problem, x)
        if (slots <= problem.slots).all() and (tokens <= problem.kv_tokens).all():
            best = max(best, value_of(problem, x))
    for reduce_rows in (True, False):
        result = solve(problem, formulation="integer", reduce_rows=reduce_rows)
        assert result.value == pytest.approx(best, abs=1e-12)
        assert result.bound is not None
        assert result.bound >= best - 1e-12
    lp = solve(problem, test_uniqueness=False)
    assert lp.value is not None
    assert best <= lp.value + 1e-9 * (1 + lp.value)


@FEW
@given(periods(), st.integers(0, 2**20))
def test_names_do_not_matter(problem: PeriodProblem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    workers, requests = rng.permutation(problem.workers), rng.permutation(problem.waiting)
    renamed = problem.replace(
        slots=problem.slots[workers],
        kv_tokens=problem.kv_tokens[workers],
        prompt_tokens=problem.prompt_tokens[requests],
        decode_tokens=problem.decode_tokens[requests],
        arrival_period=problem.arrival_period[requests],
    )
    assert _value(renamed) == pytest.approx(_value(problem), rel=1e-7, abs=1e-9)


@FEW
@given(periods(), st.sampled_from([1000, 10**6]))
def test_the_unit_of_tokens_does_not_matter(problem: PeriodProblem, unit: int) -> None:
    # lengths of one period, so that growth does not stand against the new unit
    short = problem.replace(
        decode_tokens=np.ones(problem.waiting, dtype=int), batching="decode", age_offset=0
    )
    scaled = short.replace(
        prompt_tokens=short.prompt_tokens * unit, kv_tokens=short.kv_tokens * unit
    )
    assert _value(scaled) == pytest.approx(_value(short), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_rewards_does_not_matter(factor: float) -> None:
    # handed over as they are, rewards of 1e-9 are all within a solver's tolerance of 0
    problem = random_period(1)
    weights = {n: factor * w for n, w in problem.weights.to_document().items()}
    scaled = problem.replace(weights=problem.weights.replace(**weights))
    assert _value(scaled) == pytest.approx(factor * _value(problem), rel=1e-7)


@FEW
@given(periods())
def test_more_capacity_never_costs_and_gains_at_most_its_price(problem: PeriodProblem) -> None:
    base = solve(problem)
    more = _value(problem.replace(slots=problem.slots + 1))
    assert base.value is not None
    assert base.value - 1e-9 <= more
    assert more <= base.value + base.prices.batch.sum() + 1e-6


@FEW
@given(periods())
def test_results_survive_json(problem: PeriodProblem) -> None:
    for form in ("lp", "integer"):
        result = solve(problem, formulation=form)
        again = PeriodResult.from_json(result.to_json())
        assert again.to_json() == result.to_json()
        assert len(result.to_frame()) == (np.asarray(result.x) > 0).sum()


def test_the_price_table_names_absolute_periods() -> None:
    problem = random_period(3)
    frame = solve(problem).price_frame()
    assert frame["period"].min() == problem.period
    assert frame["period"].max() == problem.periods
    assert len(frame) == problem.workers * problem.remaining


def test_many_rows_go_at_a_realistic_size() -> None:
    full = period_columns(large_period(60, 4, 400), reduce_rows=False)
    few = period_columns(large_period(60, 4, 400))
    assert len(few.capacity) < len(full.capacity) / 4
    assert few.usage.nnz < full.usage.nnz / 4


@FEW
@given(st.integers(0, 2**20), st.integers(0, 12), st.integers(1, 5))
def test_the_saa_minimum_beats_random_prices(seed: int, history: int, resources: int) -> None:
    rng = np.random.default_rng(seed)
    usage = rng.integers(0, 500, (history, resources)) * (rng.random((history, resources)) < 0.7)
    rewards, scarcity = rng.random(history) * 3, rng.integers(0, 200, resources)
    best = solve_saa(scarcity, rewards, usage)
    assert best.value is not None
    assert best.bound == pytest.approx(best.value, rel=1e-6, abs=1e-9)
    for price in rng.random((20, resources)) * rng.choice([1e-3, 1e-1, 1]):
        mean = np.maximum(rewards - usage @ price, 0).sum() / max(1, history)
        assert scarcity @ price + mean >= best.value - 1e-9


def test_saa_of_e3_gives_its_prices() -> None:
    # 20 columns of each kind, d = b/40: f(p) = 44/40 at (2, 0.5)
    usage = np.array([[1, 6]] * 20 + [[1, 4]] * 20)
    result = solve_saa([10 / 40, 48 / 40], [5] * 20 + [4] * 20, usage)
    assert result.price == pytest.approx([2, 0.5])
    assert result.value == pytest.approx(1.1)


def _value(problem: PeriodProblem) -> float:
    value = solve(problem, test_uniqueness=False).value
    assert value is not None
    return value
