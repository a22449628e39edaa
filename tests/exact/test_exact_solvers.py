"""Solvers by name: known, available, unknown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from olprouting.errors import InputError, SolverUnavailableError
from olprouting.exact import (
    SolveOptions,
    available_solvers,
    solve,
    solver_names,
    why_unavailable,
)
from olprouting.instances import Decision, StopReason


def test_a_typo_lists_the_solvers_and_suggests_one(e2: Decision) -> None:
    # falling back to another solver silently would change what a study measures
    with pytest.raises(InputError, match=r"'gruobi'.*mean 'gurobi'\?.*here: .*cpsat,.* highs"):
        solve(e2, solver="gruobi")


def test_an_unknown_pyomo_name_is_refused(e2: Decision) -> None:
    with pytest.raises(InputError, match=r"unknown Pyomo solver 'higs'.*'highs'"):
        solve(e2, solver="pyomo:higs")


def test_any_pyomo_solver_may_be_named(e2: Decision) -> None:
    result = solve(e2, solver="pyomo:highs")
    assert (result.solver, result.value) == ("pyomo:highs", 1)


@pytest.mark.parametrize("name", available_solvers())
def test_every_available_solver_solves_e2_and_keeps_its_limit(
    e2: Decision, hard: Decision, name: str
) -> None:
    # which solvers these are depends on the machine; GLPK hides a solution at its limit behind
    # the condition "other", and Gurobi's older interface ignores Pyomo's own time limit
    assert solve(e2, solver=name).value == 1
    if name == "brute-force":
        return  # refuses the hard one
    result = solve(hard, solver=name, options=SolveOptions(time_limit_s=0.5))
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.wall_s < 10 * result.limit_s  # relative: machines differ


def test_a_known_solver_that_is_not_here_says_so(e2: Decision) -> None:
    missing = set(solver_names()) - set(available_solvers())
    if not missing:
        pytest.skip("every known solver is installed")
    name = sorted(missing)[0]
    with pytest.raises(SolverUnavailableError, match=name):
        solve(e2, solver=name)
    assert why_unavailable(name)


def test_our_own_solvers_are_always_there() -> None:
    assert {"auto", "native", "highs", "cpsat", "brute-force", "appsi_highs"} <= set(
        available_solvers()
    )


def test_an_unknown_formulation_lists_those_of_the_solver(e2: Decision) -> None:
    with pytest.raises(InputError, match="'sizeclass'; known: assignment, size-class"):
        solve(e2, solver="highs", formulation="sizeclass")


def test_brute_force_refuses_what_it_cannot_enumerate(hard: Decision) -> None:
    with pytest.raises(InputError, match="assignments exceed 200000; use another solver"):
        solve(hard, solver="brute-force")


def test_weights_that_leave_64_bits_are_rounded_and_the_bound_still_holds() -> None:
    """50^80 does not fit: catches a refusal, and rounded weights that are said to prove more."""
    decision = Decision([[5] * 81, [9] * 81], [1, 1], [3, 4], gamma="0.86")
    exact, rounded = solve(decision, solver="highs"), solve(decision, solver="cpsat")
    assert rounded.value == pytest.approx(exact.value)
    assert rounded.bound <= exact.value + 1e-6
    assert rounded.bound == pytest.approx(exact.value, abs=1e-3)


def test_every_native_status_has_a_stop_reason() -> None:
    # a status that is missing from a table would surface as KeyError in a long run
    from highspy import HighsModelStatus
    from ortools.sat.python import cp_model
    from pyomo.opt import TerminationCondition

    from olprouting.exact import cpsat, highs, pyomo_solver

    assert set(highs.STOP_REASONS) >= set(HighsModelStatus.__members__)
    assert set(pyomo_solver.STOP_REASONS) == set(TerminationCondition)
    native = ("OPTIMAL", "FEASIBLE", "INFEASIBLE", "MODEL_INVALID", "UNKNOWN")
    assert set(cpsat.STOP_REASONS) == {getattr(cp_model, name) for name in native}


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_import_order_does_not_matter(order: int) -> None:
    # shared libraries of pyarrow, pandas and OR-Tools have crashed each other
    modules = ["pandas", "pyarrow", "highspy", "ortools.sat.python.cp_model"][::order]
    script = "\n".join(f"import {module}" for module in modules) + (
        "\nfrom olprouting.exact import solve"
        "\nfrom olprouting.instances import Decision"
        "\ne1 = Decision([[10], [4]], [1, 2], [2, 4, 4])"
        "\nassert [solve(e1, solver=s).value for s in ('highs', 'cpsat')] == [0, 0]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_loads_no_solver() -> None:
    script = (
        "import sys, olprouting.exact, olprouting.cli.solve, olprouting.cli.doctor\n"
        "assert not {'pyomo', 'highspy', 'ortools', 'cvxpy', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
