"""The policy ``hindsight-price``: Algorithm 1 with the prices that prove the hindsight bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.policies.fixed_prices import FixedPricePolicy

if TYPE_CHECKING:
    from olprouting.hindsight.reward.result import HindsightResult
    from olprouting.options import PolicyOptions

NAME: Final = "hindsight-price"
TIMED: Final = "hindsight-price-timed"


def hindsight_price(
    found: HindsightResult, options: PolicyOptions, *, timed: bool = False
) -> FixedPricePolicy:
    """Return the policy that knows the best prices, but no request before it comes.

    It is a control: what it collects beyond learned prices is what learning misses, and what it
    misses of the bound is due to the rule that prices are used by, and to whole starts. It is not
    always better than prices 0: it starts a request as soon as its margin is positive, though a
    later start may be the one that the bound counts on (`timed`).

    Parameters
    ----------
    found
        The result for the trace and the workers that it will run on.
    options
        Of the policy: those by which rewards were counted in `found`.
    timed
        Whether a request waits for its best start (`FixedPricePolicy`): ``hindsight-price-timed``.

    Raises
    ------
    InputError
        If the last period recedes, or is not that of `found`.
    """
    worker_class = found.problem.classes()[0]
    batch, memory = (
        np.ldexp(prices[worker_class].astype(np.float64), found.prices.unit_log2)
        for prices in (found.prices.batch, found.prices.memory)
    )
    return FixedPricePolicy(
        TIMED if timed else NAME,
        options.period,
        batch,
        memory,
        random_ties=options.ties == "random",
        timed=timed,
    )
