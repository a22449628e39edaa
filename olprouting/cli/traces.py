"""`olprouting traces`: look at traces, convert them, fetch public ones.

Everything heavy is imported inside the commands, so that `--help` is quick.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import own_file
from olprouting.errors import InputError
from olprouting.options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from olprouting.instances.trace import Trace
    from olprouting.traces.reading import TraceFile
    from olprouting.traces.summary import TraceSummary

traces_app = typer.Typer(
    name="traces",
    help="Look at traces, convert them, fetch public ones.",
    no_args_is_help=True,
)

TraceArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME",
        help="A file, folder or pattern, - for standard input, or a known trace.",
    ),
]
Reading = Annotated[ReadingOptions, take(*ReadingOptions.parameters)]


@traces_app.command("list")
def list_traces(as_json: o.JsonOption = False) -> None:
    """List the traces that go by a name."""
    rows = _catalogue_rows()
    if as_json:
        print(json.dumps(rows, indent=2))  # noqa: T201 - stdout is the product
        return
    table = _table("trace", "kind", "requests", "bytes", "licence", "here")
    for row in rows:
        table.add_row(
            row["name"],
            row["kind"],
            _count(row["requests"]),
            _count(row["size_bytes"]),
            row["licence"],
            "yes" if row["here"] else "no",
        )
    _show(table)


@traces_app.command()
@command
def info(
    trace: TraceArgument,
    *,
    reading: Reading,
    seed: o.SeedOption = 0,
    as_json: o.JsonOption = False,
) -> None:
    """Show what a trace looks like and what reading it did."""
    from olprouting.traces.summary import summarise

    found, source = _load(trace, seed, reading)
    summary = summarise(found)
    if as_json:
        print(json.dumps(_info(summary, source), indent=2))  # noqa: T201 - stdout is the product
    else:
        _show_info(summary, source)


@traces_app.command()
@command
def convert(
    context: typer.Context,
    trace: TraceArgument,
    out: Annotated[Path, typer.Argument(help="Target: .csv, .csv.gz or .parquet.")],
    *,
    reading: Reading,
    seed: o.SeedOption = 0,
    poisson: Annotated[
        float | None, typer.Option(metavar="RATE", help="Replace arrivals: Poisson, per second.")
    ] = None,
    spread_batches: Annotated[
        bool, typer.Option(help="Spread simultaneous arrivals until the next arrival.")
    ] = False,
    max_prompt_tokens: Annotated[int | None, typer.Option(help="Largest prompt.")] = None,
    max_decode_tokens: Annotated[int | None, typer.Option(help="Largest decode length.")] = None,
    max_total_tokens: Annotated[int | None, typer.Option(help="Largest prompt + decode.")] = None,
    min_decode_tokens: Annotated[int | None, typer.Option(help="Smallest decode length.")] = None,
    oversize: Annotated[
        str, typer.Option(help="Requests over a limit: error, drop or clip.")
    ] = "error",
) -> None:
    """Write a trace as CSV or Parquet, filtered and with other arrivals if asked."""
    import numpy as np

    from olprouting.traces import arrivals, filters
    from olprouting.traces.writing import writable_target, write_trace

    own_file(context, writable_target(out), (trace,))
    found, _ = _load(trace, seed, reading)
    found = filters.limit_tokens(
        found,
        max_prompt_tokens=max_prompt_tokens,
        max_decode_tokens=max_decode_tokens,
        max_total_tokens=max_total_tokens,
        action=oversize,  # type: ignore[arg-type]  # limit_tokens refuses other words
    )
    if min_decode_tokens is not None:
        found = filters.min_decode_tokens(found, min_decode_tokens)
    rng = np.random.default_rng(seed)
    if poisson is not None:
        found = arrivals.poisson(found, poisson, rng)
    if spread_batches:
        found = arrivals.spread_batches(found, rng)
    write_trace(found, out)
    table = _table(f"{out}: {len(found):,} requests")
    for notice in found.notices:
        table.add_row(notice)
    _show(table)


@traces_app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A public trace; see 'olprouting traces list'.")],
) -> None:
    """Download a public trace into the user's cache and check it; run again to resume."""
    from olprouting.traces import catalogue

    with _progress(name) as report:
        path = catalogue.fetch(name, progress=report)
    print(path)  # noqa: T201 - stdout is the product


def _load(trace: str, seed: int, reading: ReadingOptions) -> tuple[Trace, TraceFile | None]:
    from olprouting.traces import catalogue
    from olprouting.traces.profiles import profile_names
    from olprouting.traces.reading import read_with_source

    if trace in profile_names():
        if replace(reading, zero_output=ReadingOptions.zero_output) != ReadingOptions():
            raise InputError(f"{trace} is drawn, not read: reading options apply to files only")
        return catalogue.resolve(trace, seed=seed), None
    return read_with_source(catalogue.locate(trace), **asdict(reading))


def _catalogue_rows() -> list[dict[str, Any]]:
    from olprouting.traces.catalogue import PUBLIC_TRACES, default_cache
    from olprouting.traces.profiles import load_profile, profile_names

    embedded = [
        {
            "name": name,
            "kind": "embedded",
            "requests": load_profile(name).requests,
            "size_bytes": None,
            "sha256": None,
            "licence": "MIT",
            "url": None,
            "here": True,
        }
        for name in profile_names()
    ]
    public = [
        {"kind": "public", "here": (default_cache() / entry.file_name).exists(), **asdict(entry)}
        for entry in PUBLIC_TRACES.values()
    ]
    return embedded + public


def _info(summary: TraceSummary, source: TraceFile | None) -> dict[str, Any]:
    fields = asdict(summary)
    fields["source"] = None if source is None else {**asdict(source), "path": str(source.path)}
    return fields


def _show_info(summary: TraceSummary, source: TraceFile | None) -> None:
    from olprouting.traces.summary import LEVELS

    lengths = _table("tokens", "mean", *(_level(level) for level in LEVELS))
    for column in ("prompt_tokens", "decode_tokens"):
        law = getattr(summary, column)
        lengths.add_row(column, f"{law.mean:,.1f}", *(f"{q:,.0f}" for q in law.quantiles))
    facts = _table("trace", summary.name)
    for fact, value in _facts(summary, source):
        facts.add_row(fact, value)
    _show(facts)
    _show(lengths)


def _facts(summary: TraceSummary, source: TraceFile | None) -> list[tuple[str, str]]:
    facts = [("requests", f"{summary.requests:,}")]
    if source is not None:
        facts += [
            ("format", source.format),
            ("bytes", f"{source.size_bytes:,}"),
            ("sha256", source.sha256),
        ]
    facts.append(("P:D (ratio of means)", f"{summary.prompt_per_decode:.3g}"))
    arrivals = summary.arrivals
    if arrivals is None:
        facts.append(("arrivals", "none recorded"))
    else:
        rate = "all at once" if arrivals.rate_per_s is None else f"{arrivals.rate_per_s:.4g}/s"
        profile = " ".join(f"{part:.3g}" for part in arrivals.rate_profile_per_s)
        facts += [
            ("time span", f"{arrivals.span_s:,.3f} s"),
            ("rate", rate),
            ("rate by tenths of the span, 1/s", profile),
            ("share of equal arrival times", f"{arrivals.tie_share:.1%}"),
        ]
    return facts + [("notice", notice) for notice in summary.notices]


def _level(level: float) -> str:
    return "max" if level == 1 else f"p{100 * level:g}"


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _table(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _show(table: Table) -> None:
    from rich.console import Console

    # Names and notices may hold brackets, which are no markup.
    Console(markup=False).print(table)


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """Show a progress bar on stderr while a terminal looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
