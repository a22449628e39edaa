"""With NUMBA_DISABLE_JIT=1, as under a debugger, kernels give the numbers of compiled code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from olprouting.engine import KvOptions, simulate
from olprouting.exact import SolveOptions, solve
from olprouting.forecasts import KaplanMeier, NoisyOracle
from olprouting.gaps import measure_gaps
from olprouting.hindsight import hindsight, hindsight_imbalance, schedule_fault
from olprouting.instances import WEIGHT_SETS, Cluster, Decision, StepTime, Trace
from olprouting.policies import PeriodOptions, PolicyOptions, make_policy
from olprouting.price_report import measure_prices
from olprouting.traces import poisson_by_period

PERIOD = PeriodOptions(periods=40, t1=30, t2=6)
OPTIONS = PolicyOptions(horizon=4, r_max=3, period=PERIOD, ties="index")
POLICIES = ("random", "round-robin", "power-of-two", "jsq", "least-load", "br0", "brh", "exact")
PERIOD_POLICIES = (
    *("bid-price", "bid-price-exact", "lp-rounding", "period-integer"),
    "reward-density",
)
STEPS = StepTime(1.0, 0.01)
ROOMY = Cluster([3, 3], step_time=STEPS)
NARROW = Cluster([3, 3], kv_tokens=[90, 90], step_time=STEPS)


def requests(count: int) -> Trace:
    rng = np.random.default_rng(2)
    return poisson_by_period(
        Trace(rng.integers(5, 40, count), rng.integers(2, 12, count)), 2.0, rng
    )


def flat(table: pd.DataFrame) -> list[float]:
    """The numbers of a table, but for times that were measured."""
    measured = [name for name in table if name in ("exact_s", "lp_s", "integer_s")]
    return table.drop(columns=measured).to_numpy(float).ravel().tolist()


def run(policy: str, cluster: Cluster = ROOMY, **arguments: Any) -> list[float]:
    """What a run leaves behind."""
    result = simulate(requests(18), cluster, make_policy(policy, 2, OPTIONS), seed=3, **arguments)
    metrics = pd.DataFrame([result.metrics.to_row()]).select_dtypes("number")
    return flat(result.to_frame()) + flat(metrics)


def decision(seed: int) -> Decision:
    rng = np.random.default_rng(seed)
    loads = rng.integers(0, 60, (3, 4)).cumsum(axis=1)[:, ::-1]
    return Decision(loads, rng.integers(1, 4, 3), rng.integers(1, 40, 7), gamma=0.9)


def proven(seed: int) -> float:
    result = solve(decision(seed), solver="native", options=SolveOptions(time_limit_s=60))
    assert result.status == "optimal"
    return float(result.value)


def best_schedule() -> list[float]:
    """Value and bound of a problem whose optimum is found and proven."""
    result = hindsight(
        requests(8), NARROW, WEIGHT_SETS["tail-latency"], periods=20, t1=30, t2=6, time_limit_s=30
    )
    assert schedule_fault(result.problem, result.schedule) is None
    return [result.value, result.bound]


def numbers() -> dict[str, Any]:
    """Results of every question and policy that rests on kernels, small."""
    gaps = measure_gaps(
        requests(18), ROOMY, ("jsq", "brh"), options=OPTIONS, decisions=3, backlog=None
    )
    prices = measure_prices(requests(18), NARROW, ("jsq",), options=OPTIONS, sample=4)
    return {
        **{policy: run(policy) for policy in POLICIES},
        **{policy: run(policy, NARROW) for policy in PERIOD_POLICIES},
        "independent": run("jsq", clock="independent"),
        "noisy": run("brh", forecast=NoisyOracle(), refresh="horizon"),
        "expected": run("brh", forecast=KaplanMeier(), projection="expected"),
        "preempted": run("jsq", NARROW, kv=KvOptions(mode="tokens")),
        "solve": [proven(seed) for seed in range(3)],
        "gaps": flat(gaps.records_frame()[["value_tokens", "bound_tokens", "best_tokens"]]),
        "prices": flat(prices.records_frame().select_dtypes("number")),
        "hindsight": best_schedule(),
        "imbalance": [hindsight_imbalance(requests(5), Cluster([2, 2])).total_tokens],
    }


def test_interpreted_kernels_give_the_numbers_of_compiled_ones() -> None:
    """Catches an AttributeError at import, as all was with the variable set, and results that rest
    on what only compiled code does: wrapping integers, dividing by zero, fields of records.
    """
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        "from test_interpreted import numbers; print(json.dumps(numbers()))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    interpreted, compiled = json.loads(done.stdout), numbers()
    assert interpreted.keys() == compiled.keys()
    for name, values in compiled.items():
        np.testing.assert_allclose(interpreted[name], values, rtol=1e-9, err_msg=name)
