"""simulate -> export -> replay gives identical times, whatever released the requests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from olprouting.engine import replay_policy, simulate
from olprouting.errors import InputError
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import PolicyOptions, make_policy
from olprouting.traces import read_trace, write_trace

CLUSTER = Cluster([3, 1, 2], step_time=StepTime(0.0173, 3.1e-5, 0.0011))
TIMES = ("worker", "admission_iteration", "release_s", "first_token_s", "finish_s")


def trace_released_by(clock: str) -> Trace:
    rng = np.random.default_rng(4)
    prompt, decode = rng.integers(1, 2000, 80), rng.geometric(0.1, 80)
    if clock == "time":  # bursts with ties, and gaps in which all is idle
        gaps_s = rng.choice([0.0, 0.01, 0.1, 1 / 3, 60.0], 80)
        return Trace(prompt, decode, arrival_s=np.cumsum(gaps_s))
    if clock == "iteration":
        return Trace(prompt, decode, release_iteration=1 + np.cumsum(rng.choice([0, 1, 200], 80)))
    return Trace(prompt, decode, key=rng.integers(0, 5, 80))


@pytest.fixture(params=["time", "iteration", "backlog"])
def original(request):
    return simulate(
        trace_released_by(request.param),
        CLUSTER,
        make_policy("brh", 3, PolicyOptions(horizon=4)),
        backlog=7 if request.param == "backlog" else None,
        seed=3,
    )


def same_run(again, original) -> None:
    for name in TIMES:
        np.testing.assert_array_equal(getattr(again, name), getattr(original, name), err_msg=name)
    numbers = again.metrics
    assert numbers.finished == 80
    assert numbers.energy_j == original.metrics.energy_j
    assert numbers.tpot == original.metrics.tpot


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_an_exported_run_is_replayed_to_the_last_bit(original, tmp_path, suffix) -> None:
    """Catches lost digits, another release clock, another order; once 29 of 200 came back."""
    path = tmp_path / f"run{suffix}"
    frame = original.to_frame()
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
        table = pd.read_parquet(path)
    else:
        frame.to_csv(path, index=False)
        table = pd.read_csv(path)
    trace = read_trace(path)
    assert len(trace) == 80
    same_run(simulate(trace, CLUSTER, replay_policy(table)), original)


def test_a_trace_written_and_read_runs_the_same(original, tmp_path) -> None:
    """Catches columns or digits that write_trace and read_trace lose between them."""
    write_trace(original.trace, tmp_path / "trace.csv")
    again = simulate(
        read_trace(tmp_path / "trace.csv"),
        CLUSTER,
        make_policy("brh", 3, PolicyOptions(horizon=4)),
        backlog=None
        if original.trace.arrival_s is not None or original.trace.release_iteration is not None
        else 7,
        seed=3,
    )
    same_run(again, original)


def test_a_replay_of_a_replay_is_a_fixed_point(original) -> None:
    """Catches an export that releases by another clock than the run it came from."""
    once = simulate(
        original.trace.replace(
            release_iteration=None if original.released_by_time else original.release_iteration
        ),
        CLUSTER,
        replay_policy(original.to_frame()),
    )
    pd.testing.assert_frame_equal(once.to_frame(), original.to_frame(), check_like=True)


def test_a_run_that_is_no_export_or_did_not_finish_is_refused() -> None:
    """Catches a replay that would silently leave requests out."""
    trace = Trace([1, 1, 1], [5, 5, 5])
    stopped = simulate(
        trace, Cluster([1]), make_policy("jsq", 1), backlog=3, max_iterations=6
    ).to_frame()
    with pytest.raises(InputError, match="row 2: the request was never admitted"):
        replay_policy(stopped)
    with pytest.raises(InputError, match="column admission_iteration, worker is missing"):
        replay_policy(trace.to_frame())


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("worker", 0.5, r"worker\[1\] = 0.5 must be a whole number"),
        ("worker", np.nan, r"worker\[1\] = nan must be a finite number"),
        ("worker", "x", "worker must hold numbers, got 'x'"),
        ("worker", 2**70, r"worker\[1\] = 1180591620717411303424 must be"),
        ("worker", -2, r"worker\[1\] = -2 must be >= -1"),
        ("admission_iteration", 1e300, r"admission_iteration\[1\] = 1e\+300 must be"),
        ("rejection_iteration", True, "rejection_iteration must hold numbers, got True"),
        ("preemptions", "2", "preemptions must hold numbers, got '2'"),
    ],
)
def test_a_spoilt_table_is_refused_with_its_row(column, value, message) -> None:
    """Catches worker 0.5 that is taken for worker 0, and errors of pandas' own."""
    trace = Trace([1, 1, 1], [5, 5, 5])
    table = simulate(trace, Cluster([3]), make_policy("jsq", 1), backlog=3).to_frame()
    table = table.astype({column: object} if column in table else {})
    table[column] = table.get(column, [0, value, 0])
    table.loc[1, column] = value
    with pytest.raises(InputError, match=message):
        replay_policy(table)


def test_a_table_of_fewer_requests_than_the_trace_is_refused() -> None:
    """Catches an index beyond the table, which is a traceback in mid-run."""
    trace = Trace([1, 1, 1], [5, 5, 5])
    table = simulate(trace, Cluster([1]), make_policy("jsq", 1), backlog=3).to_frame()
    with pytest.raises(InputError, match="the exported run has 2 requests, this trace has more"):
        simulate(trace, Cluster([1]), replay_policy(table[:2]), backlog=3)
