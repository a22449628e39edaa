"""What several commands take of the options there are, and what the command line adds to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli.command import Taken, take
from olprouting.options import (
    ProjectionOptions,
    WorkloadOptions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from olprouting.instances import SloClasses
    from olprouting.traces import Workload

DEFAULT_REQUESTS = 2000
"""How many requests are drawn from a profile where none are asked for."""

RequestsInOrder = Annotated[WorkloadOptions, take("source", "columns", "requests")]
RequestsReleased = Annotated[
    WorkloadOptions,
    take("source", "columns", "requests", "waiting", "arrivals", "history"),
]
Projecting = Annotated[ProjectionOptions, take("projection", "refresh")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with code 3 if there is a warning.")
]
DetailsOption = Annotated[bool, typer.Option("--details", help="Print all tables there are.")]
FolderOption = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for tables and figures.", show_default=False),
]


def by_period(*names: str, **changes: Mapping[str, Any]) -> Taken:
    """Take requests that arrive by period: source, columns, `names`, and their rate."""
    return take(
        *("source", "columns", *names, "rate"),
        fixed={"arrivals": "poisson-by-period"},
        rate={"default": 0.4},
        **changes,
    )


def load_workload(
    options: WorkloadOptions,
    seed: int,
    period_s: float | None = None,
    classes: SloClasses | None = None,
) -> Workload:
    """Return the requests that options stand for; see `olprouting.traces.load_workload`."""
    from olprouting import traces

    if options.requests is None and options.source in traces.profile_names():
        options = replace(options, requests=DEFAULT_REQUESTS)
    return traces.load_workload(options, seed, period_s, classes=classes)


def names(text: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
