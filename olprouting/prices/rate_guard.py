"""Noticing that requests arrive faster than before, so that old history can be dropped.

The test is the exact conditional one for two Poisson counts: if both windows have the same rate,
then given their total the recent count is binomial, whatever that rate is. So a false alarm is
never more likely than the level (`scipy.stats.poisson_means_test` has more power, but exceeds its
level at some rates).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from olprouting.errors import InputError


class RateShift(NamedTuple):
    """An alarm.

    Attributes
    ----------
    period
        The period after which it was raised.
    since
        First period of the recent window; history before it is stale.
    recent_rate, earlier_rate
        Arrivals per period in the two windows.
    p_value
        Of the test.
    """

    period: int
    since: int
    recent_rate: float
    earlier_rate: float
    p_value: float


def rate_increase_p_value(
    recent: int, recent_periods: int, earlier: int, earlier_periods: int
) -> float:
    """Return how likely so many recent arrivals are, at least, if the rate has not increased.

    Parameters
    ----------
    recent, earlier
        Arrivals in the two windows, >= 0.
    recent_periods, earlier_periods
        Their lengths, >= 1.

    Raises
    ------
    InputError
        If a number is out of range.
    """
    from scipy.stats import binomtest

    if min(recent, earlier) < 0 or min(recent_periods, earlier_periods) < 1:
        raise InputError(
            f"{recent} arrivals in {recent_periods} periods and {earlier} in {earlier_periods}: "
            "arrivals must be >= 0 and periods >= 1"
        )
    if recent + earlier == 0:
        return 1.0
    share = recent_periods / (recent_periods + earlier_periods)
    return float(binomtest(recent, recent + earlier, share, alternative="greater").pvalue)


@dataclass
class RateGuard:
    """Compare arrivals in the last `window` periods with those of the periods before.

    Parameters
    ----------
    window
        Length of the recent window in periods, >= 1.
    reference
        Longest earlier window, >= `window`. Tests begin when it holds `window` periods.
    false_alarms
        Expected false alarms per `window` periods of Poisson arrivals at a constant rate, at most;
        in (0, 1). Each test has the level false_alarms * every / window.
    every
        Periods from one test to the next, 1..window. None is `window`: tests do not overlap.

    Raises
    ------
    InputError
        If an option is out of range.
    """

    window: int = 300
    reference: int = 3000
    false_alarms: float = 0.01
    every: int | None = None
    _recent: deque[int] = field(init=False, repr=False)
    _earlier: deque[int] = field(init=False, repr=False)
    _period: int = field(default=0, init=False, repr=False)
    _waited: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.window < 1 or self.reference < self.window:
            raise InputError(
                f"window = {self.window} must be >= 1, reference = {self.reference} at least that"
            )
        if not 0 < self.false_alarms < 1:
            raise InputError(f"false_alarms = {self.false_alarms} must be between 0 and 1")
        if self.every is not None and not 1 <= self.every <= self.window:
            raise InputError(f"every = {self.every} must be between 1 and window = {self.window}")
        self._recent, self._earlier = deque(), deque()

    @property
    def level(self) -> float:
        """Largest p-value that is an alarm."""
        return self.false_alarms * (self.every or self.window) / self.window

    def observe(self, arrivals: int) -> RateShift | None:
        """Take the arrivals of the next period, >= 0; return an alarm or None.

        After an alarm the recent window is the new reference.
        """
        if arrivals < 0:
            raise InputError(f"arrivals = {arrivals} must be >= 0")
        self._period += 1
        self._recent.append(int(arrivals))
        if len(self._recent) > self.window:
            self._earlier.append(self._recent.popleft())
        if len(self._earlier) > self.reference:
            self._earlier.popleft()
        if len(self._earlier) < self.window:
            return None
        self._waited += 1
        if self._waited < (self.every or self.window):
            return None
        self._waited = 0
        return self._test()

    def _test(self) -> RateShift | None:
        counts = int(np.sum(self._recent)), int(np.sum(self._earlier))
        lengths = len(self._recent), len(self._earlier)
        p_value = rate_increase_p_value(counts[0], lengths[0], counts[1], lengths[1])
        if p_value > self.level:
            return None
        since = self._period - lengths[0] + 1
        rates = counts[0] / lengths[0], counts[1] / lengths[1]
        self._earlier, self._recent = self._recent, deque()
        return RateShift(self._period, since, *rates, p_value)
