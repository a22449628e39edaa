"""What the balance paper proves, in numbers, and the exact imbalance of FCFS policies."""

from olprouting.theory.law_source import read_prompt_law
from olprouting.theory.prompt_law import PromptLaw
from olprouting.theory.report import TheoryReport
from olprouting.theory.stationary import (
    StationaryImbalance,
    certified_ratio,
    stationary_imbalance,
)
from olprouting.theory.supply import SupplyCheck, check_supply
from olprouting.theory.theorem import TheoremConstants, constants
from olprouting.theory.worker_load import WorkerLoadLaw, worker_load_law

__all__ = [
    "PromptLaw",
    "StationaryImbalance",
    "SupplyCheck",
    "TheoremConstants",
    "TheoryReport",
    "WorkerLoadLaw",
    "certified_ratio",
    "check_supply",
    "constants",
    "read_prompt_law",
    "stationary_imbalance",
    "worker_load_law",
]
