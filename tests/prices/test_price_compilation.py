"""Kernels of prices are compiled, or loaded, before any time that is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba.core import event

from olprouting.instances import Cluster, Trace
from olprouting.policies import BidPriceOptions, PeriodOptions, PolicyOptions
from olprouting.price_report import measure_prices
from olprouting.prices import compile_run
from olprouting.prices.descent import compile_learning
from olprouting.traces import poisson_by_period


@pytest.mark.parametrize("record", ["period", "request"])
@pytest.mark.parametrize("positions", ["absolute", "relative"])
def test_nothing_of_prices_is_compiled_within_a_run(record: str, positions: str) -> None:
    # catches a kernel, or a type it is called with, whose compilation would count as route_p99_s,
    # update_p99_s or exact_s of the first period
    compile_run()
    compile_learning()
    rng = np.random.default_rng(0)
    trace = Trace(rng.integers(1, 40, 12), rng.integers(1, 9, 12))
    options = PolicyOptions(
        period=PeriodOptions(periods=30, t1=30, t2=6),
        bid_price=BidPriceOptions(record=record, positions=positions, batch=4),
    )
    cluster = Cluster([2, 2], kv_tokens=[90, 90])
    with event.install_recorder("numba:compile") as recorder:
        measure_prices(poisson_by_period(trace, 1.0, rng), cluster, options=options, sample=3)
    kernels = [entry.data["dispatcher"].py_func for _, entry in recorder.buffer]
    late = {
        one.__name__ for one in kernels if Path(one.__code__.co_filename).parent.name == "prices"
    }
    assert not late
