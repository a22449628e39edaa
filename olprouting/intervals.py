"""Intervals for what was measured on a sample: means, differences of pairs, and ratios of sums."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEVEL: Final = 0.95
"""How often an interval is to hold the true value, where nobody asks for another level."""

RESAMPLES: Final = 2000
"""Samples that a bootstrap draws."""


class Interval(NamedTuple):
    """An estimate with its interval; `low` and `high` are NaN where there is none.

    Attributes
    ----------
    estimate, low, high
        All in the unit of what was estimated.
    """

    estimate: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is an interval at all."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference can be told from none: there is an interval, without 0 in it."""
        return self.is_known and (self.low > 0 or self.high < 0)

    def text(self, form: str) -> str:
        """Return it in words, numbers in a form: ``"12 (8 to 15)"``."""
        if not self.is_known:
            return f"{self.estimate:{form}} (no interval)"
        return f"{self.estimate:{form}} ({self.low:{form}} to {self.high:{form}})"


def t_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Return the mean of independent values with Student's t interval.

    Parameters
    ----------
    values
        Shape (n,). For a difference of two policies: the differences of their pairs. Values in
        time order depend on each other; give the means of blocks of them (`block_sums`).
    level
        In (0, 1).

    Returns
    -------
    Interval
        NaN without values; no interval for a single one.
    """
    from scipy import stats

    if not len(values):
        return Interval(np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, np.nan, np.nan)
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * float(values.std(ddof=1))
    half /= len(values) ** 0.5
    return Interval(mean, mean - half, mean + half)


def total_interval(values: Floats, blocks: int, level: float = LEVEL) -> Interval:
    """Return the sum of values in time order, with Student's t interval over blocks of them.

    Parameters
    ----------
    values
        Shape (n,). For a difference of two policies: the differences of their pairs.
    blocks
        Of consecutive values, >= 1: longer than what makes neighbours alike, and enough for t.
    level
        In (0, 1).
    """
    sums = block_sums(values, blocks)
    return Interval(*(len(sums) * np.array(t_interval(sums, level))))


def bootstrap_interval(
    statistic: Callable[..., Floats], *columns: Floats, level: float = LEVEL, seed: int = 0
) -> Interval:
    """Return a statistic of paired columns with its bootstrap interval (BCa, `scipy.stats`).

    Parameters
    ----------
    statistic
        Takes the columns and ``axis=-1``; a ratio of sums, say.
    columns
        Shape (n,) each, whose rows belong together and are drawn together. Rows in time order
        depend on each other; give sums of blocks of them (`block_sums`).
    level, seed
        Of the interval, in (0, 1), and of the draws.

    Returns
    -------
    Interval
        Without an interval for fewer than two rows. If all draws agree, both ends are the estimate.
    """
    from scipy import stats

    estimate = float(statistic(*columns, axis=-1)) if len(columns[0]) else np.nan
    if len(columns[0]) < 2:
        return Interval(estimate, np.nan, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # no acceleration where rows agree
        drawn = stats.bootstrap(
            columns,
            statistic,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    if np.ptp(drawn.bootstrap_distribution) == 0:
        return Interval(estimate, estimate, estimate)
    low, high = drawn.confidence_interval
    if not np.isfinite([low, high]).all():  # BCa has none, plain percentiles do
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        low, high = np.quantile(drawn.bootstrap_distribution, tails)
    return Interval(estimate, float(low), float(high))


def block_sums(values: Floats, blocks: int) -> Floats:
    """Return sums over blocks of consecutive values: blocks hardly depend on each other.

    Parameters
    ----------
    values
        Shape (..., n), in time order.
    blocks
        How many, >= 1; as many as there are values, if these are fewer. Sizes differ by one at
        most, so that `block_means` suits means.

    Returns
    -------
    numpy.ndarray
        Shape (..., min(blocks, n)).
    """
    return np.add.reduceat(values, _firsts(values.shape[-1], blocks), axis=-1)


def block_means(values: Floats, blocks: int) -> Floats:
    """Return means over blocks of consecutive values (`block_sums`)."""
    count = values.shape[-1]
    firsts = _firsts(count, blocks)
    return block_sums(values, blocks) / np.diff(firsts, append=count)


def _firsts(count: int, blocks: int) -> npt.NDArray[np.intp]:
    blocks = max(1, min(blocks, count))
    return (np.arange(blocks) * count) // blocks
