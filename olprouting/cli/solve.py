"""``olprouting solve``: the proven optimum of one decision, or of one period, in a file."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli.command import option
from olprouting.cli.saving import FOR_VERIFY, Saving, own_file, refuse_same
from olprouting.errors import InputError
from olprouting.files import replacing, write_text
from olprouting.options import PolicyOptions

if TYPE_CHECKING:
    from olprouting.instances import (
        Decision,
        DecisionResult,
        PeriodProblem,
        PeriodResult,
        Result,
    )

SolverOption = Annotated[
    str,
    option(PolicyOptions, "solver", help="Solver; `olprouting doctor` lists them.", panel=""),
]


def solve(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="A decision (olprouting/decision/1) or period (.../period/1), JSON."),
    ],
    solver: SolverOption = PolicyOptions.solver,
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
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds of solving; the proof for --out gets what is left of them."),
    ] = None,
    threads: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    seed: Annotated[int, typer.Option(help="The solver's random seed.")] = 0,
    export: Annotated[
        Path | None, typer.Option(help="Also write the model to this .lp or .mps file.")
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Period: also draw it (.svg or .pdf): two kinds of requests on one worker as a "
            "plane with prices as normals, any others as prices under free capacity."
        ),
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
    from olprouting import exact
    from olprouting.cli.progress import progress_bar
    from olprouting.exact import SolveOptions
    from olprouting.instances import Decision, PeriodProblem, StopReason
    from olprouting.instances.documents import read_text

    text = read_text(file)
    if out is not None:
        out = own_file(context, out, (file,))
    if export is not None:
        refuse_same(export, (file, out))
    if figure is not None:
        figure = own_file(context, _drawable(figure), (file, out, export))
    saving = Saving()
    options = SolveOptions(time_limit_s=time_limit, threads=threads, seed=seed)
    if _is_period(text, file):
        from olprouting.cli.period_report import print_period

        _refuse("formulation", formulation, file, "a period; it takes --form")
        problem = PeriodProblem.from_json(text, source=str(file))
        if export is not None:
            with saving.part():
                exact.export(problem, export, form)
        with progress_bar() as advance:
            advance("solve", 0, 1)
            period = exact.solve(
                problem, solver=solver, formulation=form, prices=prices, options=options
            )
        _save(saving, out, problem, period)
        if as_json:
            typer.echo(period.to_json())
        else:
            print_period(problem, period)
        if figure is not None:
            _draw(saving, figure, problem, period)
        saving.end(_error(period), interrupted=period.stop_reason is StopReason.INTERRUPTED)
        return
    _refuse("form", form, file, "a decision; it takes --formulation")
    _refuse("prices", prices, file, "a decision; it has none")
    _refuse("figure", None if figure is None else str(figure), file, "a decision; it has no prices")
    decision = Decision.from_json(text, source=str(file))
    if export is not None:
        with saving.part():
            exact.export(decision, export, formulation)
    with progress_bar() as advance:
        advance("solve", 0, 1)
        result = exact.solve(decision, solver=solver, formulation=formulation, options=options)
    if out is not None:
        from olprouting.certificates.prove_decision import NO_PROOF, proofs

        _save(saving, out, decision, result, NO_PROOF)
    typer.echo(result.to_json() if as_json else result.summary())
    if result.solver != solver:
        typer.echo(f"note: {result.message}", err=True)
    interrupted = result.stop_reason is StopReason.INTERRUPTED
    if out is not None and not interrupted and not saving.interrupted:
        left_s = inf if time_limit is None else time_limit - result.wall_s
        proof = NO_PROOF
        with saving.part(), progress_bar() as advance:
            advance("prove", 0, 1)
            for proof in proofs(decision, result.assignment, left_s):  # noqa: B007
                pass
        _save(saving, out, decision, result, proof)
    saving.end(_error(result), interrupted=interrupted)


def _drawable(path: Path) -> Path:
    if path.suffix not in (".svg", ".pdf"):
        raise InputError(f"--figure {path}: the suffix must be .svg or .pdf")
    return path


def _draw(saving: Saving, path: Path, problem: PeriodProblem, period: PeriodResult) -> None:
    """Write the picture of a period with prices; where there are none, say why."""
    from olprouting.exact.period.picture import picture
    from olprouting.report import Picture

    drawn = Picture(lambda: picture(problem, period))
    write = drawn.write_svg if path.suffix == ".svg" else drawn.write_pdf

    def draw() -> list[Path]:
        period.prices  # noqa: B018 (raises where there are none)
        with replacing(path) as unfinished:
            write(unfinished)
        return [path]

    saving.save(draw)


def _error(result: Result[Any]) -> list[str]:
    """Return what is to be said of a solver that failed, or whose answer did not stand."""
    return [f"{result.solver}: {result.message}"] if result.stop_reason == "error" else []


def _is_period(text: str, file: Path) -> bool:
    from olprouting.instances.documents import load_json
    from olprouting.instances.period_problem import SCHEMA

    document = load_json(text, str(file))
    return isinstance(document, dict) and document.get("schema") == SCHEMA


def _refuse(option: str, value: str | None, file: Path, why: str) -> None:
    if value is not None:
        raise InputError(f"--{option} {value!r}: {file} holds {why}")


def _save(
    saving: Saving,
    out: Path | None,
    instance: Decision | PeriodProblem,
    result: DecisionResult | PeriodResult,
    proof: dict[str, Any] | None = None,
) -> None:
    """Write the certificate, if one is asked for."""
    if out is None:
        return
    from olprouting.certificates import certificate

    text = json.dumps(certificate(instance, result, proof)) + "\n"
    saving.save(lambda: [write_text(out, text)], FOR_VERIFY)
