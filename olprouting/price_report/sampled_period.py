"""A period of a bid-price run, kept as it was for questions afterwards.

One such question stands here: how fast Algorithm 2 approaches the minimum of the period's dual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.policies import REJECT
from olprouting.prices import Iterate, Positions, learn_prices

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from olprouting.engine import DecisionEvent
    from olprouting.instances import PeriodProblem
    from olprouting.policies.bid_price import BidPricePolicy
    from olprouting.prices import DescentOptions, PriceResult, SaaProblem

    Floats = npt.NDArray[np.float64]


CHECKPOINTS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""After how many steps f is evaluated."""


@dataclass(frozen=True, eq=False)
class SampledPeriod:
    """What the policy knew and did in one period.

    Attributes
    ----------
    period
        Its number k, counted from the start of the run.
    problem
        The period's program, on the residuals of the real workers.
    sample
        The dual from whose history the prices were learned.
    batch, memory
        The prices, in reward per slot and per KV token, shape (G, P).
    first_position
        Where the period's own prices begin.
    slots, kv_tokens
        Limits B and M of the workers, shape (G,).
    admitted
        (request, worker) pairs that the policy admitted.
    """

    period: int
    problem: PeriodProblem
    sample: SaaProblem
    batch: Floats
    memory: Floats
    first_position: int
    slots: npt.NDArray[np.int64]
    kv_tokens: npt.NDArray[np.int64]
    admitted: tuple[tuple[int, int], ...]

    def of_remaining(self, prices: Floats) -> Floats:
        """Return the part of prices, shape (G, P), that belongs to the remaining periods."""
        return prices[:, self.first_position : self.first_position + self.problem.remaining]


def sampled_period(event: DecisionEvent, policy: BidPricePolicy) -> SampledPeriod:
    """Return a copy of what `policy` based this decision on."""
    from olprouting.policies.period_situation import period_of, workers_of

    assert policy.last is not None
    assert policy.prices is not None
    problem, sample = policy.last
    workers = workers_of(event.view)
    batch, memory = policy.prices.true_prices()
    absolute = policy.prices.residuals.positions is Positions.ABSOLUTE
    starts = event.worker != REJECT
    pairs = zip(event.position[starts].tolist(), event.worker[starts].tolist(), strict=True)
    return SampledPeriod(
        period=period_of(event.view, policy.options.period_s),
        problem=problem,
        sample=sample._replace(
            columns=sample.columns.rows(np.arange(sample.columns.size)),
            slots=sample.slots.copy(),
            kv_tokens=sample.kv_tokens.copy(),
        ),
        batch=batch,
        memory=memory,
        first_position=problem.period - 1 if absolute else 0,
        slots=workers.slots,
        kv_tokens=workers.kv_tokens,
        admitted=tuple(pairs),
    )


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
