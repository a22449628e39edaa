"""The solvers by name: which there are, which can be used here, and loading one.

``auto``, ``native``, ``highs``, ``cpsat`` and ``brute-force`` are our own backends. Any solver that
Pyomo knows may be named as ``pyomo:<name>``, or plainly where it is one of the usual MIP solvers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from olprouting.errors import InputError, SolverUnavailableError, unknown_name

if TYPE_CHECKING:
    from olprouting.exact.backend import Backend

_OWN = {
    "auto": ("olprouting.exact.auto", "Auto"),
    "brute-force": ("olprouting.exact.brute_force", "BruteForce"),
    "cpsat": ("olprouting.exact.cpsat", "CpSat"),
    "highs": ("olprouting.exact.highs", "Highs"),
    "native": ("olprouting.exact.native", "Native"),
}

_PYOMO_PREFIX = "pyomo:"

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


def solver_names() -> list[str]:
    """Return the solver names that `solve` knows, installed or not (``pyomo:<name>`` aside)."""
    return sorted([*_OWN, *PYOMO_MIP_SOLVERS])


def available_solvers() -> list[str]:
    """Return the solver names that can be used on this machine.

    Asks each solver, which may look for programs and licences.
    """
    return [name for name in solver_names() if why_unavailable(name) is None]


def why_unavailable(name: str) -> str | None:
    """Return why the solver `name` cannot be used here, or None if it can.

    Raises
    ------
    InputError
        If no solver has this name.
    """
    try:
        load(name)
    except SolverUnavailableError as error:
        return str(error)
    return None


def formulations_of(name: str) -> tuple[str, ...]:
    """Return the formulations that the solver `name` takes, its default first.

    Raises
    ------
    InputError
        As `load` does.
    """
    return load(name).abilities.formulations


def load(name: str) -> Backend:
    """Return the backend of the solver `name`.

    Raises
    ------
    InputError
        If no solver has this name; the message lists those that can be used.
    SolverUnavailableError
        If it is not installed or not licensed here.
    """
    if name in _OWN:
        module, backend_class = _OWN[name]
        try:
            backend: Backend = getattr(import_module(module), backend_class)()
        except ImportError as error:
            raise SolverUnavailableError(
                f"solver {name!r} cannot be imported: {error}; see `olprouting doctor`"
            ) from None
        return backend
    if name in PYOMO_MIP_SOLVERS or name.startswith(_PYOMO_PREFIX):
        from olprouting.exact.pyomo_solver import PyomoSolver

        try:
            return PyomoSolver(name.removeprefix(_PYOMO_PREFIX))
        except SolverUnavailableError:
            raise
        except InputError as error:
            if name in PYOMO_MIP_SOLVERS:  # a newer Pyomo would know it
                raise SolverUnavailableError(str(error)) from None
            raise
    unknown = unknown_name("solver", name, solver_names())
    raise InputError(f"{unknown} Available here: {', '.join(available_solvers())}.")
