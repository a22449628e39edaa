"""The engine: run a trace under a routing policy, by either of two clocks."""

from olprouting.engine.metrics import (
    KvMetrics,
    Metrics,
    PeriodMetrics,
    PeriodQuantiles,
    Quantiles,
    WaitingWindow,
)
from olprouting.engine.replay import replay_policy
from olprouting.engine.result import SimulationResult
from olprouting.engine.simulate import DecisionEvent, simulate
from olprouting.options import Clock, Dispatch, KvMode, KvOptions, Oversize

__all__ = [
    "Clock",
    "DecisionEvent",
    "Dispatch",
    "KvMetrics",
    "KvMode",
    "KvOptions",
    "Metrics",
    "Oversize",
    "PeriodMetrics",
    "PeriodQuantiles",
    "Quantiles",
    "SimulationResult",
    "WaitingWindow",
    "replay_policy",
    "simulate",
]
