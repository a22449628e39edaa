"""Workloads put together from blocks of a trace."""

from __future__ import annotations

import numpy as np

from olprouting.instances import Trace
from olprouting.options import WorkloadOptions
from olprouting.traces import load_workload, resampled
from olprouting.traces.workload import drawn_by_seed


def test_blocks_keep_order_and_the_time_between_requests() -> None:
    """12 requests in 3 blocks of 4, a second more between each two.

    Catches requests drawn one by one, which loses bursts, and times that go back.
    """
    trace = Trace(
        prompt_tokens=range(1, 13),
        decode_tokens=range(101, 113),
        arrival_s=np.cumsum(np.arange(12.0)) + 5,
        key=range(12),
    )
    drawn = resampled(trace, np.random.default_rng(0), blocks=3)
    assert len(drawn) == 12
    row = drawn.prompt_tokens - 1
    assert (drawn.decode_tokens == row + 101).all()  # rows stay whole
    assert (drawn.key == row).all()
    assert (np.diff(row.reshape(3, 4), axis=1) % 12 == 1).all()
    assert np.allclose(np.diff(drawn.arrival_s), row[1:])  # request i came i seconds after i - 1
    assert drawn.arrival_s[0] >= 5


def test_a_seed_gives_one_workload_and_another_seed_another() -> None:
    trace = Trace(range(1, 101), [3] * 100, release_iteration=range(1, 101))
    one, same, other = (resampled(trace, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert (one.prompt_tokens == same.prompt_tokens).all()
    assert (one.prompt_tokens != other.prompt_tokens).any()
    assert (np.diff(one.release_iteration) >= 0).all()


def test_a_trace_shorter_than_its_blocks_and_an_empty_one() -> None:
    assert len(resampled(Trace([1, 2], [3, 4]), np.random.default_rng(0))) == 2
    assert len(resampled(Trace([], []), np.random.default_rng(0))) == 0


def test_a_workload_of_blocks_differs_between_seeds_and_says_so(tmp_path) -> None:
    """Regression: of a trace file, seeds drew ties alone, and nothing said so."""
    path = tmp_path / "trace.csv"
    rows = "".join(f"{k},{k + 1},{2 * k + 1}\n" for k in range(60))
    path.write_text("arrival_s,prompt_tokens,decode_tokens\n" + rows, encoding="utf-8")
    first = WorkloadOptions(source=str(path), requests=40)
    blocks = WorkloadOptions(source=str(path), requests=40, rows="blocks")
    assert drawn_by_seed(first) == ""
    assert drawn_by_seed(blocks) == "blocks of the trace"
    poisson = WorkloadOptions(source="ratio:1:4:60", requests=4, arrivals="poisson", rate=1.0)
    assert drawn_by_seed(poisson) == "requests and arrival times"
    one, same, other = (load_workload(blocks, seed).trace for seed in (0, 0, 1))
    assert one.prompt_tokens.tolist() == same.prompt_tokens.tolist()
    assert one.prompt_tokens.tolist() != other.prompt_tokens.tolist()
    assert len(one) == 40
    assert one.prompt_tokens.max() <= 40
    assert load_workload(first, 0).trace.prompt_tokens.tolist() == list(range(1, 41))
