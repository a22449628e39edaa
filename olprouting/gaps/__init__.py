"""How far routing policies are from the proven optimum of each decision."""

from olprouting.gaps.measure import GapRecord, Judge, JudgedDecision
from olprouting.gaps.policy_gaps import PolicyGaps
from olprouting.gaps.report import GapReport
from olprouting.gaps.runs import PolicyRun
from olprouting.gaps.sampling import SampledDecision, SampledRun, sample_run
from olprouting.gaps.study import DEFAULT_POLICIES, measure_gaps

__all__ = [
    "DEFAULT_POLICIES",
    "GapRecord",
    "GapReport",
    "Judge",
    "JudgedDecision",
    "PolicyGaps",
    "PolicyRun",
    "SampledDecision",
    "SampledRun",
    "measure_gaps",
    "sample_run",
]
