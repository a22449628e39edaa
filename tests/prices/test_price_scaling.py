"""Units, the normalizer, scarcity: true prices do not depend on them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_prices import Case, cases, random_case, some_prices
from scipy.optimize import linprog

from olprouting.errors import InputError
from olprouting.instances import SloWeights
from olprouting.prices import (
    ClippedRewardsWarning,
    DescentOptions,
    ResidualCapacity,
    Scaling,
    automatic_normalizer,
    exact_prices,
    learn_prices,
    no_columns,
    remaining_starts,
    value_at,
)


def minimise_scaled(case: Case, normalizer: float, mem_scale: float) -> np.ndarray:
    """Minimise f in scaled units with SciPy; d's memory entries are scaled, d is not normalised."""
    n = len(case.reward)
    units = np.array([1.0, mem_scale])[:, None, None]
    a = (case.dense() * units).reshape(n, -1)
    d = (case.scarcity() * units).ravel()
    cost = np.concatenate([d, np.full(n, 1 / n)])
    rows = np.hstack([-a, -np.eye(n)])
    solved = linprog(cost, A_ub=rows, b_ub=-np.array(case.reward) / normalizer, bounds=(0, None))
    assert solved.status == 0
    return solved.x[: len(d)].reshape(2, *case.slots.shape)


@settings(max_examples=40, deadline=None)
@given(cases(least=1), st.sampled_from([0.5, 3.0, 40.0]), st.sampled_from([1 / 120, 1 / 9]))
def test_true_prices_of_the_scaled_minimiser_are_optimal(
    case: Case, normalizer: float, mem_scale: float
) -> None:
    """Catches every wrong formula for true prices: such prices are not optimal without scaling."""
    scaled = minimise_scaled(case, normalizer, mem_scale)
    true = Scaling(normalizer, mem_scale).true_prices(scaled[0], scaled[1])
    assert case.value(np.stack(true)) == pytest.approx(case.lp_value(), rel=1e-6, abs=1e-6)


def test_other_formulas_for_true_prices_are_not_optimal() -> None:
    """Catches an instance above on which all formulas would pass."""
    case, normalizer, mem_scale = random_case(1), 3.0, 1 / 150
    scaled, optimum = minimise_scaled(case, normalizer, mem_scale), case.lp_value()
    assert scaled[1].max() > 0
    for factors in ((1, mem_scale), (normalizer, normalizer), (normalizer, normalizer / mem_scale)):
        wrong = np.stack([factors[0] * scaled[0], factors[1] * scaled[1]])
        assert case.value(wrong) > 1.01 * optimum


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 999), st.sampled_from([0.5, 7.0]), st.sampled_from([0.01, 2.0]))
def test_values_do_not_depend_on_units(
    case: Case, seed: int, normalizer: float, mem_scale: float
) -> None:
    """Catches memory entries of d left unscaled, or d divided by the normalizer."""
    prices = some_prices(case, seed)
    value = value_at(case.problem(Scaling(normalizer, mem_scale)), prices[0], prices[1])
    assert value == pytest.approx(case.value(prices), rel=1e-9, abs=1e-9)


def test_scaling_goes_there_and_back() -> None:
    scaling = Scaling(3.0, 0.25)
    batch, memory = scaling.true_prices(*scaling.scaled_prices(np.ones(3), np.full(3, 2.0)))
    np.testing.assert_allclose(batch, 1)
    np.testing.assert_allclose(memory, 2)


def test_mem_scale_is_that_of_the_largest_capacity() -> None:
    """Catches the mean or the first worker's capacity."""
    assert Scaling.for_capacity([100, 400], factor=2.0).mem_scale == 2.0 / 400
    with pytest.raises(InputError, match="no worker has KV capacity"):
        Scaling.for_capacity([0, 0])


@pytest.mark.parametrize("bad", [{"reward_normalizer": 0.0}, {"mem_scale": -1.0}])
def test_bad_scalings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        Scaling(**bad)  # type: ignore[arg-type]


def test_the_automatic_normalizer_is_a_quantile_of_recent_rewards() -> None:
    """Catches old rewards in it, and a normalizer of 0."""
    rewards = np.concatenate([np.full(1000, 99.0), np.arange(101.0)])
    assert automatic_normalizer(rewards, 0.9, recent=101) == 90
    assert automatic_normalizer(rewards, 1.0, recent=1) == 100
    assert automatic_normalizer(np.zeros(5)) == 1
    assert automatic_normalizer(np.zeros(0)) == 1
    with pytest.raises(InputError, match="quantile"):
        automatic_normalizer(rewards, 1.5)
    with pytest.raises(InputError, match="recent"):
        automatic_normalizer(rewards, recent=0)


def test_clipping_is_off_by_default_counted_and_warned_of() -> None:
    """Catches silent clipping (it makes the weights moot), and a warning at exactly half."""
    case = random_case(3)
    rewards = np.sort(case.reward)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learn_prices(case.problem(Scaling(0.01)), rng).clipped == 0
        half = Scaling((rewards[29] + rewards[30]) / 2, clip=True)
        assert learn_prices(case.problem(half), rng).clipped == 30
        assert exact_prices(case.problem(half)).clipped == 30
    more = Scaling((rewards[28] + rewards[29]) / 2, clip=True)
    with pytest.warns(ClippedRewardsWarning, match="31 of 60"):
        result = learn_prices(case.problem(more), rng)
    assert result.clipped == 31


def test_clipped_rewards_are_those_of_the_paper() -> None:
    """min(r / normalizer, 1): catches clipping before dividing."""
    case = random_case(3)
    scaling = Scaling(2.5, clip=True)
    clipped = case._replace(reward=np.minimum(case.reward, 2.5).tolist())
    prices = some_prices(case, 1) * 0.1
    value = value_at(case.problem(scaling), prices[0], prices[1])
    assert value == pytest.approx(clipped.value(prices))
    with pytest.warns(ClippedRewardsWarning):
        assert exact_prices(case.problem(scaling)).value == pytest.approx(clipped.lp_value())


def test_negative_weights_are_refused() -> None:
    """A reward may still be negative as a number: its column is then never worth a price."""
    with pytest.raises(InputError, match="gamma"):
        SloWeights(0, 0, -1, 0, 0, 0)
    case = random_case(3)._replace(reward=[-1.0] * 60)
    result = learn_prices(case.problem(), np.random.default_rng(0), DescentOptions(50, None, 1.0))
    assert result.value == 0
    assert not result.memory.any()


def test_a_request_longer_than_all_periods() -> None:
    """Catches writes past T: only the periods up to T count."""
    case = random_case(3, periods=4)._replace(decode=[1000] * 60)
    result = exact_prices(case.problem())
    assert result.value == pytest.approx(case.lp_value())
    learned = learn_prices(
        case.problem(Scaling(5.0, 0.01)),
        np.random.default_rng(0),
        DescentOptions(20000, None, 1.0, "inverse-sqrt"),
    )
    assert result.value - 1e-9 <= learned.value <= 1.02 * result.value


def test_remaining_starts_by_policy() -> None:
    """Catches policies mixed up; each says what it needs."""
    assert remaining_starts("slots", slots=[29, 30]) == 59
    assert remaining_starts("arrivals", arrivals_per_period=0.4, periods_left=500) == 200
    assert remaining_starts("known", known=7) == 7
    with pytest.raises(InputError, match="periods_left"):
        remaining_starts("arrivals", arrivals_per_period=0.4)
    with pytest.raises(InputError, match="'slots'"):
        remaining_starts("slot", slots=[1])


@pytest.mark.parametrize(("n_remain", "divisor"), [(0, 1), (0.5, 1), (1, 1), (40, 40)])
def test_scarcity_divides_by_at_least_one(n_remain: float, divisor: float) -> None:
    problem = ResidualCapacity([8], [90], 3).problem(no_columns(), n_remain, Scaling(5.0, 0.5))
    assert problem.slot_factor == 1 / divisor
    assert problem.kv_factor == 0.5 / divisor


def test_passed_periods_keep_their_unused_capacity() -> None:
    """Absolute positions; catches residuals written from position 0 on."""
    residuals = ResidualCapacity([9, 9], [90, 80], 4)
    slots, kept = residuals.slots, residuals.kv_tokens
    residuals.observe(1, [[5, 6, 7, 8]] * 2, [[50, 60, 70, 80]] * 2)
    residuals.observe(3, [[1, -2], [3, 4]], [[10, 20], [30, 40]])
    assert residuals.slots.tolist() == [[5, 6, 1, 0], [5, 6, 3, 4]]
    assert residuals.kv_tokens.tolist() == [[50, 60, 10, 20], [50, 60, 30, 40]]
    assert (residuals.width, residuals.clipped) == (4, 1)
    assert residuals.slots is slots  # catches new arrays in every period
    assert residuals.kv_tokens is kept


def test_relative_positions_are_as_many_as_periods_remain() -> None:
    residuals = ResidualCapacity([9], [90], 4, "relative")
    residuals.observe(3, [[1, 2]], [[10, 20]])
    assert residuals.width == 2
    assert residuals.slots[0].tolist() == [1, 2, 0, 0]  # beyond the width prices do not fall
    residuals.observe(4, [[3, 4, 5]], [[30, 40, 50]])  # a receding horizon may be longer again
    assert residuals.width == 3
    assert residuals.kv_tokens[0].tolist() == [30, 40, 50, 0]
    for wrong in ([[1, 2, 3, 4, 5]], [[]], [1]):
        with pytest.raises(InputError, match="slots must have shape"):
            residuals.observe(5, wrong, wrong)


@pytest.mark.parametrize("period", [0, 5])
def test_bad_residuals_are_refused(period: int) -> None:
    with pytest.raises(InputError, match="period"):
        ResidualCapacity([9], [90], 4).observe(period, [[1]], [[1]])
    with pytest.raises(InputError, match=r"slots must have shape \(1, 2\)"):
        ResidualCapacity([9], [90], 4).observe(3, [[1]], [[1, 2]])
    with pytest.raises(InputError, match="n_remain"):
        ResidualCapacity([9], [90], 4).problem(no_columns(), -1, Scaling())
    with pytest.raises(InputError, match="one capacity for each worker"):
        ResidualCapacity([9], [90, 90], 4)
