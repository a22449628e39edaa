"""Policies compared request by request on the same workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.intervals import total_interval

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from olprouting.intervals import Interval

CONTROL: Final = "prices-0"
"""The bid-price policy with all prices 0: what prices add is the difference to it."""

BLOCKS: Final = 10
"""Blocks of consecutive requests: longer than most queues last, so that they hardly depend on each
other, and enough for Student's t."""


def reward_difference(requests: pd.DataFrame, policy: str, other: str) -> Interval:
    """Return how much more reward one policy collects than another, in all.

    Parameters
    ----------
    requests
        ``policy``, ``request``, ``reward``: all requests of each run, in the order of the trace.
    policy, other
        Whose reward, and what is taken from it.

    Returns
    -------
    Interval
        The difference of the sums, with Student's t interval over `BLOCKS` blocks.
    """
    difference = _column(requests, policy, "reward") - _column(requests, other, "reward")
    return total_interval(difference, BLOCKS)


def _column(requests: pd.DataFrame, policy: str, name: str) -> npt.NDArray[np.float64]:
    return requests.loc[requests["policy"] == policy, name].to_numpy(np.float64)
