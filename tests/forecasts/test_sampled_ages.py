"""Which (request, age) pairs are asked about."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.forecasts.sampled_ages import sample_ages

LENGTHS = np.array([1, 5, 2, 10])


@pytest.mark.parametrize("step", [1, 2, 3, 20])
def test_all_ages_are_those_below_the_length(step) -> None:
    """Catches an age at which a request has completed, or the last age left out."""
    queries = sample_ages(LENGTHS, step, None, np.random.default_rng(0))
    wanted = [(i, age) for i, o in enumerate(LENGTHS) for age in range(0, o, step)]
    assert list(zip(*map(np.ndarray.tolist, queries), strict=True)) == wanted


def test_a_sample_is_uniform_over_pairs_and_without_repetition() -> None:
    """18 pairs, 6 drawn: each stands in a third of 3,000 samples, +- 6 standard deviations."""
    seen = np.zeros(18)
    for seed in range(3000):
        queries = sample_ages(LENGTHS, 1, 6, np.random.default_rng(seed))
        place = np.array([0, 1, 6, 8])[queries.request] + queries.age
        assert len(np.unique(place)) == 6
        seen[place] += 1
    assert np.abs(seen - 1000).max() < 6 * np.sqrt(3000 * 2 / 9)


def test_no_request_gives_no_query_and_a_size_of_none_is_refused() -> None:
    rng = np.random.default_rng(0)
    assert len(sample_ages(LENGTHS[:0], 1, 5, rng).age) == 0
    with pytest.raises(InputError, match="queries = 0 must be >= 1"):
        sample_ages(LENGTHS, 1, 0, rng)
