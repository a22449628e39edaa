"""``olprouting instances``: the library of named problems with best known values."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli.saving import own_file
from olprouting.errors import InputError
from olprouting.files import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from olprouting.library import Entry

instances_app = typer.Typer(
    name="instances", help="Named problems with their best known values.", no_args_is_help=True
)

PROOFS = {
    "optimal": "exact",
    "within_tolerance": "rounding",
    "bounded": "with gap",
    "value_only": "solver",
}
"""What checking a best known result finds: see `olprouting.certificates.Verdict`."""

NameArgument = Annotated[str, typer.Argument(help="A name; `olprouting instances list` has them.")]


@instances_app.command("list")
def list_instances(
    kind: Annotated[
        str | None, typer.Option(help="decision, period or hindsight.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List all instances: size, best known value and bound."""
    from olprouting.cli.tables import print_table
    from olprouting.library import best_known, instance_names

    rows = [
        {**_facts(entry), **_known(best)}
        for entry in map(best_known, instance_names(kind))
        for best in entry.best
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    names = [row["name"] for row in rows]
    labels = {"instance": names}
    columns = {
        "program": [row["program"] for row in rows],
        "class": [row["difficulty"] for row in rows],
        "value": [f"{row['value']:,.7g}" for row in rows],
        "gap": [_gap(row) for row in rows],
        "proof": [PROOFS[row["verdict"]] for row in rows],
    }
    caption = (
        "proof of value and bound: exact; exact but for rounding; exact, and a gap is left; or "
        "the bound rests on a solver's own search"
    )
    print_table(f"{len(set(names))} instances", labels, columns, caption)


@instances_app.command()
def show(
    name: NameArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole entry, solutions included.")
    ] = False,
) -> None:
    """Show what is known of one instance."""
    from dataclasses import asdict

    from olprouting.instances.documents import aligned
    from olprouting.library import best_known

    entry = best_known(name)
    if as_json:
        typer.echo(json.dumps(asdict(entry)))
        return
    rows = {**_facts(entry), "size": _size(entry.size), "file": entry.file}
    for best in entry.best:
        known = _known(best)
        rows[known["program"]] = (
            f"value {known['value']}, bound {known['bound']}; proof: {PROOFS[known['verdict']]}"
        )
    typer.echo(aligned(rows))


@instances_app.command()
def export(
    context: typer.Context,
    name: NameArgument,
    out: Annotated[Path, typer.Option(help="The file: .json, or .lp or .mps for the model.")],
    certificate: Annotated[
        str | None,
        typer.Option(
            help="Write the best known result of this program (imbalance, lp, integer or "
            "hindsight) with its proof instead, for `olprouting verify`.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write an instance, its model, or its best known result to a file."""
    from olprouting.library import best_known

    entry = best_known(name)
    own_file(context, out, (entry.file,))
    if out.suffix in (".lp", ".mps") and certificate is None:
        _export_model(entry, out)
        return
    if out.suffix != ".json":
        raise InputError(f"{out}: the suffix must be .json, .lp or .mps (a certificate: .json)")
    text = entry.text()
    if certificate is not None:
        text = json.dumps(entry.certificate(certificate)) + "\n"
    write_text(out, text)


def _export_model(entry: Entry, out: Path) -> None:
    from olprouting import exact
    from olprouting.instances import Decision, PeriodProblem

    instance = entry.load()
    if isinstance(instance, Decision | PeriodProblem):
        exact.export(instance, out)
    else:
        raise InputError(f"{entry.name}: a hindsight problem is written as .json only")


def _facts(entry: Entry) -> dict[str, Any]:
    names = ("name", "kind", "family", "difficulty", "seed", "size")
    return {name: getattr(entry, name) for name in names}


def _known(best: Mapping[str, Any]) -> dict[str, Any]:
    result = best["result"]
    value = result["objective"] if "objective" in result else result["value"]
    return {
        "program": best["program"],
        "value": value,
        "bound": result["bound"],
        "verdict": best["verdict"],
    }


def _gap(row: Mapping[str, Any]) -> str:
    from olprouting.instances import relative_gap

    gap = relative_gap(row["value"], row["bound"], maximise=row["kind"] != "decision")
    return "0" if not gap else f"{gap:.1g}"


def _size(size: Mapping[str, Any]) -> str:
    """Return ``8 workers, 32 waiting, ...``; a name goes by itself."""
    return ", ".join(
        f"{value} {name.replace('_', ' ')}" if isinstance(value, int) else f"{name} {value}"
        for name, value in size.items()
        if value not in ("1", "growing", "decode")
    )
