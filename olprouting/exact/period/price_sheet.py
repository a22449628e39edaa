"""What a period's prices say of each request: its reward against what its resources cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.period.check_period import best_margins, margins_of

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.instances import PeriodProblem, PeriodResult


def price_sheet(problem: PeriodProblem, result: PeriodResult) -> pd.DataFrame:
    """Return one row per request, on the worker that takes most of it, else where it pays best.

    Parameters
    ----------
    problem
        The period.
    result
        Its result.

    Returns
    -------
    DataFrame
        ``request``, ``worker``, ``share`` (admitted on all workers), ``reward``,
        ``price_times_use`` (of the slots and KV tokens it would use), ``margin``
        (reward - price_times_use) and ``slack`` >= 0: option value - margin, what the reward lacks
        for the request to be worth its resources there. At an optimum slack times share is 0.

    Raises
    ------
    NoPricesError
        If there are no prices.
    """
    import pandas as pd

    prices = result.prices
    margins = margins_of(problem, prices.batch, prices.memory)
    shares = np.zeros_like(margins) if result.x is None else result.x
    request = np.arange(problem.waiting)
    admitted = shares.max(axis=1, initial=0.0) > 0
    worker = np.where(admitted, shares.argmax(axis=1), margins.argmax(axis=1))
    margin = margins[request, worker]
    return pd.DataFrame(
        {
            "request": request,
            "worker": worker,
            "share": shares.sum(axis=1),
            "reward": problem.rewards,
            "price_times_use": problem.rewards - margin,
            "margin": margin,
            "slack": best_margins(margins) - margin,
        }
    )
