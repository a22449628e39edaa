"""Reservoir sampling, which gaps and prices share."""

from __future__ import annotations

import numpy as np

from olprouting.engine.reservoir import Reservoir


def test_every_offer_is_kept_equally_often():
    counts = np.zeros(20)
    for seed in range(2000):
        reservoir = Reservoir(5, np.random.default_rng(seed))
        for number in range(20):
            reservoir.offer(lambda number=number: number)
        assert len(reservoir.items) == 5
        assert list(reservoir.items) == sorted(reservoir.items)
        counts[list(reservoir.items)] += 1
    # 2000 draws of probability 1/4: within 6 standard deviations
    assert np.abs(counts - 500).max() < 6 * (2000 * 0.25 * 0.75) ** 0.5


def test_items_that_are_not_kept_are_not_made():
    made = []
    reservoir = Reservoir(1, np.random.default_rng(0))
    for number in range(50):
        reservoir.offer(lambda number=number: made.append(number))
    assert reservoir.offered == 50
    assert len(made) < 20


def test_without_a_size_everything_is_kept():
    reservoir = Reservoir(None, np.random.default_rng(0))
    for number in range(7):
        reservoir.offer(lambda number=number: number)
    assert reservoir.items == tuple(range(7))
