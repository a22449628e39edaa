"""Floor 0, what is given: clusters, traces, decisions and the results of solving them."""

from olprouting.instances.cluster import Cluster, PowerModel, StepTime
from olprouting.instances.decision import Decision, Growth
from olprouting.instances.gap import absolute_gap, relative_gap
from olprouting.instances.solve_result import PROOF_TOLERANCE_TOKENS, SolveResult, StopReason
from olprouting.instances.trace import Trace

__all__ = [
    "PROOF_TOLERANCE_TOKENS",
    "Cluster",
    "Decision",
    "Growth",
    "PowerModel",
    "SolveResult",
    "StepTime",
    "StopReason",
    "Trace",
    "absolute_gap",
    "relative_gap",
]
