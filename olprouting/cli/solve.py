"""``olprouting solve``: the proven optimum of one decision file."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import Annotated

import typer

from olprouting.errors import InputError


def solve(
    file: Annotated[Path, typer.Argument(help="Decision, a JSON file (olprouting/decision/1).")],
    solver: Annotated[str, typer.Option(help="Solver; `olprouting doctor` lists them.")] = "highs",
    formulation: Annotated[
        str | None, typer.Option(help="size-class or assignment; default: the solver's.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds of solving.")] = None,
    threads: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    seed: Annotated[int, typer.Option(help="The solver's random seed.")] = 0,
    export: Annotated[
        Path | None, typer.Option(help="Also write the model to this .lp or .mps file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON (olprouting/solve-result/1).")
    ] = False,
) -> None:
    """Solve one routing decision to proven optimality."""
    # imported here: they take their time, and `olprouting --help` must not wait for them
    from olprouting import exact
    from olprouting.instances import Decision

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from None
    decision = Decision.from_json(text, source=str(file))
    options = exact.SolveOptions(time_limit_s=time_limit, threads=threads, seed=seed)
    if export is not None:
        exact.export(decision, export, formulation or "size-class")
    result = exact.solve(decision, solver=solver, formulation=formulation, options=options)
    typer.echo(result.to_json() if as_json else result.summary())
