"""Leaving out barrier rows, and bounding the peaks, never changes the value of an assignment."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from olprouting.models.barrier_rows import barrier_rows


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_the_peak_is_the_floor_or_a_kept_row(data: st.DataObject) -> None:
    workers, horizon = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 4))
    loads = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 15), min_size=horizon + 1, max_size=horizon + 1),
                min_size=workers,
                max_size=workers,
            )
        )
    )
    free = np.array(data.draw(st.lists(st.integers(0, 2), min_size=workers, max_size=workers)))
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), max_size=6)), np.int64)
    growth = data.draw(st.sampled_from([0, 1]))
    rows = barrier_rows(loads, free, sizes, growth)

    # a random maximal assignment: the first requests of a shuffled pool, slots shuffled too
    pool = data.draw(st.permutations(range(len(sizes))))
    slots = data.draw(st.permutations(np.repeat(np.arange(workers), free).tolist()))
    filled = loads.copy()
    for request, worker in zip(pool, slots, strict=False):
        filled[worker] += sizes[request] + growth * np.arange(horizon + 1)
    kept = np.where(rows.binding, filled, 0).max(axis=0)
    assert (filled.max(axis=0) == np.maximum(rows.floor, kept)).all()


def test_full_workers_have_no_rows() -> None:
    rows = barrier_rows(np.array([[9], [7], [2]]), np.array([0, 1, 1]), np.array([5, 3, 3]), 1)
    assert rows.floor.tolist() == [10]  # worker 1 gets 3 at least
    assert rows.binding.tolist() == [[False], [True], [False]]  # worker 2 reaches 2 + 5 at most
