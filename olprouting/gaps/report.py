"""Gaps of several policies, summed up and written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.gaps.measure import GapRecord
from olprouting.gaps.tables import gap_tables
from olprouting.report import Report, frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from olprouting.files import Draw
    from olprouting.gaps.measure import JudgedDecision
    from olprouting.gaps.sampling import SampledRun
    from olprouting.report import Table


@dataclass(frozen=True)
class PolicyGaps:
    """One policy judged by one window.

    Attributes
    ----------
    policy, horizon
        Who, and the window H of the program it is judged by.
    mean_imbalance_tokens, throughput_tokens_per_s
        Of the whole run.
    decisions, sampled
        Decisions in the run, and how many were solved exactly.
    gap_mean_tokens, gap_median_tokens, gap_p95_tokens, gap_max_tokens
        What a decision loses against the optimum (at most, where not proven).
    gap_mean, gap_median, gap_p95, gap_max
        The same relative to the policy's value, 0..1.
    share_optimal
        Share of sampled decisions at which the policy is proven optimal.
    share_captured
        Part of JSQ's excess over the optimum that the policy avoids on the same states; where
        not proven the bound stands in for the optimum, so that the share is never overstated.
        None where JSQ is optimal throughout.
    share_proven
        Share of sampled decisions whose optimum was proven.
    true_gap_mean_tokens, forecast_error_mean_tokens, share_compared
        Of the decisions whose optima under the forecast and under the truth are both proven, and
        their share: mean of what the policy loses in truth, and of what the exact policy loses by
        trusting the forecast (`GapRecord`). None where nothing is compared.
    dispatch_p50_s, dispatch_p99_s
        Time of a routing call, including the call from Python.
    solve_p50_s, solve_p99_s
        Time of an exact solve, model building included.
    """

    policy: str
    horizon: int
    mean_imbalance_tokens: float
    throughput_tokens_per_s: float
    decisions: int
    sampled: int
    gap_mean_tokens: float
    gap_median_tokens: float
    gap_p95_tokens: float
    gap_max_tokens: float
    gap_mean: float
    gap_median: float
    gap_p95: float
    gap_max: float
    share_optimal: float
    share_captured: float | None
    share_proven: float
    true_gap_mean_tokens: float | None
    forecast_error_mean_tokens: float | None
    share_compared: float | None
    dispatch_p50_s: float
    dispatch_p99_s: float
    solve_p50_s: float
    solve_p99_s: float

    @property
    def heuristic_error_mean_tokens(self) -> float | None:
        """The true gap less the forecast's part of it; None where nothing is compared."""
        if self.true_gap_mean_tokens is None or self.forecast_error_mean_tokens is None:
            return None
        return self.true_gap_mean_tokens - self.forecast_error_mean_tokens

    @classmethod
    def of(cls, run: SampledRun, records: list[GapRecord]) -> PolicyGaps:
        """Sum up the records (at least one) of one policy and window."""
        tokens = np.array([record.gap_tokens for record in records])
        relative = np.array([record.gap for record in records])
        metrics = run.result.metrics
        assert metrics.mean_imbalance_tokens is not None  # the barrier clock always has one
        solve_s = np.array([record.solve_s + record.build_s for record in records])
        return cls(
            policy=records[0].policy,
            horizon=records[0].horizon,
            mean_imbalance_tokens=metrics.mean_imbalance_tokens,
            throughput_tokens_per_s=metrics.throughput_tokens_per_s,
            decisions=run.decisions,
            sampled=len(records),
            gap_mean_tokens=float(tokens.mean()),
            gap_median_tokens=float(np.median(tokens)),
            gap_p95_tokens=float(np.quantile(tokens, 0.95)),
            gap_max_tokens=float(tokens.max()),
            gap_mean=float(relative.mean()),
            gap_median=float(np.median(relative)),
            gap_p95=float(np.quantile(relative, 0.95)),
            gap_max=float(relative.max()),
            share_optimal=float(np.mean([record.optimal for record in records])),
            share_captured=share_captured(records),
            share_proven=float(np.mean([record.proven for record in records])),
            true_gap_mean_tokens=_mean([record.true_gap_tokens for record in records]),
            forecast_error_mean_tokens=_mean([record.forecast_error_tokens for record in records]),
            share_compared=_share_compared(records),
            dispatch_p50_s=float(np.quantile(run.dispatch_s, 0.5)),
            dispatch_p99_s=float(np.quantile(run.dispatch_s, 0.99)),
            solve_p50_s=float(np.quantile(solve_s, 0.5)),
            solve_p99_s=float(np.quantile(solve_s, 0.99)),
        )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _share_compared(records: list[GapRecord]) -> float | None:
    compared = sum(record.true_gap_tokens is not None for record in records)
    return compared / len(records) if compared else None


def share_captured(records: list[GapRecord]) -> float | None:
    """Return (sum z_JSQ - sum z_policy) / (sum z_JSQ - sum z*), None if JSQ leaves nothing."""
    optimum = sum(record.value_tokens - record.gap_tokens for record in records)
    jsq = sum(record.jsq_value_tokens for record in records)
    policy = sum(record.value_tokens for record in records)
    return (jsq - policy) / (jsq - optimum) if jsq > optimum else None


@dataclass(frozen=True, kw_only=True, eq=False)
class GapReport(Report):
    """How far several policies are from the optimum on one trace.

    Attributes
    ----------
    policies
        One entry per policy and window.
    judged
        One entry per solved decision.
    series
        Per policy (name): start_s and imbalance_tokens of every iteration.
    settings, interrupted, failures
        See `Report`; a policy that failed in the middle of its run is a failure.
    """

    stem = "gaps"
    schema = "olprouting/gaps/1"
    title = "Gaps to the optimum"

    policies: tuple[PolicyGaps, ...]
    judged: tuple[JudgedDecision, ...]
    series: dict[str, pd.DataFrame]

    @property
    def records(self) -> tuple[GapRecord, ...]:
        """Value, optimum and gap of each solved decision."""
        return tuple(one.record for one in self.judged)

    def heading(self) -> str:
        """Return in a line what was asked."""
        asked = self.settings
        return (
            f"{asked['trace']}: {asked['requests']} requests, {len(asked['slots'])} workers "
            f"x {max(asked['slots'])} slots, judged by {asked['solver']}"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row per policy and window, and one per solved decision."""
        return {"gaps": frame_of(PolicyGaps, self.policies), "decisions": self.records_frame()}

    def records_frame(self) -> pd.DataFrame:
        """Return one row per solved decision."""
        return frame_of(GapRecord, self.records)

    def results(self) -> dict[str, Any]:
        """Return the policies as plain JSON types."""
        return {"policies": [asdict(entry) for entry in self.policies]}

    def summary(self) -> str:
        """Return one aligned line per policy and window."""
        columns = ("policy", "horizon", "mean_imbalance_tokens", "gap_mean_tokens", "gap_mean")
        shares = ("share_optimal", "share_captured", "share_proven")
        return str(self.to_frame()[[*columns, *shares]].to_string(index=False))

    def tables(self) -> tuple[Table, ...]:
        """Return shares, gaps, parts of the error where there is a forecast, and times."""
        return gap_tables(self.policies)

    def notes(self) -> tuple[str, ...]:
        """Return what became of the trace."""
        return tuple(self.settings["notices"])

    def figures(self) -> dict[str, Draw]:
        """Return the function that draws the figure."""
        return {"gaps": self.plot}

    def plot(self) -> Figure:
        """Draw the gap distributions and the imbalance over time; return the figure."""
        from olprouting.plots.gaps import plot_gaps

        return plot_gaps(self.records_frame(), self.series)
