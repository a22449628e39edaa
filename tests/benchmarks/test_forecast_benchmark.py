"""What a forecast costs a run: all active requests at G=16, B=256, beside a routing call of BR-H.

``--benchmark-enable`` compares runs of BR-H under forecasts that change with age with the run under
the oracle, whose projection is kept up to date by events: the difference is what forecasting costs.
After some 70 of the 300 iterations the cluster is full. `test_route_at_this_size` is the routing
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.forecasts import make_forecast
from olprouting.instances import Cluster
from olprouting.policies import View, make_policy
from olprouting.traces import from_profile

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

WORKERS, SLOTS, BACKLOG = 16, 256, 64
ITERATIONS = 300
CASES = [
    ("oracle", "cutoff"),
    ("survival", "cutoff"),
    ("km", "cutoff"),
    ("exact-match", "cutoff"),
    ("learned", "cutoff"),
    ("survival", "expected"),
]


@pytest.mark.parametrize(("name", "projection"), CASES)
@pytest.mark.benchmark(group="300 iterations of BR-H, 4,096 slots")
def test_iterations(benchmark: BenchmarkFixture, name: str, projection: str) -> None:
    history = from_profile("azure-2023-conv-like", 2_000, np.random.default_rng(2))
    forecast = make_forecast(name, history)
    cluster = Cluster.homogeneous(WORKERS, SLOTS)
    policy = make_policy("brh", WORKERS)
    trace = from_profile("azure-2023-conv-like", 10_000, np.random.default_rng(1))
    options = {
        "backlog": BACKLOG,
        "forecast": forecast,
        "projection": projection,
        "max_iterations": ITERATIONS,
    }
    simulate(trace.head(100), cluster, policy, **options)  # compiled before the clock starts
    result = benchmark(simulate, trace, cluster, policy, **options)
    assert result.metrics.iterations == ITERATIONS


@pytest.mark.benchmark(group="a routing call of BR-H with 4,096 active requests")
def test_route_at_this_size(benchmark: BenchmarkFixture) -> None:
    """Sixteen free slots, the number a full cluster frees in an iteration of this trace."""
    policy = make_policy("brh", WORKERS)
    rng = np.random.default_rng(2)
    loads = rng.integers(250_000, 350_000, (WORKERS, policy.horizon + 1)).astype(np.float64)
    slots = np.bincount(rng.integers(WORKERS, size=16), minlength=WORKERS)
    sizes = rng.integers(1, 5_000, BACKLOG)
    view = View(loads, SLOTS - slots, slots, sizes, np.arange(BACKLOG), 16, 1)
    position, _ = benchmark(policy.route_arrays, view, rng)
    assert len(set(position.tolist())) == 16
