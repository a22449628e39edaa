"""How fast runs and routing decisions are, on traces drawn from Azure's lengths.

Compare with ``pytest tests/benchmarks/test_engine_benchmark.py --benchmark-enable``. Without that
option the large run is cut to a hundredth, enough to see that it works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from olprouting.engine import KvOptions, simulate
from olprouting.instances import Cluster
from olprouting.policies import View, make_policy
from olprouting.traces import from_profile

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

PROFILE = "azure-2023-conv-like"
WORKERS, SLOTS, BACKLOG = 8, 72, 32
POLICIES = ["jsq", "br0", "brh"]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.benchmark(group="run of 8,000 requests")
def test_run(benchmark: BenchmarkFixture, name: str) -> None:
    trace = from_profile(PROFILE, 8_000, np.random.default_rng(1))
    cluster = Cluster.homogeneous(WORKERS, SLOTS)
    policy = make_policy(name, WORKERS)
    simulate(trace.head(100), cluster, policy, backlog=BACKLOG)  # compiled before the clock starts
    result = benchmark(simulate, trace, cluster, policy, backlog=BACKLOG)
    assert result.metrics.finished == 8_000


@pytest.mark.parametrize("clock", ["barrier", "independent"])
@pytest.mark.parametrize("mode", ["tokens", "blocks"])
@pytest.mark.benchmark(group="run of 8,000 requests under KV limits")
def test_kv_run(benchmark: BenchmarkFixture, mode: str, clock: str) -> None:
    """Tight limits: before a quarter of the steps some worker preempts."""
    trace = from_profile(PROFILE, 8_000, np.random.default_rng(1))
    cluster = Cluster.homogeneous(WORKERS, SLOTS, kv_tokens=np.full(WORKERS, 60_000))
    policy = make_policy("jsq", WORKERS)
    options = {"backlog": BACKLOG, "kv": KvOptions(mode, oversize="reject"), "clock": clock}
    simulate(trace.head(100), cluster, policy, **options)
    result = benchmark(simulate, trace, cluster, policy, **options)
    assert result.metrics.unfinished == 0


@pytest.mark.parametrize("free", [3, 100])
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.benchmark(group="one routing decision")
def test_route(benchmark: BenchmarkFixture, name: str, free: int) -> None:
    """Three free slots are decided by subsets, a hundred by single admissions."""
    policy = make_policy(name, WORKERS)
    rng = np.random.default_rng(2)
    loads = rng.integers(60_000, 90_000, (WORKERS, policy.horizon + 1)).astype(np.float64)
    slots = np.bincount(rng.integers(WORKERS, size=free), minlength=WORKERS)
    sizes = rng.integers(1, 5_000, 128)
    view = View(loads, SLOTS - slots, slots, sizes, np.arange(128), free, 1)
    position, worker = benchmark(policy.route_arrays, view, rng)
    assert len(set(position.tolist())) == len(worker) == free


@pytest.mark.parametrize("name", ["jsq", "br0"])
@pytest.mark.benchmark(group="run of 1,000,000 requests")
def test_large_run(benchmark: BenchmarkFixture, name: str) -> None:
    requests = 1_000_000 if benchmark.enabled else 10_000
    trace = from_profile(PROFILE, requests, np.random.default_rng(3))
    cluster = Cluster.homogeneous(16, SLOTS)
    policy = make_policy(name, 16)
    simulate(trace.head(100), cluster, policy, backlog=BACKLOG)
    result = benchmark.pedantic(
        simulate, (trace, cluster, policy), {"backlog": BACKLOG}, rounds=1, iterations=1
    )
    assert result.metrics.finished == requests
