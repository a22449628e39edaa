"""Between which ends optimal prices lie: by hand, and by another program for the polyhedron."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from period_cases import e3, random_period
from scipy.optimize import linprog
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.exact import solve
from olprouting.exact.period import margins_of
from olprouting.exact.period.price_sheet import has_ranges, price_ranges, price_sheet
from olprouting.exact.period.uniqueness import OptimalPrices
from olprouting.instances import PeriodProblem, SloWeights


def two_periods(slots: int = 1) -> PeriodProblem:
    """Two requests of two periods, worth 4 and 5, and a slot: both periods may bear its price."""
    return PeriodProblem(
        period=1,
        periods=2,
        weights=SloWeights(0, 0, 0, 4, 0, 1),
        t1=5,
        t2=5,
        slots=[[slots, slots]],
        kv_tokens=[[100, 100]],
        prompt_tokens=[5, 5],
        decode_tokens=[2, 2],
        arrival_period=[-10, 1],
    )


def test_a_slot_s_price_may_stand_in_either_period_and_its_sum_between_the_rewards() -> None:
    """The request worth 5 is admitted: p1 + p2 lies in [4, 5], so each price in [0, 5].

    What a stay costs is known to a range of 1, though single prices are known to one of 5.
    """
    problem = two_periods()
    result = solve(problem)
    prices = price_ranges(problem, result)
    assert prices["batch_low"].tolist() == pytest.approx([0, 0])
    assert prices["batch_high"].tolist() == pytest.approx([5, 5])
    assert (prices[["memory_low", "memory_high"]] == 0).all(axis=None)
    sheet = price_sheet(problem, result)
    assert sheet["least"].tolist() == pytest.approx([4, 4])
    assert sheet["most"].tolist() == pytest.approx([5, 5])


def test_unique_prices_have_equal_ends_and_what_is_not_there_has_no_upper_end() -> None:
    """E3's prices are 2 and 1/2. With no slot left any price of one that keeps all out will do."""
    (row,) = price_ranges(e3(), solve(e3())).itertuples()
    assert (row.batch_low, row.batch_high) == pytest.approx((2, 2))
    assert (row.memory_low, row.memory_high) == pytest.approx((0.5, 0.5))
    (row,) = price_ranges(e3(slots=0), solve(e3(slots=0))).itertuples()
    assert (row.batch_low, row.batch_high) == (pytest.approx(5), np.inf)
    assert (row.memory_low, row.memory_high) == (0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_the_ends_are_those_of_the_dual_at_its_optimal_value(seed: int) -> None:
    """The same polyhedron as {dual feasible, objective at its minimum}, not by complementarity.

    Its rows are what the checker says that unit prices cost.
    """
    problem = random_period(seed, waiting=5, periods=8)
    result = solve(problem)
    shape = (2, problem.workers, problem.remaining)
    size, waiting = int(np.prod(shape)), problem.waiting
    units = np.eye(size).reshape(size, *shape)
    costs = np.array([problem.rewards[:, None] - margins_of(problem, *unit) for unit in units])
    capacity = np.stack([problem.slots, problem.kv_tokens]).ravel()
    at_least = -np.hstack(
        [costs.reshape(size, -1).T, np.repeat(np.eye(waiting), problem.workers, axis=0)]
    )
    rewards = -np.repeat(problem.rewards, problem.workers)
    total = np.concatenate([capacity, np.ones(waiting)])
    rows = np.vstack([at_least, total])
    limits = np.append(rewards, result.value + 1e-9)
    ours = price_ranges(problem, result)
    found = np.array([ours[f"{name}_low"] for name in ("batch", "memory")]).ravel()
    highs = np.array([ours[f"{name}_high"] for name in ("batch", "memory")]).ravel()
    for place in range(0, size, 3):
        direction = np.zeros(size + waiting)
        direction[place] = 1
        least = linprog(direction, A_ub=rows, b_ub=limits)
        most = linprog(-direction, A_ub=rows, b_ub=limits)
        assert found[place] == pytest.approx(least.fun, abs=1e-5)
        assert highs[place] == (np.inf if most.status == 3 else pytest.approx(-most.fun, abs=1e-5))


@pytest.mark.parametrize("seed", range(4))
def test_the_prices_that_were_found_lie_between_the_ends(seed: int) -> None:
    """Catches ends of another polyhedron, and units that are mixed up."""
    problem = random_period(seed)
    result = solve(problem)
    optimal = OptimalPrices(problem, result.x)
    for ends, found in zip(
        optimal.prices(), (result.prices.batch, result.prices.memory), strict=True
    ):
        assert (ends.low <= found + 1e-6).all()
        assert (found <= ends.high + 1e-6).all()
    sheet = price_sheet(problem, result)
    assert (sheet["least"] <= sheet["price_times_use"] + 1e-6).all()
    assert (sheet["price_times_use"] <= sheet["most"] + 1e-6).all()
    assert (result.prices.unique is True) == all(
        (ends.high - ends.low <= 1e-5).all() for ends in optimal.prices()
    )


def test_solve_prints_ranges_and_never_one_of_many_as_the_price(tmp_path) -> None:
    """Regression: one optimal price of several was printed as the price."""
    path = tmp_path / "period.json"
    path.write_text(json.dumps(two_periods().to_document()), encoding="utf-8")
    said = CliRunner().invoke(app, ["solve", str(path)]).stdout
    assert "requests at all optimal prices" in said
    assert re.search(r"0 +1 to 2 +0 to 5 +0", said)  # a price in each of two periods
    assert "4 to 5" in said
    assert "least to greatest over all optimal ones" in said
    path.write_text(json.dumps(e3(copies=9).to_document()), encoding="utf-8")
    said = CliRunner().invoke(app, ["solve", str(path)]).stdout
    assert "requests at these prices" in said
    assert "least to greatest" not in said
    assert re.search(r"\n +0 +1 +2 +0\.5\n", said)
    path.write_text(json.dumps(two_periods().to_document()), encoding="utf-8")
    said = CliRunner().invoke(app, ["solve", str(path), "--form", "dual"]).stdout
    assert "others may be optimal too; --form lp shows between which ends" in said


def test_without_starts_of_an_lp_there_are_no_ranges() -> None:
    problem = two_periods()
    assert has_ranges(problem, solve(problem))
    assert not has_ranges(problem, solve(problem, formulation="integer", prices="lp-relaxation"))
    sheet = price_sheet(problem, solve(problem, formulation="reduced-dual"))
    assert sheet["least"].isna().all()
