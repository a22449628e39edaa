"""Routing of LLM requests to decode workers: exact models, fast rules, and the gap between them.

The names below are loaded when first used, so that ``import olprouting as olp`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olprouting.certificates import certificate as certificate
    from olprouting.certificates import verify as verify
    from olprouting.engine import KvOptions as KvOptions
    from olprouting.engine import SimulationResult as SimulationResult
    from olprouting.engine import replay_policy as replay_policy
    from olprouting.engine import simulate as simulate
    from olprouting.errors import InputError as InputError
    from olprouting.exact import SolveOptions as SolveOptions
    from olprouting.exact import export as export
    from olprouting.exact import objective as objective
    from olprouting.exact import recheck as recheck
    from olprouting.exact import solve as solve
    from olprouting.exact import solver_names as solver_names
    from olprouting.forecast_report import ForecastReport as ForecastReport
    from olprouting.forecast_report import evaluate_forecasts as evaluate_forecasts
    from olprouting.forecasts import ExactMatch as ExactMatch
    from olprouting.forecasts import KaplanMeier as KaplanMeier
    from olprouting.forecasts import NoisyOracle as NoisyOracle
    from olprouting.forecasts import Oracle as Oracle
    from olprouting.forecasts import Survival as Survival
    from olprouting.forecasts import make_forecast as make_forecast
    from olprouting.forecasts.learned import LearnedModel as LearnedModel
    from olprouting.forecasts.learned import TrainingOptions as TrainingOptions
    from olprouting.forecasts.learned import train_learned as train_learned
    from olprouting.gaps import GapReport as GapReport
    from olprouting.gaps import measure_gaps as measure_gaps
    from olprouting.instances import Cluster as Cluster
    from olprouting.instances import Decision as Decision
    from olprouting.instances import DecisionResult as DecisionResult
    from olprouting.instances import Growth as Growth
    from olprouting.instances import PeriodProblem as PeriodProblem
    from olprouting.instances import PeriodResult as PeriodResult
    from olprouting.instances import PowerModel as PowerModel
    from olprouting.instances import Result as Result
    from olprouting.instances import SloWeights as SloWeights
    from olprouting.instances import StepTime as StepTime
    from olprouting.instances import StopReason as StopReason
    from olprouting.instances import Trace as Trace
    from olprouting.library import best_known as best_known
    from olprouting.library import instance_names as instance_names
    from olprouting.library import load_instance as load_instance
    from olprouting.policies import BidPriceOptions as BidPriceOptions
    from olprouting.policies import PeriodOptions as PeriodOptions
    from olprouting.policies import Policy as Policy
    from olprouting.policies import PolicyOptions as PolicyOptions
    from olprouting.policies import View as View
    from olprouting.policies import decision_of as decision_of
    from olprouting.policies import make_policy as make_policy
    from olprouting.policies import policy_names as policy_names
    from olprouting.policies import register_policy as register_policy
    from olprouting.policies import view_of as view_of
    from olprouting.price_report import PriceReport as PriceReport
    from olprouting.price_report import measure_prices as measure_prices
    from olprouting.price_report import pareto as pareto
    from olprouting.studies import Study as Study
    from olprouting.studies import read_study as read_study
    from olprouting.studies import run_study as run_study
    from olprouting.studies import study_report as study_report
    from olprouting.studies import study_status as study_status
    from olprouting.traces import read_trace as read_trace
    from olprouting.traces import resolve as resolve
    from olprouting.traces import split_history as split_history
    from olprouting.traces import trace_names as trace_names
    from olprouting.traces import write_trace as write_trace

_MODULES = {
    "certificates": (
        "certificate",
        "verify",
    ),
    "engine": (
        "KvOptions",
        "SimulationResult",
        "replay_policy",
        "simulate",
    ),
    "errors": ("InputError",),
    "exact": (
        "SolveOptions",
        "export",
        "objective",
        "recheck",
        "solve",
        "solver_names",
    ),
    "forecast_report": (
        "ForecastReport",
        "evaluate_forecasts",
    ),
    "forecasts": (
        "ExactMatch",
        "KaplanMeier",
        "NoisyOracle",
        "Oracle",
        "Survival",
        "make_forecast",
    ),
    "forecasts.learned": (
        "LearnedModel",
        "TrainingOptions",
        "train_learned",
    ),
    "gaps": (
        "GapReport",
        "measure_gaps",
    ),
    "instances": (
        "Cluster",
        "Decision",
        "DecisionResult",
        "Growth",
        "PeriodProblem",
        "PeriodResult",
        "PowerModel",
        "Result",
        "SloWeights",
        "StepTime",
        "StopReason",
        "Trace",
    ),
    "library": (
        "best_known",
        "instance_names",
        "load_instance",
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
        "view_of",
    ),
    "price_report": (
        "PriceReport",
        "measure_prices",
        "pareto",
    ),
    "studies": (
        "Study",
        "read_study",
        "run_study",
        "study_report",
        "study_status",
    ),
    "traces": (
        "read_trace",
        "resolve",
        "split_history",
        "trace_names",
        "write_trace",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
