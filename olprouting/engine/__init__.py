"""Floor 3, the barrier model: replay a trace under a routing rule."""

from olprouting.engine.metrics import Metrics, Quantiles
from olprouting.engine.replay import replay_policy
from olprouting.engine.result import SimulationResult
from olprouting.engine.simulate import DecisionEvent, simulate

__all__ = [
    "DecisionEvent",
    "Metrics",
    "Quantiles",
    "SimulationResult",
    "replay_policy",
    "simulate",
]
