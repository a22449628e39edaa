"""Kernels are compiled before any test, so that no time limit pays for it."""

from __future__ import annotations

import pytest

from olprouting.hindsight import hindsight
from olprouting.instances import WEIGHT_SETS, Cluster, Trace


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    trace = Trace([5, 5], [3, 3], release_iteration=[1, 1])
    cluster = Cluster([1], kv_tokens=[10])
    hindsight(trace, cluster, WEIGHT_SETS["tail-only"], periods=9, time_limit_s=0)
