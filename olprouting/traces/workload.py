"""The requests of a run: read or drawn, split from those before it, and released as asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from olprouting.errors import InputError
from olprouting.options import Arrivals
from olprouting.traces.arrivals import (
    as_recorded,
    batches,
    poisson,
    poisson_by_period,
    require_arrivals,
)
from olprouting.traces.catalogue import PUBLIC_TRACES, locate, resolve
from olprouting.traces.columns import ColumnChoice
from olprouting.traces.data_folder import data_folder
from olprouting.traces.filters import split_history
from olprouting.traces.profiles import profile_names
from olprouting.traces.resampling import resampled
from olprouting.traces.synthetic import geometric, ratio

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from olprouting.instances import SloClasses, Trace
    from olprouting.options import WorkloadOptions

LAWS: Final = {"ratio": 3, "geometric": 2}
"""Laws that a source may name, and how many numbers follow each."""


class Workload(NamedTuple):
    """What is run, and what went before it.

    Attributes
    ----------
    trace, history
        The requests, and those before them.
    backlog, in_flight
        Visible requests of a backlog, and requests in flight of a closed loop; None where something
        else releases requests.
    """

    trace: Trace
    history: Trace | None
    backlog: int | None
    in_flight: int | None

    @property
    def release(self) -> dict[str, Any]:
        """Arguments of `simulate` that say what releases the requests, if not time."""
        return {"backlog": self.backlog, "in_flight": self.in_flight}


def load_workload(
    options: WorkloadOptions,
    seed: int,
    period_s: float | None = None,
    read: Callable[[str, str | None], Trace] | None = None,
    classes: SloClasses | None = None,
) -> Workload:
    """Return the requests that options stand for.

    Parameters
    ----------
    options
        Which requests, and how they are released.
    seed
        Draws requests, rows and arrivals.
    period_s
        Length of a period in seconds, for arrivals by period with the independent clock.
    read
        Called with source and columns instead of `resolve` where requests are read from a file.
    classes
        What requests are of; None where they have none but those of their file.

    Raises
    ------
    InputError
        If the file cannot be read, arrival times are missing, or options do not fit together.
    """
    check_source(options)
    trace, history = _requests(options, seed, read), None
    if options.history:
        history, trace = split_history(trace, options.history)
    released = _released(trace, options, seed, period_s)
    if classes is not None:
        released = classes.assigned(released, seed)
    return Workload(released, history, options.backlog, options.in_flight)


def check_source(options: WorkloadOptions) -> None:
    """Refuse options that do not fit the source, without reading it.

    Raises
    ------
    InputError
        If columns are named where nothing is read, or not understood.
    """
    if options.columns is not None and not _is_read(options.source):
        raise InputError(
            f"columns = {options.columns!r}: {options.source} is drawn, not read: columns apply to "
            "files only"
        )
    ColumnChoice.of(options.columns)


def drawn_by_seed(options: WorkloadOptions) -> str:
    """Return in words what of a workload differs between seeds; empty if nothing does.

    Parameters
    ----------
    options
        Which requests, and how they are released.
    """
    drawn = []
    if not _is_read(options.source):
        drawn.append("requests")
    elif options.rows == "random" and options.requests is not None:
        drawn.append("rows of the trace")
    elif options.rows == "blocks":
        drawn.append("blocks of the trace")
    if Arrivals.of(options.arrivals, options.rate).kind in ("poisson", "poisson-by-period"):
        drawn.append("arrival times")
    return " and ".join(drawn)


def source_file(source: str) -> Path | None:
    """Return the file that requests of this source depend on; None where a law draws them."""
    if _law(source) is not None:
        return None
    if source in profile_names():
        return data_folder() / "profiles" / f"{source}.json"
    return locate(source)


def is_file_name(source: str) -> bool:
    """Whether a source names a file, rather than a law, a profile or a public trace."""
    return _is_read(source) and source not in PUBLIC_TRACES


def _is_read(source: str) -> bool:
    return _law(source) is None and source not in profile_names()


def _requests(
    options: WorkloadOptions, seed: int, read: Callable[[str, str | None], Trace] | None
) -> Trace:
    source = options.source
    requests = None if options.requests is None else options.requests + options.history
    law = _law(source)
    if law is not None:
        if requests is None:
            raise InputError(f"source = {source!r} needs requests")
        return law(requests, np.random.default_rng(seed))
    if source in profile_names():
        return resolve(source, requests=requests, seed=seed)
    trace = (
        resolve(source, columns=options.columns) if read is None else read(source, options.columns)
    )
    if options.rows == "blocks":
        chosen = trace if requests is None else trace.head(requests)
        drawn = resampled(chosen, np.random.default_rng([seed, 1]))
        return drawn.with_notice(f"blocks of {len(chosen)} requests drawn anew")
    if requests is None or requests >= len(trace):
        return trace
    if options.rows == "first":
        return trace.head(requests)
    kept = np.random.default_rng([seed, 1]).permutation(len(trace))[:requests]
    return trace.take(np.sort(kept)).with_notice(f"{requests} of {len(trace)} requests drawn")


def _released(trace: Trace, options: WorkloadOptions, seed: int, period_s: float | None) -> Trace:
    arrivals = Arrivals.of(options.arrivals, options.rate)
    rng = np.random.default_rng([seed, 2])
    if arrivals.kind == "poisson":
        return poisson(trace, arrivals.numbers[0], rng)
    if arrivals.kind == "poisson-by-period":
        return poisson_by_period(trace, arrivals.numbers[0], rng, period_s)
    if arrivals.kind == "batches":
        requests, every_s = arrivals.numbers
        return batches(trace, int(requests), every_s=every_s)
    if arrivals.kind == "recorded" and trace.release_iteration is None:
        require_arrivals(trace)
        return as_recorded(trace, options.speed_up)
    return trace


def _law(source: str) -> Callable[[int, np.random.Generator], Trace] | None:
    name, *texts = source.split(":")
    if name not in LAWS or os.path.exists(source):
        return None
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        numbers = []
    if len(numbers) != LAWS[name]:
        raise InputError(
            f"source = {source!r}: expected ratio:PROMPT:DECODE:MEAN_TOTAL or geometric:P:S"
        )
    if name == "ratio":
        prompt, decode, mean_total = numbers
        return lambda requests, rng: ratio(requests, prompt, decode, mean_total, rng)
    return lambda requests, rng: geometric(requests, numbers[0], int(numbers[1]), rng)
