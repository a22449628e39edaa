"""``olprouting doctor``: what is installed here, and whether every solver works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Callable


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Print versions and solve a tiny decision with every solver; exit 1 if one fails."""
    installed = versions()
    checks = check_solvers()
    healthy = all(check["finding"] == "ok" for check in checks if check["installed"])
    if as_json:
        typer.echo(json.dumps({"versions": installed, "solvers": checks, "healthy": healthy}))
    else:
        _print(installed, checks)
    if not healthy:
        raise typer.Exit(1)


def check_solvers() -> list[dict[str, Any]]:
    """Solve E1 (optimum 0) with every solver and formulation, E3 (value 44) with every LP solver.

    Returns
    -------
    list of dict
        ``solver``, ``program``, ``installed`` and ``finding``: "ok", or what is wrong.
    """
    from olprouting import exact
    from olprouting.instances import PeriodProblem

    checks = []
    for solver in exact.solver_names():
        missing = exact.why_unavailable(solver)
        if missing is not None:
            checks.append(_check(solver, None, missing, installed=False))
            continue
        checks.extend(
            _check(solver, formulation, _finding(_e1, solver, formulation))
            for formulation in exact.formulations_of(solver)
        )
    checks.append(_check("highs", "period dual", _finding(_e3, "highs", "dual")))
    checks.extend(
        _check(solver, "period lp", _finding(_e3, solver, "lp"))
        for solver in exact.solver_names(PeriodProblem)
        if solver != exact.DEFAULT_SOLVER  # of a period it is HiGHS
    )
    return checks


def _finding(solve: Callable[..., str], *arguments: str) -> str:
    try:
        return solve(*arguments)
    except Exception as error:  # whatever a broken installation raises is the finding
        return f"{type(error).__name__}: {error}"


def _e1(solver: str, formulation: str) -> str:
    from olprouting import exact
    from olprouting.instances import Decision

    e1 = Decision.from_json(_example("e1"))
    result = exact.solve(e1, solver=solver, formulation=formulation)
    if result.value != 0:
        return f"expected objective 0, got {result.value} ({result.message})"
    return "ok" if result.status == "optimal" else f"not proven: {result.status}"


def _e3(solver: str, formulation: str) -> str:
    from olprouting import exact
    from olprouting.instances import PeriodProblem

    e3 = PeriodProblem.from_json(_example("e3"))
    result = exact.solve(e3, solver=solver, formulation=formulation)
    found = (result.bound, result.prices.batch[0, 0], result.prices.memory[0, 0])
    near = all(abs(a - b) < 1e-6 for a, b in zip(found, (44, 2, 0.5), strict=True))
    return "ok" if near else f"expected value 44 and prices (2, 0.5), got {found}"


def _example(name: str) -> str:
    from olprouting.traces.data_folder import data_folder

    return (data_folder() / "examples" / f"{name}.json").read_text(encoding="utf-8")


def _check(
    solver: str, program: str | None, finding: str, *, installed: bool = True
) -> dict[str, Any]:
    return {"solver": solver, "program": program, "installed": installed, "finding": finding}


def _print(installed: dict[str, str], checks: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    packages = Table("package", "version")
    for name, number in installed.items():
        packages.add_row(name, number)
    solvers = Table("solver", "program", "finding")
    for check in checks:
        shown = check["finding"] if check["installed"] else "not installed"
        solvers.add_row(check["solver"], check["program"] or "", shown)
    tried = {check["solver"] for check in checks if check["installed"]}
    missing = {check["solver"] for check in checks if not check["installed"]}
    console.print(packages, solvers)
    console.print(
        f"{len(tried)} solvers tried on instances whose optima are known, {len(missing)} not "
        "installed; the tests try the same ones"
    )
