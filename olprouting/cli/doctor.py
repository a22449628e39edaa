"""``olprouting doctor``: what is installed here, and whether every solver works."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from olprouting.versions import versions


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
    """Solve the decision E1, whose optimum is 0, with every known solver and formulation.

    Returns
    -------
    list of dict
        ``solver``, ``formulation``, ``installed`` and ``finding``: "ok", or what is wrong.
    """
    from olprouting import exact

    checks = []
    for solver in exact.solver_names():
        missing = exact.why_unavailable(solver)
        if missing is not None:
            checks.append(_check(solver, None, installed=False, finding=missing))
            continue
        for formulation in exact.formulations_of(solver):
            finding = _solve_e1(solver, formulation)
            checks.append(_check(solver, formulation, installed=True, finding=finding))
    return checks


def _solve_e1(solver: str, formulation: str) -> str:
    from olprouting import exact
    from olprouting.instances import Decision

    e1 = Decision([[10], [4]], [1, 2], [2, 4, 4])  # type: ignore[arg-type]
    try:
        result = exact.solve(e1, solver=solver, formulation=formulation)
    except Exception as error:  # whatever a broken installation raises is the finding
        return f"{type(error).__name__}: {error}"
    if result.objective != 0:
        return f"expected objective 0, got {result.objective} ({result.message})"
    return "ok" if result.status == "optimal" else f"not proven: {result.status}"


def _check(
    solver: str, formulation: str | None, *, installed: bool, finding: str
) -> dict[str, Any]:
    return {
        "solver": solver,
        "formulation": formulation,
        "installed": installed,
        "finding": finding,
    }


def _print(installed: dict[str, str], checks: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    packages = Table("package", "version")
    for name, number in installed.items():
        packages.add_row(name, number)
    solvers = Table("solver", "formulation", "finding")
    for check in checks:
        shown = check["finding"] if check["installed"] else "not installed"
        solvers.add_row(check["solver"], check["formulation"] or "", shown)
    console.print(packages, solvers)
