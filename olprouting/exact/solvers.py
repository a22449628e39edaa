"""The solvers by name: which there are for decisions and periods, what each can do, loading one.

========================  ================================  ================================
solver                    formulations of a decision        formulations of a period
========================  ================================  ================================
``auto``                  combined: native, then highs      those of highs
``native``                workers                           none
``highs``                 size-class, assignment            lp, integer, dual, reduced-dual
``cpsat``                 size-class, assignment            none
``brute-force``           enumeration                       none
``pyomo:<name>``          size-class, assignment            lp, integer
``cvxpy:<name>``          none                              lp, dual, reduced-dual
========================  ================================  ================================

A plain name of one of the usual MIP solvers means Pyomo's for a decision; of an LP solver, CVXPY's
for a period.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from olprouting.errors import InputError, SolverUnavailableError, unknown_name
from olprouting.exact.options import DEFAULT_SOLVER
from olprouting.instances import Decision, PeriodProblem

if TYPE_CHECKING:
    from olprouting.exact.backend import Backend

    Kind = type[Decision] | type[PeriodProblem]

_OWN = {
    "auto": ("olprouting.exact.auto", "Auto"),
    "brute-force": ("olprouting.exact.brute_force", "BruteForce"),
    "cpsat": ("olprouting.exact.cpsat", "CpSat"),
    "highs": ("olprouting.exact.highs", "Highs"),
    "native": ("olprouting.exact.native", "Native"),
}

_PYOMO, _CVXPY = "pyomo:", "cvxpy:"

PYOMO_MIP_SOLVERS = (
    "appsi_cbc",
    "appsi_cplex",
    "appsi_gurobi",
    "appsi_highs",
    "cbc",
    "cplex",
    "glpk",
    "gurobi",
    "gurobi_direct",
    "gurobi_persistent",
    "scip",
    "scip_direct",
    "xpress",
)
"""Pyomo's MIP solvers that go by their plain names too. Its others include continuous solvers,
which would quietly ignore that a variable is integer; ``pyomo:<name>`` reaches them all."""

PERIOD_FORMULATIONS = ("lp", "integer", "dual", "reduced-dual")

_FOR_WHOLE_STARTS = (DEFAULT_SOLVER, "highs")


def solver_names(kind: Kind = Decision) -> list[str]:
    """Return the solver names that `solve` knows for `kind`.

    Parameters
    ----------
    kind
        `Decision` or `PeriodProblem`. Solvers for decisions are named whether installed or not,
        ``pyomo:<name>`` aside; for periods they are those of CVXPY that are installed.
    """
    if kind is PeriodProblem:
        from olprouting.exact.period.cvxpy_solver import installed_solvers

        return sorted([DEFAULT_SOLVER, *map(str.lower, installed_solvers())])
    return sorted([*_OWN, *PYOMO_MIP_SOLVERS])


def available_solvers(kind: Kind = Decision) -> list[str]:
    """Return the solver names that can be used on this machine for `kind`.

    Asks each solver, which may look for programs and licences.
    """
    return [name for name in solver_names(kind) if why_unavailable(name, kind) is None]


def why_unavailable(name: str, kind: Kind = Decision) -> str | None:
    """Return why the solver `name` cannot be used here for `kind`, or None if it can.

    Raises
    ------
    InputError
        If no solver has this name.
    """
    try:
        load(name, kind)
    except SolverUnavailableError as error:
        return str(error)
    return None


def formulations_of(name: str, kind: Kind = Decision) -> tuple[str, ...]:
    """Return the formulations of `kind` that the solver `name` takes, its default first.

    Raises
    ------
    InputError
        As `load` does.
    """
    backend = load(name, kind)
    if kind is Decision:
        return backend.abilities.formulations
    if name.startswith(_PYOMO):
        return ("lp", "integer")
    whole = name in _FOR_WHOLE_STARTS
    return tuple(one for one in PERIOD_FORMULATIONS if whole or one != "integer")


def load(name: str, kind: Kind = Decision, formulation: str = "lp") -> Backend:
    """Return the backend of the solver `name`.

    Parameters
    ----------
    name
        The solver.
    kind
        What it is to solve.
    formulation
        Of a period: which, as HiGHS solves them in different ways.

    Raises
    ------
    InputError
        If no solver has this name (the message lists those that can be used), or it does not solve
        this formulation of a period.
    SolverUnavailableError
        If it is not installed or not licensed here.
    """
    return _for_period(name, formulation) if kind is PeriodProblem else _for_decision(name)


def _for_decision(name: str) -> Backend:
    if name in _OWN:
        module, backend_class = _OWN[name]
        try:
            backend: Backend = getattr(import_module(module), backend_class)()
        except ImportError as error:
            raise SolverUnavailableError(
                f"solver {name!r} cannot be imported: {error}; see `olprouting doctor`"
            ) from None
        return backend
    if name in PYOMO_MIP_SOLVERS or name.startswith(_PYOMO):
        from olprouting.exact.pyomo_solver import PyomoSolver

        try:
            return PyomoSolver(name.removeprefix(_PYOMO))
        except SolverUnavailableError:
            raise
        except InputError as error:
            if name in PYOMO_MIP_SOLVERS:  # a newer Pyomo would know it
                raise SolverUnavailableError(str(error)) from None
            raise
    unknown = unknown_name("solver", name, solver_names())
    raise InputError(f"{unknown} Available here: {', '.join(available_solvers())}.")


def _for_period(name: str, formulation: str) -> Backend:
    if formulation not in PERIOD_FORMULATIONS:
        raise unknown_name("formulation", formulation, PERIOD_FORMULATIONS)
    if name.startswith(_PYOMO):
        if formulation not in ("lp", "integer"):
            raise InputError(
                f"formulation {formulation!r} is a CVXPY model; {name!r} solves lp and integer"
            )
        from olprouting.exact.pyomo_solver import PyomoSolver

        return PyomoSolver(name.removeprefix(_PYOMO))
    if formulation == "integer":
        if name not in _FOR_WHOLE_STARTS:
            raise InputError(
                f"solver {name!r} does not solve formulation 'integer'; highs and pyomo:<name> do"
            )
        from olprouting.exact.highs import Highs

        return Highs()
    from olprouting.exact.period.cvxpy_solver import Cvxpy

    return Cvxpy(name.removeprefix(_CVXPY))
