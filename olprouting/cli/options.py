"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.errors import InputError, shown

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from olprouting.instances import Cluster, Trace

DEFAULT_TRACE = "azure-2023-conv-like"
DEFAULT_REQUESTS = 2000

TraceOption = Annotated[
    str,
    typer.Option(
        "--trace",
        help="A file, folder or pattern, - for standard input, or a name of "
        "`olprouting traces list`.",
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Columns of a trace file, where its own names do not tell: "
        "arrival=NAME,prompt=NAME,decode=NAME,key=NAME, and unit=s, ms, us or ns of its times.",
        show_default=False,
    ),
]
RequestsOption = Annotated[
    int | None, typer.Option(min=1, help="Use the first so many requests.", show_default=False)
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Workers G.")]
SlotsOption = Annotated[int, typer.Option(min=1, help="Slots per worker B.")]
WaitingOption = Annotated[
    int, typer.Option(min=1, help="Visible waiting requests, where arrivals are a backlog.")
]
ArrivalsOption = Annotated[
    str,
    typer.Option(
        help="backlog (all requests known in order, --waiting of them visible), recorded, "
        "poisson:RATE (per second), or batches:N:S (N requests every S seconds)."
    ),
]
StepTimeOption = Annotated[
    str, typer.Option(help="Step-time preset: balance-authors, llama-3-8b-a100-tp1, ...")
]
HorizonOption = Annotated[int, typer.Option(min=0, help="Lookahead H of brh and exact.")]
BetaOption = Annotated[float, typer.Option(help="Overflow penalty beta of brh.")]
GammaOption = Annotated[float, typer.Option(help="Discount gamma of brh and exact, in (0, 1].")]
RMaxOption = Annotated[int, typer.Option(min=1, help="R_max: window of BR's second stage.")]
SGreedyOption = Annotated[int, typer.Option(min=0, help="S_greedy: BR's first stage above it.")]
TiesOption = Annotated[str, typer.Option(help="Ties between workers: random or index.")]
GrowthOption = Annotated[
    str, typer.Option(help="Admitted requests in the exact program: growing or frozen.")
]
BrGrowthOption = Annotated[
    str, typer.Option(help="Candidates in the score of brh: frozen (as published) or growing.")
]
SearchOption = Annotated[
    str, typer.Option(help="BR's subset search: auto, enumerate or reachable.")
]
ForecastOption = Annotated[
    str,
    typer.Option(
        help="oracle, noisy:SPREAD, survival, km, exact-match, learned, or learned:FILE; all but "
        "the first two learn from --history and from what completes."
    ),
]
ProjectionOption = Annotated[
    str, typer.Option(help="How forecasts that learn are projected: cutoff or expected.")
]
HistoryOption = Annotated[
    int,
    typer.Option(min=0, help="Forecasts learn from the first so many requests; the run follows."),
]
RefreshOption = Annotated[
    str, typer.Option(help="Renew the forecast every iteration, or every horizon iterations.")
]
SolverOption = Annotated[
    str,
    typer.Option(
        help="highs, native, auto (native, then highs), cpsat, or any of Pyomo as pyomo:NAME."
    ),
]
FormulationOption = Annotated[
    str | None, typer.Option(help="size-class or assignment.", show_default=False)
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
OversizeOption = Annotated[
    str, typer.Option(help="A request no worker can ever hold: error or reject.")
]
RejectAfterOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="bid-price rules turn a request away that has waited for so many periods, if its "
        "margin was negative all the time.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@dataclass(frozen=True)
class Workload:
    """A trace made ready for a run: which requests, how they are released, what came before."""

    trace: Trace
    backlog: int | None
    history: Trace | None


def load_workload(
    name: str,
    requests: int | None,
    arrivals: str,
    waiting: int,
    seed: int,
    history: int = 0,
    *,
    columns: str | None,
) -> Workload:
    """Read a trace and apply an arrival process; the first `history` requests come before the run.

    Raises
    ------
    InputError
        If the trace cannot be read or `arrivals` is not understood.
    """
    import numpy as np

    from olprouting.traces import profile_names, require_arrivals, resolve, split_history

    if name in profile_names():
        count = (requests or DEFAULT_REQUESTS) + history
        trace = resolve(name, requests=count, seed=seed, columns=columns)
    else:
        trace = resolve(name, columns=columns)
        trace = trace if requests is None else trace.head(requests + history)
    past = None
    if history:
        past, trace = split_history(trace, history)
    if arrivals == "backlog":
        return Workload(trace, waiting, past)
    if arrivals == "recorded":
        if trace.release_iteration is None:
            require_arrivals(trace)
        return Workload(trace, None, past)
    trace = _with_arrivals(trace, arrivals, np.random.default_rng([seed, 2]))
    return Workload(trace, None, past)


def _with_arrivals(trace: Trace, arrivals: str, rng: np.random.Generator) -> Trace:
    from olprouting.traces import batches, poisson

    kind, *numbers = arrivals.split(":")
    try:
        if kind == "poisson" and len(numbers) == 1:
            return poisson(trace, float(numbers[0]), rng)
        if kind == "batches" and len(numbers) == 2:
            return batches(trace, int(numbers[0]), every_s=float(numbers[1]))
    except InputError:
        raise
    except ValueError:
        pass
    raise InputError(
        f"--arrivals {arrivals!r}: expected backlog, recorded, poisson:RATE or batches:N:S"
    )


def make_cluster(workers: int, slots: int, step_time: str, kv_tokens: int | None = None) -> Cluster:
    """Return a cluster of equal workers with a named step-time model."""
    from olprouting.instances import Cluster, StepTime

    preset = StepTime.preset(step_time, slots)
    return Cluster.homogeneous(workers, slots, kv_tokens=kv_tokens, step_time=preset)


def read_text(file: Path) -> str:
    """Return what a file holds, without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be read, or is not UTF-8.
    """
    from olprouting.instances.documents import read_text

    return read_text(file)


def names(text: str | None) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


MOST_DIGITS = 18
"""Numbers of more digits are none that a run could have."""


def number_or_all(option: str, text: str) -> int | None:
    """Return a number >= 1, or None for ``all``.

    Raises
    ------
    InputError
        If the text is neither.
    """
    if text == "all":
        return None
    number = int(text) if text.isdecimal() and len(text) < MOST_DIGITS else 0
    if number == 0:
        raise InputError(f"{option} {shown(text)}: expected a number >= 1, or all")
    return number
