"""``olprouting verify``: check a saved result in exact arithmetic."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import Annotated

import typer

from olprouting.errors import InputError


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            help="A certificate (`solve --out`), many (certificates.jsonl of `gaps --out`), "
            "hindsight.json or hindsight_imbalance.json (`hindsight --out`)."
        ),
    ],
    instance: Annotated[
        Path | None,
        typer.Option(
            help="The decision, period or hindsight problem that it must be for.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 1 also where `not_checked` names a claim: a bound, and what follows from "
            "it, that was neither proven nor refuted, or prices whose optimality or uniqueness was "
            "not. `about_the_run` (names, times, versions, the solver's words) does not count: "
            "no file can prove it.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the finding as JSON.")] = False,
) -> None:
    """Recompute all that a saved result claims in exact arithmetic; exit 1 if it does not hold."""
    # imported here: it takes its time, and `olprouting --help` must not wait for it
    from olprouting.certificates import DoesNotHoldError
    from olprouting.certificates import verify as check
    from olprouting.instances.documents import read_text

    if file.suffix == ".jsonl":
        if instance is not None:
            raise InputError(f"--instance {instance}: {file} holds certificates of many instances")
        _verify_lines(file, strict=strict, as_json=as_json)
        return
    other = None if instance is None else read_text(instance)
    try:
        finding = check(read_text(file), str(file), other)
    except DoesNotHoldError as error:
        if as_json:
            typer.echo(json.dumps({"holds": False, "reason": str(error)}))
        else:
            typer.echo(f"olprouting: {file} does not hold: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(json.dumps(finding.to_document()) if as_json else finding.summary())
    if strict and finding.not_checked:
        typer.echo(
            f"olprouting: {file}: --strict: not checked: {', '.join(finding.not_checked)}", err=True
        )
        raise typer.Exit(1)


def _verify_lines(file: Path, *, strict: bool, as_json: bool) -> None:
    from olprouting.certificates import verify_lines
    from olprouting.cli.progress import progress_bar
    from olprouting.instances.documents import read_text

    text = read_text(file)
    with progress_bar() as advance:
        findings = verify_lines(text, str(file), advance)
    typer.echo(json.dumps(findings.to_document()) if as_json else findings.summary())
    if not as_json:
        for line, reason in findings.failures:
            typer.echo(f"olprouting: {file}, line {line} does not hold: {reason}", err=True)
        for what in findings.missing:
            typer.echo(f"olprouting: {file} lacks {what}", err=True)
    open_claims = findings.not_checked if strict else 0
    if open_claims:
        typer.echo(
            f"olprouting: {file}: --strict: claims of {open_claims} certificates are not checked",
            err=True,
        )
    if open_claims or not findings.holds:
        raise typer.Exit(1)
