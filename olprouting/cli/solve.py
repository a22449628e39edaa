"""``olprouting solve``: the proven optimum of one decision, or of one period, in a file."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli.options import read_text
from olprouting.errors import InputError

if TYPE_CHECKING:
    from olprouting.exact import SolveOptions
    from olprouting.instances import Decision, PeriodProblem, PeriodResult, SolveResult


def solve(
    file: Annotated[
        Path,
        typer.Argument(help="A decision (olprouting/decision/1) or period (.../period/1), JSON."),
    ],
    solver: Annotated[str, typer.Option(help="Solver; `olprouting doctor` lists them.")] = "highs",
    formulation: Annotated[
        str | None,
        typer.Option(help="Decision: size-class or assignment; default: the solver's."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(help="Period: lp (default), integer, dual or reduced-dual."),
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(help="Period, form integer: lp-relaxation or fixed-integers."),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds of solving.")] = None,
    threads: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    seed: Annotated[int, typer.Option(help="The solver's random seed.")] = 0,
    export: Annotated[
        Path | None, typer.Option(help="Also write the model to this .lp or .mps file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Also save the result, with what proves it, for `olprouting verify`."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON (olprouting/...-result/1).")
    ] = False,
) -> None:
    """Solve one routing decision or one period to proven optimality."""
    # imported here: it takes its time, and `olprouting --help` must not wait for it
    from olprouting.exact import SolveOptions

    text = read_text(file)
    options = SolveOptions(time_limit_s=time_limit, threads=threads, seed=seed)
    if _is_period(text, file):
        _refuse("formulation", formulation, file, "a period; it takes --form")
        problem, period = _solve_period(text, file, solver, form or "lp", prices, export, options)
        if as_json:
            typer.echo(period.to_json())
        else:
            from olprouting.cli.period_report import print_period

            print_period(period)
        _save(problem, period, out)
        return
    _refuse("form", form, file, "a decision; it takes --formulation")
    _refuse("prices", prices, file, "a decision; it has none")
    decision, result = _solve_decision(text, file, solver, formulation, export, options)
    typer.echo(result.to_json() if as_json else result.summary())
    _save(decision, result, out)


def _is_period(text: str, file: Path) -> bool:
    from olprouting.instances.documents import load_json
    from olprouting.instances.period_problem import SCHEMA

    document = load_json(text, str(file))
    return isinstance(document, dict) and document.get("schema") == SCHEMA


def _refuse(option: str, value: str | None, file: Path, why: str) -> None:
    if value is not None:
        raise InputError(f"--{option} {value!r}: {file} holds {why}")


def _solve_decision(
    text: str,
    file: Path,
    solver: str,
    formulation: str | None,
    export: Path | None,
    options: SolveOptions,
) -> tuple[Decision, SolveResult]:
    from olprouting import exact
    from olprouting.instances import Decision

    decision = Decision.from_json(text, source=str(file))
    if export is not None:
        exact.export(decision, export, formulation or "size-class")
    return decision, exact.solve(decision, solver=solver, formulation=formulation, options=options)


def _solve_period(
    text: str,
    file: Path,
    solver: str,
    form: str,
    prices: str | None,
    export: Path | None,
    options: SolveOptions,
) -> tuple[PeriodProblem, PeriodResult]:
    from olprouting.exact import period
    from olprouting.instances import PeriodProblem

    problem = PeriodProblem.from_json(text, source=str(file))
    if export is not None:
        period.export_period(problem, export, form)
    return problem, period.solve_period(
        problem, form=form, solver=solver, prices=prices, options=options
    )


def _save(
    instance: Decision | PeriodProblem, result: SolveResult | PeriodResult, out: Path | None
) -> None:
    """Write the certificate, if one is asked for; finding a proof may take a while."""
    if out is None:
        return
    from olprouting.certificates import certificate

    try:
        out.write_text(json.dumps(certificate(instance, result)) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error})") from None
