"""What bid prices achieve on a trace, and how far they are from exact ones."""

from olprouting.price_report.bounds import BoundProof
from olprouting.price_report.frontier import (
    METRICS,
    ParetoFront,
    ParetoPoint,
    non_dominated,
    pareto,
    weight_sweep,
)
from olprouting.price_report.judge import PeriodRecord, judge_period
from olprouting.price_report.limits import require_equal_limits
from olprouting.price_report.report import PriceQuality, PriceReport, StartsQuality
from olprouting.price_report.run_outcome import RunOutcome, collected_reward, requests_of
from olprouting.price_report.sampled_period import SampledPeriod
from olprouting.price_report.study import DEFAULT_POLICIES, measure_prices

__all__ = [
    "DEFAULT_POLICIES",
    "METRICS",
    "BoundProof",
    "ParetoFront",
    "ParetoPoint",
    "PeriodRecord",
    "PriceQuality",
    "PriceReport",
    "RunOutcome",
    "SampledPeriod",
    "StartsQuality",
    "collected_reward",
    "judge_period",
    "measure_prices",
    "non_dominated",
    "pareto",
    "requests_of",
    "require_equal_limits",
    "weight_sweep",
]
