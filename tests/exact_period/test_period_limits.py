"""Limits, empty problems, silence, threads, Ctrl-C, and names that do not exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_processes import needs_sigint, python
from period_cases import e3, hard_integer, large_period, random_period

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, solve
from olprouting.instances import NoPricesError, StopReason

WAYS: list[dict[str, Any]] = [
    {"solver": "highs", "formulation": "lp"},
    {"solver": "highs", "formulation": "dual"},
    {"solver": "highs", "formulation": "reduced-dual"},
    {"solver": "highs", "formulation": "integer"},
    {"solver": "clarabel", "formulation": "lp"},
    {"solver": "pyomo:highs", "formulation": "lp"},
    {"solver": "pyomo:highs", "formulation": "integer"},
]


@pytest.mark.parametrize("way", WAYS)
def test_limit_zero_has_nothing(way: dict[str, Any]) -> None:
    # CVXPY with HiGHS gives a point here that violates rows, and value 0
    result = solve(e3(), options=SolveOptions(time_limit_s=0), **way)
    assert result.status == "limit_no_solution"
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert (result.value, result.x, result.relative_gap) == (None, None, None)
    with pytest.raises(NoPricesError):
        _ = result.prices


def test_an_iteration_limit_of_the_solver_gives_no_point() -> None:
    # CVXPY calls this user_limit and leaves the simplex's infeasible point in x.value
    native = {"presolve": "off", "simplex_iteration_limit": 1}
    result = solve(large_period(30, 2, 60), options=SolveOptions(native=native))
    assert result.stop_reason is StopReason.OTHER_LIMIT
    assert result.status == "limit_no_solution"
    assert (result.value, result.bound, result.x, result.priced) == (None, None, None, None)


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_a_time_limit_on_an_lp_is_named(solver: str) -> None:
    problem = large_period(200, 4, 1000)
    options = SolveOptions(time_limit_s=0.01)
    result = solve(problem, solver=solver, reduce_rows=False, options=options)
    assert result.status == "limit_no_solution"
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.limit_s == 0.01


@pytest.mark.parametrize("solver", ["highs", "pyomo:highs", "pyomo:appsi_highs"])
def test_a_time_limit_on_an_integer_program_keeps_the_incumbent(solver: str) -> None:
    how: dict[str, Any] = {"formulation": "integer", "prices": "lp-relaxation", "solver": solver}
    result = solve(hard_integer(), options=SolveOptions(time_limit_s=1), **how)
    assert result.status == "time_limit"
    assert result.value is not None
    assert result.bound is not None
    assert result.value < result.bound
    assert result.prices.source == "lp-relaxation"


def test_a_node_limit_is_told_from_a_time_limit() -> None:
    options = SolveOptions(node_limit=1, time_limit_s=60)
    result = solve(hard_integer(), formulation="integer", options=options)
    assert result.stop_reason is StopReason.NODE_LIMIT


def test_limits_count_each_solve_alone() -> None:
    for form in ("lp", "integer"):
        options = SolveOptions(time_limit_s=0.5)
        results = [solve(e3(), formulation=form, options=options) for _ in range(50)]
        assert {result.status for result in results} == {"optimal"}


@pytest.mark.parametrize("form", ["lp", "integer"])
def test_another_thread_count_in_one_process_is_fine(form: str) -> None:
    # HiGHS keeps the pool of its first use, and returns an error for another size
    for threads in (4, 1, 2):
        options = SolveOptions(threads=threads)
        assert solve(e3(), formulation=form, options=options).value == 44


@pytest.mark.parametrize("way", WAYS)
def test_nobody_waiting_is_a_valid_period(way: dict[str, Any]) -> None:
    empty = e3(copies=0)
    result = solve(empty, **way)
    assert (result.status, result.value, result.bound) == ("optimal", 0, 0)
    assert result.x is not None
    assert result.x.shape == (0, 1)
    if way["formulation"] != "integer":
        assert result.prices.batch.tolist() == [[0]]
        assert result.prices.unique is True


@pytest.mark.parametrize("way", WAYS)
def test_full_workers_start_nobody(way: dict[str, Any]) -> None:
    problem = random_period(0).replace(slots=np.zeros((2, 10), int))
    result = solve(problem, **way)
    assert result.bound == pytest.approx(0, abs=1e-6)
    assert result.x is None or result.x.sum() == 0
    assert result.oversize == tuple(range(8))


@pytest.mark.parametrize("way", WAYS)
def test_weights_of_zero_are_worth_nothing(way: dict[str, Any]) -> None:
    nothing = dict.fromkeys(("alpha", "beta", "gamma", "sigma", "zeta1", "zeta2"), 0.0)
    problem = random_period(0)
    result = solve(problem.replace(weights=problem.weights.replace(**nothing)), **way)
    assert result.bound == pytest.approx(0, abs=1e-6)


SILENT = """
import sys
sys.path.insert(0, {folder!r})
from period_cases import e3
from olprouting.exact import solve
for way in {ways!r}:
    solve(e3(), **way)
"""


def test_nothing_is_written_to_the_terminal() -> None:
    # HiGHS writes a banner once per process, whatever its options say
    script = SILENT.format(folder=str(Path(__file__).parent), ways=WAYS)
    run = python(script)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


INTERRUPTED = """
import json, os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
from period_cases import hard_integer, large_period
from olprouting.exact import solve

def interrupt():
    while not any("_in_thread" in thread.name for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep({after_s})
    os.kill(os.getpid(), signal.SIGINT)

problem = hard_integer() if {form!r} == "integer" else large_period(300, 8, 1000)
threading.Thread(target=interrupt, daemon=True).start()
result = solve(problem, formulation={form!r}, solver={solver!r}, reduce_rows={form!r} != "lp")
print(json.dumps([result.status, result.value]), flush=True)
os._exit(0)  # not waiting for a solver that cannot be stopped
"""


@needs_sigint
@pytest.mark.parametrize(
    ("form", "solver", "after_s"), [("integer", "highs", 3), ("lp", "clarabel", 0.2)]
)
def test_ctrl_c_returns_what_there_is(form: str, solver: str, after_s: float) -> None:
    # a solver's native code does not see Python's signal; what stops only then is never
    # interrupted, or beyond the child's limit
    folder = str(Path(__file__).parent)
    run = python(INTERRUPTED.format(folder=folder, form=form, solver=solver, after_s=after_s))
    assert run.returncode == 0, run.stderr
    status, value = json.loads(run.stdout)
    assert status == "interrupted"
    assert (value is not None) == (form == "integer")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"formulation": "ip"}, "unknown formulation 'ip'; known: dual, integer, lp, reduced-dual"),
        ({"solver": "glop2"}, r"unknown CVXPY solver 'glop2'; known: .*HIGHS"),
        ({"solver": "pyomo:hihgs"}, r"unknown Pyomo solver 'hihgs'.*Did you mean"),
        (
            {"solver": "clarabel", "formulation": "integer"},
            "does not solve formulation 'integer'; highs and",
        ),
        ({"solver": "pyomo:highs", "formulation": "dual"}, "formulation 'dual' is a CVXPY model"),
        ({"prices": "lp-relaxation"}, "is for formulation 'integer'"),
        ({"prices": "zeros", "formulation": "integer"}, "unknown source of prices 'zeros'"),
        ({"options": SolveOptions(node_limit=1)}, "node_limit is for formulation 'integer'"),
        ({"options": SolveOptions(warm_start=((0, 0),))}, "warm_start is for routing decisions"),
        ({"options": SolveOptions(on_incumbent=print)}, "on_incumbent is for routing decisions"),
        ({"options": SolveOptions(native={"nonsense": 1})}, "native options.*nonsense"),
        (
            {"options": SolveOptions(native={"nonsense": 1}), "formulation": "integer"},
            "unknown highs option 'nonsense'",
        ),
    ],
)
def test_what_cannot_be_done_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(e3(), **arguments)
