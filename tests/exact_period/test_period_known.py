"""Problems whose value and prices are known by hand, by every solver, sense and row direction."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from period_cases import e3

from olprouting.exact import solve
from olprouting.exact.period.cvxpy_solver import cvxpy_prices
from olprouting.exact.period.program import pyomo_prices
from olprouting.instances import NoPricesError, PeriodProblem, SloWeights
from olprouting.models import period_lp

TRIED = ("HIGHS", "CLARABEL", "SCIPY")
BACKENDS = [
    ("highs", "lp"),
    ("highs", "dual"),
    ("highs", "reduced-dual"),
    ("clarabel", "lp"),
    ("cvxpy:SCIPY", "lp"),
    ("cvxpy:SCIPY", "dual"),
    ("pyomo:highs", "lp"),
    ("pyomo:appsi_highs", "lp"),
    *((f"cvxpy:{name}", "lp") for name in cp.installed_solvers() if name not in TRIED),
    ("pdlp", "dual"),
]


@pytest.mark.parametrize(("solver", "form"), BACKENDS)
def test_e3_has_value_44_and_prices_2_and_a_half(solver: str, form: str) -> None:
    # left to themselves solvers give +2 or -2 for the slot, by sense and row direction
    result = solve(e3(), solver=solver, formulation=form)
    assert result.bound == pytest.approx(44)
    if form != "reduced-dual":
        assert result.value == pytest.approx(44)
        assert result.prices.unique is True
    assert result.prices.batch == pytest.approx(np.array([[2]]), abs=1e-6)
    assert result.prices.memory == pytest.approx(np.array([[0.5]]), abs=1e-6)
    assert result.prices.option_values == pytest.approx(np.zeros(40), abs=1e-6)
    assert result.prices.source == form


@pytest.mark.parametrize(("solver", "form"), BACKENDS)
def test_one_more_slot_is_worth_its_price(solver: str, form: str) -> None:
    assert solve(e3(slots=11), solver=solver, formulation=form).bound == pytest.approx(46)


@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("solver", ["highs", "appsi_highs"])
def test_pyomo_prices_in_every_sense_and_direction(
    solver: str, maximise: bool, at_most: bool
) -> None:
    model: Any = pyo.ConcreteModel()
    model.x, model.y = (pyo.Var(domain=pyo.NonNegativeReals) for _ in range(2))
    slots, tokens = model.x + model.y, 6 * model.x + 4 * model.y
    model.slots = pyo.Constraint(expr=slots <= 10 if at_most else -slots >= -10)
    model.tokens = pyo.Constraint(expr=tokens <= 48 if at_most else -tokens >= -48)
    reward = 5 * model.x + 4 * model.y
    sense = pyo.maximize if maximise else pyo.minimize
    model.reward = pyo.Objective(expr=reward if maximise else -reward, sense=sense)
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.SolverFactory(solver).solve(model)
    assert pyomo_prices(model, [model.slots, model.tokens]) == pytest.approx([2, 0.5])


@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("solver", [cp.HIGHS, cp.CLARABEL, cp.SCIPY])
def test_cvxpy_prices_in_every_sense_and_direction(
    solver: str, maximise: bool, at_most: bool
) -> None:
    usage, capacity, reward = np.array([[1, 1], [6, 4]]), np.array([10, 48]), np.array([5, 4])
    x: Any = cp.Variable(2, nonneg=True)
    rows = usage @ x <= capacity if at_most else -usage @ x >= -capacity
    goal = cp.Maximize(reward @ x) if maximise else cp.Minimize(-reward @ x)
    cp.Problem(goal, [rows]).solve(solver=solver)
    assert cvxpy_prices(rows) == pytest.approx([2, 0.5], abs=1e-6)


def test_a_capacity_that_presolve_removes_keeps_its_price() -> None:
    # max 3x, x <= 4: presolve empties the model, and some interfaces then return no duals
    one = np.array([3.0]), sp.csr_array([[1.0]]), np.array([4.0]), np.array([0]), np.array([9.0])
    lp = period_lp.build(*one)
    lp.problem.solve(solver=cp.HIGHS)
    assert cvxpy_prices(lp.within_capacity) == pytest.approx([3])


@pytest.mark.parametrize("solver", ["highs", "pyomo:highs"])
def test_slots_alone_that_presolve_settles_cost_the_reward(solver: str) -> None:
    problem = e3(slots=4, kv_tokens=1000).replace(weights=SloWeights(0, 0, 0, 3, 0, 0))
    result = solve(problem, solver=solver)
    assert (result.value, result.prices.batch[0, 0]) == pytest.approx((12, 3))
    assert result.prices.memory[0, 0] == 0


def two_equal_rows() -> PeriodProblem:
    """Five slots in each of two periods for requests that last both: two identical rows."""
    return PeriodProblem(
        period=1,
        periods=2,
        weights=SloWeights(0, 0, 0, 4, 0, 0),
        t1=1,
        t2=1,
        slots=[[5, 5]],
        kv_tokens=[[1000, 1000]],
        prompt_tokens=[1] * 8,
        decode_tokens=[2] * 8,
        arrival_period=[1] * 8,
    )


@pytest.mark.parametrize("reduce_rows", [True, False])
@pytest.mark.parametrize("solver", ["highs", "clarabel", "pyomo:highs"])
def test_identical_rows_share_the_price_in_any_way_and_are_flagged(
    solver: str, reduce_rows: bool
) -> None:
    # a user once spent a day proving that two solvers' prices were both right
    result = solve(two_equal_rows(), solver=solver, reduce_rows=reduce_rows)
    assert result.value == pytest.approx(20)
    assert result.prices.batch.sum() == pytest.approx(4)
    assert result.prices.unique is False
    assert "prices may not be unique" in result.summary()


def test_a_full_worker_has_prices_that_are_not_unique() -> None:
    # any price above the reward keeps everybody out
    result = solve(e3(slots=0))
    assert (result.value, result.prices.unique) == (0, False)


def test_untested_prices_are_not_called_unique() -> None:
    result = solve(e3(), test_uniqueness=False)
    assert result.prices.unique is None
    assert "prices may not be unique" in result.summary()


def test_an_integer_program_has_no_prices_and_says_what_to_ask_for() -> None:
    # Pyomo raises its own error here and CVXPY returns None; zeros would be wrong
    result = solve(e3(), formulation="integer")
    assert (result.value, result.has_prices) == (44, False)
    with pytest.raises(NoPricesError, match=r"LP relaxation.*fixed integers"):
        _ = result.prices


@pytest.mark.parametrize("solver", ["highs", "pyomo:highs", "pyomo:appsi_highs"])
def test_integer_prices_say_where_they_come_from(solver: str) -> None:
    problem = e3(kv_tokens=49)  # the LP gains half a token's worth, the integer program nothing
    relaxed = solve(problem, formulation="integer", solver=solver, prices="lp-relaxation")
    assert relaxed.value == pytest.approx(44)
    assert relaxed.prices.source == "lp-relaxation"
    assert (relaxed.prices.batch[0, 0], relaxed.prices.memory[0, 0]) == pytest.approx((2, 0.5))
    fixed = solve(problem, formulation="integer", solver=solver, prices="fixed-integers")
    assert fixed.prices.source == "fixed-integers"
    # ten admitted, no slot left: one more slot would take what one token buys of the best waiting
    assert fixed.prices.batch[0, 0] + fixed.prices.memory[0, 0] > 0
    assert fixed.value == pytest.approx(44)


@pytest.mark.parametrize("solver", ["highs", "pyomo:highs"])
def test_requests_larger_than_every_worker_are_reported(solver: str) -> None:
    problem = e3().replace(prompt_tokens=[5] * 39 + [100])
    whole = solve(problem, formulation="integer", solver=solver)
    assert whole.oversize == (39,)
    assert whole.x is not None
    assert whole.x[39].sum() == 0
    dropped = solve(problem.replace(kv_tokens=[[5]]), drop_oversize=True)
    assert dropped.oversize == tuple(range(40))
    assert (dropped.value, dropped.prices.memory[0, 0]) == (0, 0)
    assert dropped.x is not None
    assert dropped.x.shape == (40, 1)
    # the published LP starts a fraction of a request that does not fit
    published = solve(problem.replace(kv_tokens=[[5]]))
    assert published.value == pytest.approx(25 / 6)


def test_a_fractional_reward_leaves_the_integer_gap_open_but_proven() -> None:
    # the bound allows for the solver's tolerance, so that it must not read optimal
    problem = e3().replace(weights=SloWeights(0, 0, 0, 0.4, 0, 0.1))
    result = solve(problem, formulation="integer")
    assert result.value == pytest.approx(4.4)
    assert (result.status, result.proven) == ("optimal_within_gap", True)


def test_a_reward_that_cannot_be_earned_spoils_no_integer_program() -> None:
    """A request too large for the worker, worth 1e12, set the scale; 3 was lost in rounding."""
    problem = PeriodProblem(
        period=1,
        periods=3,
        weights=SloWeights(1, 0, 0, 0, 1e12, 0),
        t1=2,
        t2=1,
        slots=[[1, 1, 1]],
        kv_tokens=[[50, 50, 50]],
        prompt_tokens=[100, 10, 10],
        decode_tokens=[1, 3, 2],
        arrival_period=[1, 1, 1],
    )
    result = solve(problem, formulation="integer")
    assert (result.value, result.bound, result.oversize) == (3, 3, (0,))
