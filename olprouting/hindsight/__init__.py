"""Hindsight: what any router could have done on a trace, from both sides."""

from olprouting.hindsight.forced_bound import imbalance_bound
from olprouting.hindsight.imbalance import hindsight_imbalance
from olprouting.hindsight.imbalance_ratio import ImbalanceRatio, imbalance_ratio
from olprouting.hindsight.imbalance_result import ImbalanceResult
from olprouting.hindsight.problem import HindsightProblem
from olprouting.hindsight.ratio import CertifiedRatio, certified_ratio
from olprouting.hindsight.result import HindsightResult
from olprouting.hindsight.schedule import Schedule, schedule_fault
from olprouting.hindsight.solve import hindsight, solve_hindsight

__all__ = [
    "CertifiedRatio",
    "HindsightProblem",
    "HindsightResult",
    "ImbalanceRatio",
    "ImbalanceResult",
    "Schedule",
    "certified_ratio",
    "hindsight",
    "hindsight_imbalance",
    "imbalance_bound",
    "imbalance_ratio",
    "schedule_fault",
    "solve_hindsight",
]
