"""Gaps of one policy by one program, summed up over the decisions judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.intervals import Interval, block_means, block_sums, bootstrap_interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from olprouting.gaps.measure import GapRecord
    from olprouting.gaps.runs import PolicyRun

    Floats = npt.NDArray[np.float64]

BLOCKS = 20
"""Blocks of consecutive decisions, which stand for independent ones."""


@dataclass(frozen=True)
class PolicyGaps:
    """One policy judged by one window.

    Attributes
    ----------
    policy, horizon
        Who, and the window H of the program it is judged by.
    waiting_imbalance_tokens, mean_imbalance_tokens, wait_mean_s, wait_p99_s
        Of its run of the trace (`RunNumbers`): while requests wait, and whole.
    sampled
        How many decisions were solved exactly.
    found_mean_tokens, found_low_tokens, found_high_tokens
        What a decision leaves above the best assignment found: mean, and its interval.
    best_mean_tokens, jsq_mean_tokens
        What the best assignment found leaves, and what JSQ leaves above that, on average over its
        ties: means over the decisions, the same for all policies.
    unproven_mean_tokens
        What the best assignment found is above the proven bound: mean, the same for all policies.
    gap_mean_tokens, gap_median_tokens, gap_p95_tokens, gap_max_tokens
        The sum of both: what a decision loses at most.
    share_optimal
        Share of sampled decisions at which the policy is proven optimal.
    share_captured, share_captured_found
        Part of JSQ's excess over the optimum that the policy avoids on the same states: at least,
        with the bound in place of optima that are not proven, and by the best assignments found.
        JSQ's own is 0. None where JSQ is optimal throughout.
    share_captured_low, share_captured_high
        Lower end of the first one's interval, upper end of the second's; None without an interval.
    share_proven
        Share of sampled decisions whose optimum was proven.
    true_gap_mean_tokens, forecast_error_mean_tokens, share_compared
        Of the decisions whose optima under the forecast and under the truth are both proven, and
        their share: mean of what the policy loses in truth, and of what the exact policy loses by
        trusting the forecast (`GapRecord`). None where nothing is compared.
    dispatch_p50_s, dispatch_p99_s
        Time of a routing call, including the call from Python; None in a run without decisions.
    solve_p50_s, solve_p99_s
        Time of an exact solve, model building included.
    """

    policy: str
    horizon: int
    waiting_imbalance_tokens: float | None
    mean_imbalance_tokens: float
    wait_mean_s: float | None
    wait_p99_s: float | None
    sampled: int
    found_mean_tokens: float
    found_low_tokens: float | None
    found_high_tokens: float | None
    best_mean_tokens: float
    jsq_mean_tokens: float
    unproven_mean_tokens: float
    gap_mean_tokens: float
    gap_median_tokens: float
    gap_p95_tokens: float
    gap_max_tokens: float
    share_optimal: float
    share_captured: float | None
    share_captured_found: float | None
    share_captured_low: float | None
    share_captured_high: float | None
    share_proven: float
    true_gap_mean_tokens: float | None
    forecast_error_mean_tokens: float | None
    share_compared: float | None
    dispatch_p50_s: float | None
    dispatch_p99_s: float | None
    solve_p50_s: float
    solve_p99_s: float

    @property
    def heuristic_error_mean_tokens(self) -> float | None:
        """The true gap less the forecast's part of it; None where nothing is compared."""
        if self.true_gap_mean_tokens is None or self.forecast_error_mean_tokens is None:
            return None
        return self.true_gap_mean_tokens - self.forecast_error_mean_tokens

    @property
    def found(self) -> Interval:
        """What a decision leaves above the best assignment found, in tokens."""
        return _back(self.found_mean_tokens, self.found_low_tokens, self.found_high_tokens)

    @property
    def captured(self) -> Interval:
        """The share captured by the best found; NaN where JSQ is optimal throughout."""
        return _back(self.share_captured_found, self.share_captured_low, self.share_captured_high)

    @classmethod
    def of(cls, run: PolicyRun, records: Sequence[GapRecord]) -> PolicyGaps:
        """Sum up the records (at least one, in time order) of one policy and window."""
        gaps = _column(records, "gap_tokens")
        found = t_interval(block_means(_column(records, "found_tokens"), BLOCKS))
        least, by_best = share_captured(records), share_captured(records, by_best=True)
        optimum = _column(records, "best_tokens")
        solve_s = _column(records, "solve_s") + _column(records, "build_s")
        return cls(
            policy=records[0].policy,
            horizon=records[0].horizon,
            waiting_imbalance_tokens=run.numbers.waiting_imbalance_tokens,
            mean_imbalance_tokens=run.numbers.imbalance_tokens,
            wait_mean_s=run.numbers.wait_mean_s,
            wait_p99_s=run.numbers.wait_p99_s,
            sampled=len(records),
            found_mean_tokens=float(_column(records, "found_tokens").mean()),
            found_low_tokens=_known(max(found.low, 0.0)),
            found_high_tokens=_known(found.high),
            best_mean_tokens=float(optimum.mean()),
            jsq_mean_tokens=float((_column(records, "jsq_value_tokens") - optimum).mean()),
            unproven_mean_tokens=float(_column(records, "unproven_tokens").mean()),
            gap_mean_tokens=float(gaps.mean()),
            gap_median_tokens=float(np.median(gaps)),
            gap_p95_tokens=float(np.quantile(gaps, 0.95)),
            gap_max_tokens=float(gaps.max()),
            share_optimal=float(np.mean([record.optimal for record in records])),
            share_captured=_known(least.estimate),
            share_captured_found=_known(by_best.estimate),
            share_captured_low=_known(least.low),
            share_captured_high=_known(by_best.high),
            share_proven=float(np.mean([record.proven for record in records])),
            true_gap_mean_tokens=_mean([record.true_gap_tokens for record in records]),
            forecast_error_mean_tokens=_mean([record.forecast_error_tokens for record in records]),
            share_compared=_share_compared(records),
            dispatch_p50_s=run.dispatch_p50_s,
            dispatch_p99_s=run.dispatch_p99_s,
            solve_p50_s=float(np.quantile(solve_s, 0.5)),
            solve_p99_s=float(np.quantile(solve_s, 0.99)),
        )


def share_captured(records: Sequence[GapRecord], *, by_best: bool = False) -> Interval:
    """Return (sum z_JSQ - sum z_policy) / (sum z_JSQ - sum z*) with its bootstrap interval.

    Parameters
    ----------
    records
        Of one policy and program, in time order: blocks of them are resampled.
    by_best
        Whether the best assignments found stand in for optima that are not proven; else the bounds
        do, so that a positive share is never overstated.

    Returns
    -------
    Interval
        NaN where JSQ leaves nothing.
    """
    jsq = _column(records, "jsq_value_tokens")
    policy = _column(records, "value_tokens")
    optimum = _column(records, "best_tokens")
    if not by_best:
        optimum = optimum - _column(records, "unproven_tokens")
    excess = jsq - optimum
    if not excess.sum() > 0:
        return Interval(np.nan, np.nan, np.nan)
    avoided, excess = block_sums(np.array([jsq - policy, excess]), BLOCKS)
    return bootstrap_interval(_ratio_of_sums, avoided, excess)


def difference(records: Sequence[GapRecord], others: Sequence[GapRecord]) -> Interval:
    """Return what one policy leaves above another on the same states, with its interval."""
    values = _column(records, "value_tokens") - _column(others, "value_tokens")
    return t_interval(block_means(values, BLOCKS))


def _ratio_of_sums(avoided: Floats, excess: Floats, axis: int = -1) -> Floats:
    total = excess.sum(axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = avoided.sum(axis) / total
    return np.where(total > 0, ratio, 0.0)  # a draw in which JSQ leaves nothing


def _column(records: Sequence[GapRecord], name: str) -> Floats:
    return np.array([getattr(record, name) for record in records], np.float64)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _back(estimate: float | None, low: float | None, high: float | None) -> Interval:
    return Interval(*(np.nan if value is None else value for value in (estimate, low, high)))


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _share_compared(records: Sequence[GapRecord]) -> float | None:
    compared = sum(record.true_gap_tokens is not None for record in records)
    return compared / len(records) if compared else None
