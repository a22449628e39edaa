"""What a period's prices say of each request: its reward against what its resources cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.period.check_period import best_margins, margins_of
from olprouting.exact.period.uniqueness import OptimalPrices

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
        ``least`` and ``most`` are the ends of price_times_use over all optimal prices, NaN where
        `has_ranges` is false and prices are not unique.

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
    cost = problem.rewards - margin
    ends = np.full((2, problem.waiting), np.nan)
    if prices.unique:
        ends[:] = cost
    elif has_ranges(problem, result):
        assert result.x is not None
        optimal = OptimalPrices(problem, result.x)
        for j, g in enumerate(worker.tolist()):
            ends[:, j] = optimal.cost(j, g)
    return pd.DataFrame(
        {
            "request": request,
            "worker": worker,
            "share": shares.sum(axis=1),
            "reward": problem.rewards,
            "price_times_use": cost,
            "margin": margin,
            "slack": best_margins(margins) - margin,
            "least": ends[0],
            "most": ends[1],
        }
    )


def price_ranges(problem: PeriodProblem, result: PeriodResult) -> pd.DataFrame:
    """Return between which ends the optimal prices lie, per worker and remaining period.

    Parameters
    ----------
    problem
        The period.
    result
        Its result, of which `has_ranges` is true.

    Returns
    -------
    DataFrame
        ``worker``, ``period``, ``batch_low``, ``batch_high``, ``memory_low``, ``memory_high``: of
        one slot and of one KV token. Equal ends are a unique price; an infinite one is no limit.
    """
    import pandas as pd

    assert result.x is not None
    worker, offset = np.indices(problem.slots.shape)
    slots, tokens = OptimalPrices(problem, result.x).prices()
    return pd.DataFrame(
        {
            "worker": worker.ravel(),
            "period": offset.ravel() + problem.period,
            "batch_low": slots.low.ravel(),
            "batch_high": slots.high.ravel(),
            "memory_low": tokens.low.ravel(),
            "memory_high": tokens.high.ravel(),
        }
    )


def has_ranges(problem: PeriodProblem, result: PeriodResult) -> bool:
    """Whether the ends of all optimal prices can be found: of an LP that knows all requests."""
    return (
        problem.waiting > 0
        and result.formulation == "lp"
        and result.x is not None
        and result.priced is not None
    )
