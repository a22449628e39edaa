"""Routing policies."""

from olprouting.options import BidPriceOptions, PeriodOptions, PolicyOptions
from olprouting.policies.exact import ExactPolicy, decision_of, view_of
from olprouting.policies.parameters import LoadWeights
from olprouting.policies.policy import REJECT, CompiledPolicy, FunctionPolicy, Pairs, Policy
from olprouting.policies.registry import (
    make_policy,
    policy_names,
    register_policy,
    weighted_load_policy,
)
from olprouting.policies.view import View
from olprouting.policies.worker_view import WorkerResiduals, WorkerView

__all__ = [
    "REJECT",
    "BidPriceOptions",
    "CompiledPolicy",
    "ExactPolicy",
    "FunctionPolicy",
    "LoadWeights",
    "Pairs",
    "PeriodOptions",
    "Policy",
    "PolicyOptions",
    "View",
    "WorkerResiduals",
    "WorkerView",
    "decision_of",
    "make_policy",
    "policy_names",
    "register_policy",
    "view_of",
    "weighted_load_policy",
]
