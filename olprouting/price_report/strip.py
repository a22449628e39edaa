"""Free capacity of one sampled period, and between which ends its prices lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.prices.optimal_set import OptimalSet

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.price_report.sampled_period import SampledPeriod
    from olprouting.prices import PriceResult

COLUMNS: Final = ("resource", "first_period", "last_period", "free", "learned", "low", "high")


def no_strip() -> pd.DataFrame:
    """Return a strip without rows (`price_strip`)."""
    import pandas as pd

    return pd.DataFrame(columns=list(COLUMNS))


def price_strip(sampled: SampledPeriod, exact: PriceResult, stretches: int) -> pd.DataFrame:
    """Return free capacity and prices by resource and stretch of remaining periods.

    Parameters
    ----------
    sampled
        The period.
    exact
        Exact prices of its dual.
    stretches
        At most so many, >= 1.

    Returns
    -------
    DataFrame
        ``resource`` (``"slots"`` or ``"KV tokens"``), ``first_period`` and ``last_period``;
        ``free``: what is free of it on all workers, mean of the periods, before the starts;
        ``learned``: what a unit costs for a period at the run's prices, mean over workers and
        periods; ``low`` and ``high``: the least and the most at any prices that minimise f,
        infinite without limit, NaN where the minimum is not proven.
    """
    import pandas as pd

    problem, rows = sampled.problem, []
    optimal = OptimalSet(sampled.sample, exact.value) if exact.converged else None
    edges = np.unique(np.linspace(0, problem.remaining, stretches + 1).astype(int))
    nothing = np.zeros(sampled.batch.shape)
    for which, (name, free, prices, limits) in enumerate(
        (
            ("slots", problem.slots, sampled.batch, sampled.slots),
            ("KV tokens", problem.kv_tokens, sampled.memory, sampled.kv_tokens),
        )
    ):
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            weights = np.zeros(sampled.batch.shape)
            sampled.of_remaining(weights)[:, begin:end] = 1
            # of the order of a reward: what all that there is costs
            weights *= limits[:, None]
            pair = (nothing, weights) if which else (weights, nothing)
            ends = (np.nan, np.nan) if optimal is None else optimal.ends(*pair)
            units = max(float(weights.sum()), 1.0)
            low, high = (max(value, 0.0) / units for value in ends)
            rows.append(
                (
                    name,
                    sampled.period + begin,
                    sampled.period + end - 1,
                    float(free[:, begin:end].sum(axis=0).mean()),
                    float((weights * prices).sum()) / units,
                    low,
                    high,
                )
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))
