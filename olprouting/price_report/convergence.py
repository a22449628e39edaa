"""How fast Algorithm 2 approaches the minimum of one period's dual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.prices import Iterate, learn_prices

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.price_report.sampled_period import SampledPeriod
    from olprouting.prices import DescentOptions, PriceResult

CHECKPOINTS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""After how many steps f is evaluated."""


def convergence_frame(
    sampled: SampledPeriod, exact: PriceResult, options: DescentOptions, seed: int
) -> pd.DataFrame:
    """Return f over the whole history after so many steps from p = 0, beside its minimum.

    Parameters
    ----------
    sampled
        The period.
    exact
        The exact prices of its dual.
    options
        Mini-batch and length of the steps.
    seed
        Seed of the mini-batches.

    Returns
    -------
    DataFrame
        Columns ``step``, ``f`` and ``f_exact``.
    """
    import pandas as pd

    rng = np.random.default_rng([seed, 3])
    values: list[float] = []
    prices = None
    for before, step in zip((0, *CHECKPOINTS), CHECKPOINTS, strict=False):
        prices = learn_prices(
            sampled.sample,
            rng,
            options.replace(steps=step - before),
            iterate=Iterate.LAST,
            start=prices,
            every=max(1, step - before),
        )
        values.append(prices.value)
    return pd.DataFrame({"step": CHECKPOINTS, "f": values, "f_exact": exact.value})
