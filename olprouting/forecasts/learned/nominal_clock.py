"""Features of a whole trace offline, where nobody knows when requests were admitted or completed.

A nominal clock stands in: request i is admitted at iteration ``floor(i * spacing)`` and complete
`o_i` iterations later. With ``spacing = mean(o) / concurrency`` about so many requests are active
at a time. A request's features then depend on nothing but its prompt and on requests that had
completed before its admission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.forecasts.learned.recent_kernels import FEATURES, Recent, features_along

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import Trace


def features_of(
    trace: Trace, iterations_per_request: float, recent: Recent
) -> npt.NDArray[np.float32]:
    """Return the features of every request at age 0, shape (N, 7).

    Parameters
    ----------
    trace
        The requests.
    iterations_per_request
        The spacing of admissions, > 0.
    recent
        What had completed before the first one; afterwards it holds the whole trace too.
    """
    admission = np.floor(np.arange(len(trace)) * iterations_per_request).astype(np.int64)
    by_finish = np.argsort(admission + trace.decode_tokens, kind="stable")
    rows = np.empty((len(trace), len(FEATURES)), np.float32)
    features_along(trace.prompt_tokens, trace.decode_tokens, admission, by_finish, recent, rows)
    return rows


def nothing_completed(window: int, ewma_weight: float) -> Recent:
    """Return a state without completions.

    Parameters
    ----------
    window
        Number W of requests in rolling statistics.
    ewma_weight
        Weight of the newest length.
    """
    return Recent(
        np.zeros(window, np.int64),
        np.zeros(window, np.int64),
        np.zeros(1),
        np.zeros(1, np.int64),
        ewma_weight,
    )
