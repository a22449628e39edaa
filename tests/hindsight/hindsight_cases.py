"""Problems with more requests than their workers can serve, and prices, for the search's tests."""

from __future__ import annotations

import numpy as np

from olprouting.hindsight import HindsightProblem
from olprouting.instances import WEIGHT_SETS


def crowded(
    seed: int, requests: int, periods: int, names: tuple[str, ...] = tuple(WEIGHT_SETS)
) -> HindsightProblem:
    """Return a problem with about twice the requests that its workers, of two kinds, can serve."""
    rng = np.random.default_rng(seed)
    return HindsightProblem(
        prompt_tokens=rng.integers(1, 40, requests),
        decode_tokens=rng.integers(1, 30, requests),
        arrival_period=np.sort(rng.integers(1, periods + 5, requests)),
        slots=np.array([3, 3, 2]),
        kv_tokens=np.array([120, 120, 60]),
        weights=WEIGHT_SETS[names[rng.integers(len(names))]],
        periods=periods,
        t1=25,
        t2=6,
        batching="decode",
        age_offset=1,
    )


def some_prices(problem: HindsightProblem, seed: int):
    rng = np.random.default_rng(seed)
    shape = (2, len(problem.classes()[1]), problem.periods)
    return rng.uniform(0, 0.2, shape) * np.array([1, 0.02])[:, None, None]
