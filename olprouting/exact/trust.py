"""Which of a solver's own options leave its bounds what they are.

An objective bound, a tolerance or a cut-off increment given by its native name makes a solver call
optimal what is not, and nothing in its answer shows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from olprouting.exact.backend import Outcome

EXACT: Final = ("native", "cpsat", "brute-force")
"""Solvers without tolerances: no option of theirs makes a bound false. Where others prove nothing
they are asked in this order."""

HIGHS: Final = frozenset(
    {
        "log_dev_level",
        "log_file",
        "log_to_console",
        "mip_abs_gap",
        "mip_allow_restart",
        "mip_detect_symmetry",
        "mip_heuristic_effort",
        "mip_heuristic_run_feasibility_jump",
        "mip_heuristic_run_rens",
        "mip_heuristic_run_rins",
        "mip_heuristic_run_root_reduced_cost",
        "mip_max_improving_sols",
        "mip_max_leaves",
        "mip_max_nodes",
        "mip_max_stall_nodes",
        "mip_rel_gap",
        "output_flag",
        "parallel",
        "presolve",
        "random_seed",
        "threads",
        "time_limit",
    }
)
"""Options of HiGHS that say how to search and when to stop."""


def without_doubtful_bound(
    outcome: Outcome[Any], solver: str, native: Iterable[str]
) -> Outcome[Any]:
    """Return an outcome without its bound where native options may change what that proves."""
    doubtful = doubtful_options(solver, native)
    if not doubtful:
        return outcome
    message = f"{outcome.message}; no bound is taken: {', '.join(doubtful)} may change it"
    return replace(outcome, bound=None, message=message)


def doubtful_options(solver: str, native: Iterable[str]) -> list[str]:
    """Return which of these native options may change what a solver's bound proves.

    Parameters
    ----------
    solver
        The solver's name, as `olprouting.exact.solve` takes it.
    native
        Names of options given in ``SolveOptions.native``.
    """
    names = set(native)
    if not names or solver in EXACT:
        return []
    if solver in ("highs", "auto"):
        return sorted(names - HIGHS)
    from olprouting.exact.pyomo_solver import NATIVE_NAMES  # Pyomo: only if it is used

    plain = solver.removeprefix("pyomo:")
    harmless = set(NATIVE_NAMES.get(plain, {}).values())
    return sorted(names - harmless - (HIGHS if "highs" in plain else set()))
