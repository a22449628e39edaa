"""Workloads put together from blocks of a trace."""

from __future__ import annotations

import numpy as np

from olprouting.instances import Trace
from olprouting.traces import resampled


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
