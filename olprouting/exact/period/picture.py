"""A period in a picture: two kinds of requests as a plane, any others as prices over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from olprouting.errors import InputError
from olprouting.exact.period.columns import period_columns
from olprouting.exact.period.price_sheet import has_ranges
from olprouting.exact.period.uniqueness import OptimalPrices

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from olprouting.instances import PeriodProblem, PeriodResult

    Floats = npt.NDArray[np.float64]


class RequestKinds(NamedTuple):
    """A period's program with equal requests as one variable each, on one worker.

    Attributes
    ----------
    rewards, limit
        Of a start of each kind, and how many requests there are of it, shape (K,).
    usage, capacity, prices
        Of the rows that can bind, shapes (m, K), (m,), (m,).
    names, resources
        In words: what a kind's requests are, and a row's resource and period.
    """

    rewards: Floats
    limit: Floats
    usage: Floats
    capacity: Floats
    prices: Floats
    names: tuple[str, ...]
    resources: tuple[str, ...]


def kinds_of(problem: PeriodProblem, result: PeriodResult) -> RequestKinds:
    """Return a period of one worker by kinds of requests.

    Parameters
    ----------
    problem
        The period, of one worker.
    result
        Its result, with prices.

    Raises
    ------
    InputError
        If there are more workers.
    NoPricesError
        If there are no prices.
    """
    if problem.workers != 1:
        raise InputError(f"kinds of requests are of one worker; the period has {problem.workers}")
    traits = np.column_stack(
        [problem.prompt_tokens, problem.decode_tokens, problem.arrival_period, problem.rewards]
    )
    _, first, kind = np.unique(traits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as the requests stand
    columns = period_columns(problem)
    prices = np.stack([result.prices.batch, result.prices.memory], axis=1).ravel()
    first = first[order]
    return RequestKinds(
        rewards=problem.rewards[first],
        limit=np.bincount(kind.ravel(), minlength=len(first)).astype(np.float64)[order],
        usage=columns.usage[:, first].toarray(),
        capacity=columns.capacity,
        prices=prices[columns.row_place],
        names=tuple(
            f"requests of {problem.prompt_tokens[j]:,} + {problem.decode_tokens[j]:,} tokens, "
            f"worth {problem.rewards[j]:g}"
            for j in first.tolist()
        ),
        resources=tuple(
            f"{('slots', 'KV tokens')[place // problem.remaining]}, period "
            f"{problem.period + place % problem.remaining}"
            for place in columns.row_place.tolist()
        ),
    )


def plot_duality(problem: PeriodProblem, result: PeriodResult, ax: Axes | None = None) -> Axes:
    """Draw a period of two kinds of requests on one worker as a plane, its prices as normals.

    Parameters
    ----------
    problem, result
        As for `kinds_of`.
    ax
        Where to draw; a new figure by default.

    Raises
    ------
    InputError
        If there are not two kinds of requests on one worker.
    """
    from olprouting import plots

    kinds = kinds_of(problem, result)
    if len(kinds.rewards) != 2:
        raise InputError(f"the picture has two axes; the period has {len(kinds.rewards)} kinds")
    starts = np.zeros(2) if result.x is None else _values(kinds)
    bounded = np.flatnonzero(starts > 0)
    return plots.plot_duality(
        kinds.rewards,
        np.vstack([kinds.usage, np.eye(2)[bounded]]),
        np.concatenate([kinds.capacity, kinds.limit[bounded]]),
        np.concatenate([kinds.prices, starts[bounded]]),
        kinds.names,
        (*kinds.resources, *(f"no more {'xy'[k]} wait" for k in bounded.tolist())),
        ax,
    )


def _values(kinds: RequestKinds) -> Floats:
    """Return the option value of each kind: above 0 only where all its requests are admitted."""
    margins = kinds.rewards - kinds.prices @ kinds.usage
    return np.where(margins > 1e-9, margins, 0.0)


def price_strip(problem: PeriodProblem, result: PeriodResult) -> pd.DataFrame:
    """Return free capacity and the ends of optimal prices by resource and period.

    Parameters
    ----------
    problem
        The period.
    result
        Its result, with prices.

    Returns
    -------
    DataFrame
        As `olprouting.price_report.strip.price_strip`: sums of the workers' capacity, means of
        their prices; ``learned`` has those found where the ends are not known, else NaN.
    """
    import pandas as pd

    prices = result.prices
    optimal = None
    if has_ranges(problem, result):
        assert result.x is not None
        optimal = OptimalPrices(problem, result.x)
    rows = []
    for which, (name, free, found) in enumerate(
        (("slots", problem.slots, prices.batch), ("KV tokens", problem.kv_tokens, prices.memory))
    ):
        for k in range(problem.remaining):
            low, high = (np.nan, np.nan) if optimal is None else optimal.mean_price(which, k)
            mean = float(found[:, k].mean()) if optimal is None else np.nan
            period = problem.period + k
            rows.append((name, period, period, float(free[:, k].sum()), mean, low, high))
    columns = ["resource", "first_period", "last_period", "free", "learned", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def picture(problem: PeriodProblem, result: PeriodResult) -> Axes | Figure:
    """Draw a period: two kinds of requests on one worker as a plane, others as prices over time.

    Raises
    ------
    NoPricesError
        If there are no prices.
    """
    if problem.workers == 1 and len(kinds_of(problem, result).rewards) == 2:
        return plot_duality(problem, result)
    from olprouting.plots.prices import plot_price_strip

    return plot_price_strip(price_strip(problem, result))
