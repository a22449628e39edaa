"""How long one period takes: 60 waiting requests, 4 workers of 29 slots, 400 and 800 periods.

Compare the groups with ``pytest tests/benchmarks/test_period_benchmark.py --benchmark-enable``.
Seen with HiGHS 1.16: the reduced rows (580 of 3,200) make the LP 3 times and the integer program 7
times as fast, and leave the time to build the LP nearly independent of the number of periods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cvxpy as cp
import numpy as np
import pytest

from olprouting.exact import solve
from olprouting.exact.period import period_columns
from olprouting.instances import WEIGHT_SETS, PeriodProblem
from olprouting.models import period_lp

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

WAITING, DEVICES, SLOTS, KV_TOKENS = 60, 4, 29, 118_784


def make_period(periods: int) -> PeriodProblem:
    """Residents end over time; requests of up to 500 tokens wait."""
    rng = np.random.default_rng(0)
    slots = SLOTS - np.sort(rng.integers(0, SLOTS, (DEVICES, periods)))[:, ::-1]
    return PeriodProblem(
        period=1,
        periods=periods,
        weights=WEIGHT_SETS["tail-latency"],
        t1=400,
        t2=49,
        slots=slots,
        kv_tokens=KV_TOKENS * slots // SLOTS,
        prompt_tokens=rng.integers(50, 4000, WAITING),
        decode_tokens=rng.integers(1, 500, WAITING),
        arrival_period=1 - rng.integers(0, 80, WAITING),
    )


@pytest.mark.benchmark(group="period: build the LP")
@pytest.mark.parametrize("periods", [50, 100, 400, 800])
@pytest.mark.parametrize("reduce_rows", [True, False], ids=["reduced", "full"])
def test_build(benchmark: BenchmarkFixture, periods: int, reduce_rows: bool) -> None:
    problem = make_period(periods)

    def build() -> int:
        columns = period_columns(problem, reduce_rows=reduce_rows)
        period_lp.build(*columns.arrays).problem.get_problem_data(cp.HIGHS)
        return len(columns.capacity)

    rows = benchmark(build)
    assert (rows == 2 * DEVICES * periods) != reduce_rows


@pytest.mark.benchmark(group="period: solve and recheck")
@pytest.mark.parametrize("reduce_rows", [True, False], ids=["reduced", "full"])
@pytest.mark.parametrize("form", ["lp", "dual", "reduced-dual", "integer"])
def test_solve(benchmark: BenchmarkFixture, form: str, reduce_rows: bool) -> None:
    problem = make_period(400)
    result = benchmark(solve, problem, formulation=form, reduce_rows=reduce_rows)
    assert result.bound == pytest.approx(26.683889, rel=1e-5)
