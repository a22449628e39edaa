"""The proven optimum of a routing decision or of a period, by any solver."""

from olprouting.exact.brute_force import assignments
from olprouting.exact.check import objective, recheck
from olprouting.exact.export import export
from olprouting.exact.options import DEFAULT_SOLVER, SolveOptions
from olprouting.exact.solve import solve
from olprouting.exact.solvers import (
    available_solvers,
    formulations_of,
    solver_names,
    why_unavailable,
)

__all__ = [
    "DEFAULT_SOLVER",
    "SolveOptions",
    "assignments",
    "available_solvers",
    "export",
    "formulations_of",
    "objective",
    "recheck",
    "solve",
    "solver_names",
    "why_unavailable",
]
