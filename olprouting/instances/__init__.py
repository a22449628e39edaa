"""What is given: clusters, traces, decisions and the results of solving them."""

from olprouting.instances.cluster import Cluster, PowerModel, StepTime
from olprouting.instances.decision import Decision, Growth
from olprouting.instances.period_problem import PeriodProblem
from olprouting.instances.period_result import NoPricesError, PeriodPrices, PeriodResult
from olprouting.instances.request_curves import Batching
from olprouting.instances.result import (
    PROOF_TOLERANCE_TOKENS,
    Assignment,
    DecisionResult,
    Result,
    Sense,
    StopReason,
    absolute_gap,
    relative_gap,
)
from olprouting.instances.slo_classes import SloClasses
from olprouting.instances.slo_weights import WEIGHT_SETS, SloWeights
from olprouting.instances.trace import Trace

__all__ = [
    "PROOF_TOLERANCE_TOKENS",
    "WEIGHT_SETS",
    "Assignment",
    "Batching",
    "Cluster",
    "Decision",
    "DecisionResult",
    "Growth",
    "NoPricesError",
    "PeriodPrices",
    "PeriodProblem",
    "PeriodResult",
    "PowerModel",
    "Result",
    "Sense",
    "SloClasses",
    "SloWeights",
    "StepTime",
    "StopReason",
    "Trace",
    "absolute_gap",
    "relative_gap",
]
