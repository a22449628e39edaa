"""Reading a trace file: recognised by content, checked row by row, every change counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from olprouting.errors import unknown_name
from olprouting.traces._assemble import Window, ZeroOutput, assemble
from olprouting.traces._raw import TICKS_PER_S
from olprouting.traces._source import open_source
from olprouting.traces.formats import find_format, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.instances.trace import Trace


@dataclass(frozen=True)
class TraceSource:
    """Where a trace was read from.

    Parameters
    ----------
    path
        The file.
    format
        Name of the format it was read as.
    size_bytes
        Size on disk.
    sha256
        SHA-256 of the file on disk, in hexadecimal.
    """

    path: Path
    format: str
    size_bytes: int
    sha256: str


def read_trace(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the word users know from other readers
    *,
    time_unit: str | None = None,
    zero_output: ZeroOutput = "drop",
    start_s: float = 0.0,
    duration_s: float | None = None,
) -> Trace:
    """Read a trace from a file, plain or gzipped.

    Rows are sorted stably by arrival, so ties keep their file order, and times are rebased: the
    first arrival is 0. Only the column ``arrival_s`` of our own exports, which by its name counts
    from the start of the trace, is kept as it is (unless it begins ten years on, an epoch clock).
    Times without a zone are taken as UTC. Whatever was dropped, changed, sorted, ignored or found
    odd is counted in `Trace.notices`.

    Parameters
    ----------
    path
        CSV, Parquet, JSON lines or JSON.
    format
        Name of the format (see `FORMATS`); recognised by content if None.
    time_unit
        Unit of numeric times, ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``; the format's own if None.
    zero_output
        What to do with failed requests, which have 0 output tokens: ``"drop"`` them, ``"keep"``
        them as requests of 1 token (the fewest a decode can have), or raise an ``"error"``.
    start_s, duration_s
        Read only arrivals in [start_s, start_s + duration_s) seconds after the first one.

    Returns
    -------
    Trace
        The requests; its name is the file name.

    Raises
    ------
    InputError
        If the file or a value in it cannot be used. Messages name the file, the row from 1
        ("data row": the header does not count; "line": of a JSON-lines file) and the column.
    """
    trace, _ = read_with_source(
        path,
        format,
        time_unit=time_unit,
        zero_output=zero_output,
        start_s=start_s,
        duration_s=duration_s,
    )
    return trace


def read_with_source(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - as in read_trace
    *,
    time_unit: str | None = None,
    zero_output: ZeroOutput = "drop",
    start_s: float = 0.0,
    duration_s: float | None = None,
) -> tuple[Trace, TraceSource]:
    """Read a trace as read_trace does and say where it came from."""
    if time_unit is not None and time_unit not in TICKS_PER_S:
        raise unknown_name("time unit", time_unit, TICKS_PER_S)
    window = Window(start_s, duration_s)
    source = open_source(path)
    known = recognise(source) if format is None else find_format(format)
    trace = assemble(known.read(source, time_unit), source.path.name, zero_output, window)
    origin = TraceSource(source.path, known.name, source.size_bytes, source.sha256())
    notice = f"read from {origin.path.name} as {origin.format}, sha256 {origin.sha256}"
    return trace.replace(notices=(notice, *trace.notices)), origin
