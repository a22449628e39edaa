"""Algorithm 2: its steps, its iterates, and what is said of their quality."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_prices import Case, cases, random_case, some_prices

from olprouting.errors import InputError
from olprouting.prices import (
    DescentOptions,
    PriceResult,
    SaaProblem,
    Scaling,
    exact_prices,
    learn_prices,
    make_columns,
    value_at,
)
from olprouting.prices.descent_kernels import descend, draw, sort_by_digits
from olprouting.prices.scarcity import ResidualCapacity

TOLERANCE = 1e-9


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def e3() -> SaaProblem:
    """max 5x + 4y, x+y <= 10 slots, 6x+4y <= 48 tokens, x,y <= 20, as 40 columns; f = 44/40."""
    columns = make_columns([5.0] * 20 + [4.0] * 20, 0, 1, [5] * 20 + [3] * 20, 1)
    return ResidualCapacity([10], [48], 1).problem(columns, 40, Scaling())


def dense_step(
    case: Case, prices: np.ndarray, chosen: np.ndarray, eta: float, length: bool
) -> np.ndarray:
    """One step as the paper writes it; `length` divides by that of the effective subgradient."""
    a = case.dense()[chosen]
    on = np.array(case.reward)[chosen] - np.tensordot(a, prices, 3) > 0
    gradient = case.scarcity() - np.tensordot(on / len(chosen), a, 1)
    if length:
        moving = (prices > 0) | (gradient < 0)
        norm = np.sqrt((gradient[moving] ** 2).sum())
        eta = eta / norm if norm > 0 else 0.0
    return np.maximum(prices - eta * gradient, 0)


@settings(max_examples=200, deadline=None)
@given(cases(least=1), st.integers(0, 999), st.integers(1, 14), st.booleans())
def test_a_step_is_the_papers(case: Case, seed: int, batch: int, length: bool) -> None:
    """Catches wrong segments, live ranges, means over the wrong number, a missed projection."""
    prices = some_prices(case, seed)
    count = len(case.reward)
    order = np.arange(count)
    if batch < count:
        draw(order, generator(seed).random(batch))
    expected = dense_step(case, prices, order[: min(batch, count)], 0.01, length)
    uniforms = generator(seed).random((1, batch) if batch < count else (0, 0))
    descend(case.problem(), prices[0], prices[1], 1, batch, 0.01, length, uniforms)
    np.testing.assert_allclose(prices, expected, rtol=1e-9, atol=1e-10)


@settings(deadline=None)
@given(st.lists(st.integers(0, 70_000), max_size=200), st.integers(0, 8))
def test_keys_are_sorted_by_what_stands_above_their_low_bits(high: list[int], bits: int) -> None:
    """Catches a digit that is left out, and equal keys that change places."""
    low = np.arange(len(high)) & ((1 << bits) - 1)
    keys = (np.array(high, np.int64) << bits) | low
    expected = keys[np.argsort(keys >> bits, kind="stable")]
    sort_by_digits(keys, bits, max(high, default=0))
    np.testing.assert_array_equal(keys, expected)


def test_many_steps_are_the_papers() -> None:
    """Catches state that goes stale between steps: live ranges, segments, the order of draws."""
    case = random_case(3)
    prices, expected = np.zeros((2, 2, 40)), np.zeros((2, 2, 40))
    rng, order = generator(), np.arange(60)
    uniforms = generator().random((40, 16))
    descend(case.problem(), prices[0], prices[1], 40, 16, 1e-3, False, uniforms)
    for _ in range(40):
        draw(order, rng.random(16))
        expected = dense_step(case, expected, order[:16], 1e-3, False)
    assert expected.max() > 0
    np.testing.assert_allclose(prices, expected, rtol=1e-9, atol=1e-12)


def test_mini_batches_are_drawn_without_replacement() -> None:
    """Catches duplicates, a biased draw, and a generator that is not the caller's."""
    order, seen = np.arange(30), np.zeros(30)
    rng = generator()
    for _ in range(3000):
        draw(order, rng.random(10))
        assert len(set(order[:10].tolist())) == 10
        seen[order[:10]] += 1
    assert sorted(order.tolist()) == list(range(30))
    # each is drawn with probability 1/3: mean 1000, deviation 26; five of them either way
    assert np.abs(seen - 1000).max() < 130


@pytest.mark.parametrize("policy", ["constant", "inverse-sqrt"])
def test_same_seed_same_bytes(policy: str) -> None:
    """Catches randomness from elsewhere, and mini-batches that are not fresh at every step."""
    problem = random_case(5).problem()
    options = DescentOptions(30, 8, 0.01, policy)
    runs = [learn_prices(problem, generator(seed), options, iterate="last") for seed in (1, 1, 2)]
    assert runs[0].batch.tobytes() == runs[1].batch.tobytes()
    assert runs[0].memory.tobytes() == runs[1].memory.tobytes()
    assert runs[0].memory.tobytes() != runs[2].memory.tobytes()


def test_e3_reaches_its_minimum(e3: SaaProblem) -> None:
    """Pitfall 1.20: the dual minimum of E3 with x,y <= 20 is 44, at prices (2, 0.5)."""
    options = DescentOptions(5000, None, 1.0, "inverse-sqrt")
    result = learn_prices(e3, generator(), options)
    assert 44 - TOLERANCE <= 40 * result.value <= 44.44
    assert 40 * result.lower_bound <= 44 + TOLERANCE
    assert result.converged
    assert result.reason.startswith("converged")
    np.testing.assert_allclose([result.batch[0, 0], result.memory[0, 0]], [2, 0.5], atol=0.01)


def test_e3_with_tiny_steps_is_not_converged(e3: SaaProblem) -> None:
    """Pitfall 1.20: 0.01/sqrt(k) stalls at 47.6; catches judging by progress alone."""
    options = DescentOptions(5000, None, 0.01, "inverse-sqrt")
    result = learn_prices(e3, generator(), options)
    assert 47 < 40 * result.value < 48
    assert not result.converged
    assert result.reason.startswith("not converged")
    told = learn_prices(e3, generator(), options, minimum=44 / 40)
    assert told.gap == pytest.approx(40 * result.value / 44 - 1)
    assert "not converged" in told.summary()


@pytest.mark.parametrize("batch", [None, 1, 8])
@pytest.mark.parametrize("iterate", ["last", "averaged", "best"])
@pytest.mark.parametrize(("policy", "eta"), [("constant", 0.05), ("inverse-sqrt", 1.0)])
def test_reported_values_are_bounds(
    e3: SaaProblem, batch: int | None, iterate: str, policy: str, eta: float
) -> None:
    """Catches a mini-batch's value reported as a bound: with one column it is often below 44."""
    for seed in range(5):
        options = DescentOptions(60, batch, eta, policy)
        result = learn_prices(e3, generator(seed), options, iterate=iterate)
        assert (result.batch >= 0).all()
        assert (result.memory >= 0).all()
        assert 40 * result.value >= 44 - TOLERANCE
        assert 40 * result.lower_bound <= 44 + TOLERANCE
        assert result.value == pytest.approx(value_at(e3, result.batch, result.memory), rel=1e-12)


def test_iterates_are_told_apart() -> None:
    """Catches one array returned for all kinds; best is never worse than the last."""
    problem = random_case(7).problem()
    options = DescentOptions(50, None, 0.5, "inverse-sqrt")
    last, averaged, best = (
        learn_prices(problem, generator(), options, iterate=kind)
        for kind in ("last", "averaged", "best")
    )
    assert [r.kind for r in (last, averaged, best)] == ["last", "averaged", "best"]
    assert len({r.memory.tobytes() for r in (last, averaged, best)}) == 3
    assert best.value <= last.value
    redone = learn_prices(problem, generator(), options.replace(steps=best.best_step))
    np.testing.assert_array_equal(redone.memory, best.memory)


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(0, 999))
def test_weak_duality(case: Case, seed: int) -> None:
    """f(p) >= LP value for every p >= 0; catches any error in d, in f, or in use past T."""
    prices, optimum = some_prices(case, seed), case.lp_value()
    value = value_at(case.problem(), prices[0], prices[1])
    assert value == pytest.approx(case.value(prices), rel=1e-9, abs=1e-9)
    assert value >= optimum - 1e-7


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 99), st.sampled_from([None, 3]))
def test_bounds_enclose_the_optimum(case: Case, seed: int, batch: int | None) -> None:
    """Catches a lower bound whose schedule does not fit: it would exceed the LP's value."""
    optimum = case.lp_value()
    scaling = Scaling(2.0, 0.01)
    options = DescentOptions(40, batch, 0.3, "inverse-sqrt")
    result = learn_prices(case.problem(scaling), generator(seed), options)
    assert result.lower_bound <= optimum + 1e-7
    assert result.value >= optimum - 1e-7


@settings(max_examples=40, deadline=None)
@given(cases())
def test_the_exact_minimiser_has_the_lps_value(case: Case) -> None:
    """Catches a row left out that can bind, and prices put back at other positions."""
    result = exact_prices(case.problem(Scaling(3.0, 0.05)))
    optimum = case.lp_value()
    assert result.kind == "exact"
    assert result.value == pytest.approx(optimum, rel=1e-7, abs=1e-7)
    assert case.value(np.stack([result.batch, result.memory])) == pytest.approx(
        optimum, rel=1e-7, abs=1e-7
    )
    assert result.converged, result.reason


def test_exact_prices_of_e3(e3: SaaProblem) -> None:
    result = exact_prices(e3)
    assert 40 * result.value == pytest.approx(44)
    np.testing.assert_allclose([result.batch[0, 0], result.memory[0, 0]], [2, 0.5], rtol=1e-9)


def test_an_exact_solve_that_is_stopped_says_so(e3: SaaProblem) -> None:
    """Catches prices of an interrupted solve that pass for the minimiser."""
    from olprouting.exact import SolveOptions

    result = exact_prices(e3, options=SolveOptions(time_limit_s=0))
    assert not result.converged
    assert "not converged: time_limit" in result.reason
    assert 40 * result.value == pytest.approx(20 * 5 + 20 * 4)  # f(0): still a bound


def test_more_steps_approach_the_exact_minimum() -> None:
    """Catches a step that does not shrink, or a direction that is no subgradient."""
    case = random_case(11)
    problem = case.problem(Scaling(3.0, 1 / 150))
    optimum = exact_prices(problem).value
    gaps = [
        learn_prices(problem, generator(), DescentOptions(steps, None, 2.0, "inverse-sqrt")).value
        / optimum
        - 1
        for steps in (10, 100, 1000, 10000)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0.02
    assert gaps[-1] < 0.001
    mini = DescentOptions(10000, 16, 2.0, "inverse-sqrt")
    assert learn_prices(problem, generator(), mini, iterate="averaged").value < 1.03 * optimum


def test_a_warm_start_goes_on_where_prices_were() -> None:
    """Catches a start taken in the wrong units, or ignored."""
    problem = random_case(13).problem(Scaling(2.5, 0.01))
    constant = DescentOptions(20, None, 0.01)
    whole = learn_prices(problem, generator(), constant, iterate="last")
    half = learn_prices(problem, generator(), constant.replace(steps=10), iterate="last")
    rest = learn_prices(
        problem, generator(), constant.replace(steps=10), iterate="last", start=half
    )
    np.testing.assert_allclose(rest.memory, whole.memory, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rest.batch, whole.batch, rtol=1e-9, atol=1e-12)


def test_no_steps_keep_the_start() -> None:
    """K = 0: catches an off-by-one that moves, draws, or forgets to evaluate."""
    problem = random_case(2).problem()
    start = np.full((2, 40), 0.01), np.full((2, 40), 0.001)
    for kind in ("last", "averaged", "best"):
        result = learn_prices(problem, generator(), DescentOptions(0), iterate=kind, start=start)
        np.testing.assert_allclose(result.batch, start[0])
        assert result.value == pytest.approx(value_at(problem, *start))
        assert result.steps == 0


def test_an_empty_history_gives_price_zero() -> None:
    """Algorithm 2, lines 3 to 6; catches a warm start that survives."""
    case = random_case(2)._replace(reward=[], worker=[], start=[], prompt=[], decode=[])
    start = np.ones((2, 40)), np.ones((2, 40))
    for result in (
        learn_prices(case.problem(), generator(), start=start, iterate="last"),
        exact_prices(case.problem()),
    ):
        assert not result.batch.any()
        assert not result.memory.any()
        assert result.value == 0
        assert result.converged
    batch, memory = np.ones((2, 40)), np.ones((2, 40))
    descend(case.problem(), batch, memory, 5, 64, 0.01, False, np.zeros((0, 0)))
    assert not batch.any()
    assert not memory.any()


def test_a_batch_larger_than_the_history_is_the_history() -> None:
    """Catches columns counted twice, and random numbers drawn where there is no choice."""
    problem = random_case(4).problem()
    rng = generator()
    before = rng.bit_generator.state
    results = [
        learn_prices(problem, rng, DescentOptions(20, batch, 1e-3), iterate="last")
        for batch in (None, 60, 1000)
    ]
    assert rng.bit_generator.state == before
    assert len({r.memory.tobytes() for r in results}) == 1


def test_permuting_columns_changes_nothing() -> None:
    """Catches order that matters: full-sample steps see a set."""
    case = random_case(6)
    order = generator().permutation(60).tolist()
    rows = {
        name: [getattr(case, name)[i] for i in order]
        for name in ("reward", "worker", "start", "prompt", "decode")
    }
    options = DescentOptions(100, None, 1e-3)
    one, two = (
        learn_prices(c.problem(), generator(), options, iterate="last")
        for c in (case, case._replace(**rows))
    )
    np.testing.assert_allclose(one.memory, two.memory, rtol=1e-9, atol=1e-12)
    assert one.value == pytest.approx(two.value)


def test_relabelling_workers_relabels_prices() -> None:
    """Catches a worker that is special, such as the first or the last."""
    case = random_case(8, workers=3)
    new = [2, 0, 1]
    moved = case._replace(worker=[new[g] for g in case.worker])
    options = DescentOptions(100, None, 1e-3)
    one, two = (
        learn_prices(c.problem(), generator(), options, iterate="last") for c in (case, moved)
    )
    np.testing.assert_allclose(two.memory[new], one.memory, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(two.batch[new], one.batch, rtol=1e-9, atol=1e-12)


def test_other_units_of_tokens_change_prices_per_token_only() -> None:
    """Tokens and capacities times 16: prices per token over 16, the same values."""
    case = random_case(9, periods=3)._replace(
        decode=[1] * 60, age_offset=0
    )  # growth has no unit to scale
    larger = case._replace(prompt=[16 * s for s in case.prompt], kv_tokens=16 * case.kv_tokens)
    results = []
    for c in (case, larger):
        scaling = Scaling.for_capacity(c.kv_tokens)
        options = DescentOptions(200, None, 0.05)
        results.append(learn_prices(c.problem(scaling), generator(), options, iterate="last"))
    assert results[0].memory.max() > 0
    np.testing.assert_allclose(16 * results[1].memory, results[0].memory, rtol=1e-12)
    assert results[1].value == pytest.approx(results[0].value, rel=1e-12)


def test_columns_outside_of_the_prices_are_refused() -> None:
    """Catches compiled code writing outside of its arrays."""
    case = random_case(2)
    for changes in ({"worker": [2, *case.worker[1:]]}, {"start": [41, *case.start[1:]]}):
        problem = case._replace(**changes).problem()
        for call in (lambda p: learn_prices(p, generator()), exact_prices):
            with pytest.raises(InputError, match=r"\[0\] = "):
                call(problem)


@pytest.mark.parametrize(
    "bad",
    [
        {"steps": -1},
        {"steps": 2.5},
        {"batch": 0},
        {"step_size": 0.0},
        {"step_size": float("nan")},
        {"step_rule": "sqrt"},
    ],
)
def test_bad_options_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(bad)).replace("_", "[_ ]")):
        DescentOptions(**bad)  # type: ignore[arg-type]


def test_bad_starts_are_refused() -> None:
    problem = random_case(2).problem()
    with pytest.raises(InputError, match="shape"):
        learn_prices(problem, generator(), start=(np.zeros((1, 2)), np.zeros((1, 2))))
    with pytest.raises(InputError, match=">= 0"):
        value_at(problem, np.full((2, 40), -1.0), np.zeros((2, 40)))
    with pytest.raises(InputError, match="iterate"):
        learn_prices(problem, generator(), iterate="final")


def test_results_are_frozen_and_tabulated(e3: SaaProblem) -> None:
    result = learn_prices(e3, generator())
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.batch[0, 0] = 1
    assert isinstance(result, PriceResult)
    assert result.to_frame().columns.tolist() == ["worker", "position", "batch", "memory"]


def test_an_exact_minimum_of_nothing_but_rounding_is_converged() -> None:
    """No slot and no KV token: the minimum is 0, the double is 1e-15, and their gap no gap."""
    case = Case(
        reward=[0.0, 0.0, 0.0, 0.0, 4.25, 10.0, 0.0],
        worker=[0] * 7,
        start=[1] * 7,
        prompt=[0, 0, 0, 0, 0, 30, 0],
        decode=[1] * 7,
        batching="decode",
        age_offset=None,
        positions="absolute",
        slots=np.array([[0.0]]),
        kv_tokens=np.array([[0.0]]),
        n_remain=0.0,
        width=1,
    )
    result = exact_prices(case.problem(Scaling(3.0, 0.05)))
    assert result.converged, result.reason
