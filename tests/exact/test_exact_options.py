"""Neutral options, native options, and what happens with wrong ones."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, solve, why_unavailable
from olprouting.instances import Decision


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"time_limit_s": -1}, "time_limit_s = -1 must be a finite number >= 0"),
        ({"time_limit_s": float("nan")}, "time_limit_s = nan"),
        ({"relative_gap": -0.1}, "relative_gap = -0.1"),
        ({"node_limit": 1.5}, "node_limit = 1.5 must be an integer"),
        ({"threads": 0}, "threads = 0 must be an integer in 1"),
        ({"seed": -1}, "seed = -1"),
        ({"deterministic": True, "threads": 2}, "threads = 2 must be 1 when deterministic"),
    ],
)
def test_wrong_values_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SolveOptions(**wrong)


def test_numbers_that_are_none_are_refused_before_any_solver() -> None:
    # CP-SAT would take the nearest integer of NaN without a word
    with pytest.raises(InputError, match="must be a finite number"):
        Decision([[float("nan")], [4]], [1, 2], [2, 4, 4])


@pytest.mark.parametrize(
    ("solver", "native", "message"),
    [
        ("highs", {"mip_rel_gapp": 0.1}, "unknown highs option 'mip_rel_gapp'.*'mip_rel_gap'"),
        ("highs", {"presolve": True}, "highs option presolve = True: expected a string"),
        ("highs", {"mip_rel_gap": -1.0}, "highs option mip_rel_gap = -1.0"),
        ("cpsat", {"num_worker": 2}, "unknown cpsat option 'num_worker'.*'num_workers'"),
        ("cpsat", {"clear": 1}, "unknown cpsat option 'clear'"),
        ("cpsat", {"num_workers": "two"}, "cpsat option num_workers = 'two': expected a int"),
        ("brute-force", {"depth": 2}, "brute-force has no option 'depth'"),
    ],
)
def test_native_options_are_checked(
    e2: Decision, solver: str, native: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        solve(e2, solver=solver, options=SolveOptions(native=native))


@pytest.mark.parametrize(
    ("solver", "native"),
    [("highs", {"presolve": "on"}), ("cpsat", {"linearization_level": 2})],
)
def test_native_options_are_passed(e2: Decision, solver: str, native: dict[str, Any]) -> None:
    assert solve(e2, solver=solver, options=SolveOptions(native=native)).value == 1


@pytest.mark.parametrize("solver", ["highs", "appsi_highs", "cpsat"])
def test_threads_may_change_within_a_process(e2: Decision, solver: str) -> None:
    # HiGHS's pool keeps its first size; through Pyomo the second solve said "unknown"
    for threads in (4, 1, 2):
        result = solve(e2, solver=solver, options=SolveOptions(threads=threads))
        assert (result.status, result.value, result.threads) == ("optimal", 1, threads)


def test_another_users_thread_count_does_not_matter(e2: Decision) -> None:
    # CVXPY and others use the same highspy in the same process
    import highspy

    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.addVar(0, 1)
    other.setOptionValue("threads", 3)
    highspy.Highs.resetGlobalScheduler(True)
    other.run()
    assert solve(e2, solver="highs").value == 1


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_deterministic_runs_are_equal(hard: Decision, e2: Decision, solver: str) -> None:
    options = SolveOptions(deterministic=True, seed=7)
    found = {solve(e2, solver=solver, options=options).assignment for _ in range(20)}
    assert len(found) == 1


def test_cpsat_stops_at_a_deterministic_limit(hard: Decision) -> None:
    # wall-clock limits cut at another point in every run
    options = SolveOptions(deterministic=True, time_limit_s=0.3)
    found = {solve(hard, solver="cpsat", options=options).assignment for _ in range(3)}
    assert len(found) == 1


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_any_seed_has_the_same_optimum(e2: Decision, solver: str) -> None:
    values = {solve(e2, solver=solver, options=SolveOptions(seed=s)).value for s in range(5)}
    assert values == {1}


QUIET = """
from olprouting.exact import SolveOptions, export, solve
from olprouting.instances import Decision
e2 = Decision([[9], [7], [2]], [1, 1, 2], [5, 3, 3])
for solver in {solvers!r}:
    for threads in (1, 2):
        assert solve(e2, solver=solver, options=SolveOptions(threads=threads)).value == 1
"""


@pytest.mark.parametrize(
    "solvers",
    [("highs", "appsi_highs", "cpsat", "brute-force"), ("appsi_highs", "highs")],
    ids=["ours first", "Pyomo's first"],
)
def test_silence_is_zero_bytes(solvers: tuple[str, ...]) -> None:
    # highspy prints a banner once per process, before output can be switched off
    run = subprocess.run(
        [sys.executable, "-c", QUIET.format(solvers=solvers)], capture_output=True, check=True
    )
    assert (run.stdout, run.stderr) == (b"", b"")


@pytest.mark.parametrize("solver", ["highs", "cpsat", "appsi_highs"])
def test_verbose_speaks(solver: str) -> None:
    script = (
        "from olprouting.exact import SolveOptions, solve\n"
        "from olprouting.instances import Decision\n"
        "e2 = Decision([[9], [7], [2]], [1, 1, 2], [5, 3, 3])\n"
        f"solve(e2, solver={solver!r}, options=SolveOptions(verbose=True))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert len(run.stdout) > 100


@pytest.mark.parametrize(
    ("solver", "native"),
    [
        ("highs", {"objective_bound": 1.0}),
        ("highs", {"small_matrix_value": 0.5}),
        ("auto", {"objective_bound": 1.0}),
        ("appsi_highs", {"objective_bound": 1.0}),
        ("cbc", {"increment": 1e5}),
        ("cbc", {"integerTolerance": 0.4}),
        ("appsi_cbc", {"allowableGap": 1e6}),
    ],
)
def test_an_option_that_changes_what_a_proof_means_ends_all_proof(solver, native) -> None:
    """Catches `optimal` 15 where 3 is possible: the solver was told to stop looking."""
    if why_unavailable(solver) is not None:
        pytest.skip(f"{solver} is not installed here")
    decision = Decision([[50], [20], [0]], [2, 2, 2], [31, 17, 45, 23, 38, 9, 12, 27])
    result = solve(decision, solver=solver, options=SolveOptions(native=native))
    assert (result.bound, result.proven) == (None, False)
    assert f"no bound is taken: {next(iter(native))} may change it" in result.message


def test_an_option_that_only_says_how_to_search_keeps_the_proof(e2: Decision) -> None:
    options = SolveOptions(native={"presolve": "on", "mip_heuristic_effort": 0.0})
    assert solve(e2, solver="highs", options=options).status == "optimal"


def test_glpk_prunes_by_a_part_of_the_value() -> None:
    """GLPK's bound lay 3e-4 above the optimum and closed the gap: a wrong optimum, proven."""
    if why_unavailable("glpk") is not None:
        pytest.skip("glpk is not installed here")
    decision = Decision(
        [[176, 834, 840], [838, 539, 7], [45, 440, 874]],
        [1, 2, 3],
        [804, 285, 425, 135, 880],
        gamma="0.999999",
        growth="frozen",
    )
    best = solve(decision, solver="brute-force").value
    result = solve(decision, solver="glpk")
    assert result.bound <= best
    assert not result.proven
    gap = solve(decision, solver="glpk", options=SolveOptions(relative_gap=0.99))
    assert gap.status in ("optimal_within_gap", "other_limit")


@pytest.mark.parametrize("name", ["gdpopt.loa", "multistart"])
def test_a_name_of_pyomo_that_solves_no_such_model_is_one_line(e2: Decision, name: str) -> None:
    """Catches a traceback for a name that Pyomo knows and that is no MIP solver."""
    with pytest.raises(InputError, match=r"^[^\n]*$"):
        solve(e2, solver=f"pyomo:{name}")
