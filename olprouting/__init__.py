"""Routing of LLM requests to decode workers: exact models, fast rules, and the gap between them.

The names below are loaded when first used, so that ``import olprouting as olp`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olprouting.engine import SimulationResult, replay_policy, simulate
    from olprouting.errors import InputError
    from olprouting.exact import SolveOptions, export, objective, recheck, solve, solver_names
    from olprouting.forecasts import NoisyOracle, Oracle, make_forecast
    from olprouting.gaps import GapReport, measure_gaps
    from olprouting.instances import (
        Cluster,
        Decision,
        Growth,
        PowerModel,
        SloWeights,
        SolveResult,
        StepTime,
        StopReason,
        Trace,
    )
    from olprouting.policies import (
        BidPriceOptions,
        PeriodOptions,
        Policy,
        PolicyOptions,
        View,
        decision_of,
        make_policy,
        policy_names,
        register_policy,
    )
    from olprouting.price_report import PriceReport, measure_prices
    from olprouting.traces import read_trace, resolve, trace_names, write_trace

_MODULES = {
    "engine": ("SimulationResult", "replay_policy", "simulate"),
    "errors": ("InputError",),
    "exact": ("SolveOptions", "export", "objective", "recheck", "solve", "solver_names"),
    "forecasts": ("NoisyOracle", "Oracle", "make_forecast"),
    "gaps": ("GapReport", "measure_gaps"),
    "instances": (
        "Cluster",
        "Decision",
        "Growth",
        "PowerModel",
        "SloWeights",
        "SolveResult",
        "StepTime",
        "StopReason",
        "Trace",
    ),
    "policies": (
        "BidPriceOptions",
        "PeriodOptions",
        "Policy",
        "PolicyOptions",
        "View",
        "decision_of",
        "make_policy",
        "policy_names",
        "register_policy",
    ),
    "price_report": ("PriceReport", "measure_prices"),
    "traces": ("read_trace", "resolve", "trace_names", "write_trace"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "BidPriceOptions",
    "Cluster",
    "Decision",
    "GapReport",
    "Growth",
    "InputError",
    "NoisyOracle",
    "Oracle",
    "PeriodOptions",
    "Policy",
    "PolicyOptions",
    "PowerModel",
    "PriceReport",
    "SimulationResult",
    "SloWeights",
    "SolveOptions",
    "SolveResult",
    "StepTime",
    "StopReason",
    "Trace",
    "View",
    "decision_of",
    "export",
    "make_forecast",
    "make_policy",
    "measure_gaps",
    "measure_prices",
    "objective",
    "policy_names",
    "read_trace",
    "recheck",
    "register_policy",
    "replay_policy",
    "resolve",
    "simulate",
    "solve",
    "solver_names",
    "trace_names",
    "write_trace",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
