"""Ages at which requests are asked about: those they pass through while they are active."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.forecasts.forecaster import Queries

if TYPE_CHECKING:
    import numpy.typing as npt


def sample_ages(
    decode_tokens: npt.NDArray[np.int64], step: int, size: int | None, rng: np.random.Generator
) -> Queries:
    """Return queries at ages 0, step, 2 step, ... < o of every request, or a sample of them.

    With step 1 these are the questions a router meets when it looks at its active requests at a
    random iteration: long requests are asked about more often, as they are met more often.

    Parameters
    ----------
    decode_tokens
        Decode lengths o, shape (N,), each >= 1.
    step
        Tokens between two ages of a request, >= 1.
    size
        How many queries to draw, uniformly and without replacement, where there are more; None
        takes all.
    rng
        Source of the draws.

    Returns
    -------
    Queries
        In the order of requests and ages.
    """
    if size is not None and size < 1:
        raise InputError(f"queries = {size} must be >= 1, or None for all")
    ages = -(-decode_tokens // step)
    end = np.cumsum(ages)
    total = int(end[-1]) if len(end) else 0
    if size is not None and total > size:
        place = np.sort(rng.choice(total, size, replace=False, shuffle=False))
    else:
        place = np.arange(total)
    request = np.searchsorted(end, place, side="right")
    return Queries(request, (place - (end - ages)[request]) * step)
