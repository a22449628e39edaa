"""Workloads like a trace: blocks of its requests, drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.trace import Trace

BLOCKS = 20
"""Blocks of consecutive requests that a trace is resampled by."""


def resampled(trace: Trace, rng: np.random.Generator, blocks: int = BLOCKS) -> Trace:
    """Return as many requests, put together from random blocks of consecutive ones.

    Parameters
    ----------
    trace
        The requests. Within a block they keep their order and the time between them; a block may
        run over the end of the trace and go on at its beginning.
    rng
        Where blocks begin.
    blocks
        How many blocks make up a trace, >= 1.

    Returns
    -------
    Trace
        Its name and notices are those of `trace`.

    References
    ----------
    Politis and Romano (1992), the circular block bootstrap.
    """
    count = len(trace)
    if not count:
        return trace
    length = -(-count // min(blocks, count))
    starts = rng.integers(count, size=-(-count // length))
    rows = ((starts[:, None] + np.arange(length)) % count).ravel()[:count]

    def retimed(times: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        if times is None:
            return None
        since_last = np.diff(times, prepend=times[:1])
        return np.asarray(times[0] + np.cumsum(since_last[rows]))

    timeless = trace.replace(arrival_s=None, release_iteration=None)
    return timeless.take(rows).replace(
        arrival_s=retimed(trace.arrival_s), release_iteration=retimed(trace.release_iteration)
    )
