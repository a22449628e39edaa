"""Hindsight: what any router could have done on a trace, from both sides.

`reward` bounds the reward that any router could have collected, `imbalance` the imbalance that any
maximal policy must leave; both show a schedule close to their bound.
"""

from olprouting.hindsight.imbalance.ratio import ImbalanceRatio, imbalance_ratio
from olprouting.hindsight.imbalance.result import ImbalanceResult
from olprouting.hindsight.imbalance.run import imbalance_bound
from olprouting.hindsight.imbalance.search import hindsight_imbalance
from olprouting.hindsight.reward.check import schedule_fault
from olprouting.hindsight.reward.price_policy import hindsight_price
from olprouting.hindsight.reward.problem import HindsightProblem
from olprouting.hindsight.reward.ratio import CertifiedRatio, certified_ratio
from olprouting.hindsight.reward.result import HindsightResult
from olprouting.hindsight.reward.solve import hindsight, solve_hindsight
from olprouting.hindsight.schedule import Schedule

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
    "hindsight_price",
    "imbalance_bound",
    "imbalance_ratio",
    "schedule_fault",
    "solve_hindsight",
]
