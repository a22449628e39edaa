"""Reading a trace file: recognised by content, checked row by row, every change counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.traces._assemble import Window, ZeroOutput, assemble
from olprouting.traces._parts import open_parts
from olprouting.traces.columns import ColumnChoice
from olprouting.traces.formats import find_format, recognise
from olprouting.traces.formats.known import GENERIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from olprouting.instances.trace import Trace
    from olprouting.traces._parts import Parts
    from olprouting.traces.formats import TraceFormat


@dataclass(frozen=True)
class TraceFile:
    """Where a trace was read from.

    Parameters
    ----------
    path
        The file, folder or pattern.
    format
        Name of the format it was read as.
    size_bytes
        Size on disk.
    sha256
        SHA-256 of the file on disk, in hexadecimal; of several files, one after the other.
    """

    path: Path
    format: str
    size_bytes: int
    sha256: str


def read_trace(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,  # noqa: A002 - the word users know from other readers
    *,
    columns: str | Mapping[str, str] | None = None,
    time_unit: str | None = None,
    zero_output: ZeroOutput = "drop",
    start_s: float = 0.0,
    duration_s: float | None = None,
) -> Trace:
    """Read a trace from a file, or from several that are parts of one.

    Rows are sorted stably by arrival, so ties keep their file order, and times are rebased: the
    first arrival is 0. Only the column ``arrival_s`` of our own exports, which by its name counts
    from the start of the trace, is kept as it is (unless it begins ten years on, an epoch clock).
    Times without a zone are taken as UTC. Requests with 0 prompt tokens are dropped. Whatever was
    dropped, changed, sorted, ignored or found odd is counted in `Trace.notices`.

    Parameters
    ----------
    path
        CSV (with commas, semicolons or tabs; blank lines and lines with ``#`` may stand above the
        header), Parquet, JSON lines or a JSON list, in UTF-8 or, with a byte-order mark, UTF-16;
        all but Parquet also packed by gzip, bzip2, xz or zstd. A packed file may unpack to at most
        50 times its size, or 64 MiB if that is more. A folder, a pattern such as ``day*.csv``
        and a zip archive stand for their files in name order, a list for its members; ``"-"`` is
        standard input.
    format
        Name of the format (see `FORMATS`); recognised by content if None.
    columns
        Columns of any table, as its header spells them, by role: ``arrival``, ``prompt``,
        ``decode``, ``key`` (class of a request, any number or text); ``unit`` is the unit of
        numeric times. A mapping, or a text: ``"arrival=t,prompt=n_in,decode=n_out,unit=ms"``. Roles
        left out are found by the usual names.
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
        columns=columns,
        time_unit=time_unit,
        zero_output=zero_output,
        start_s=start_s,
        duration_s=duration_s,
    )
    return trace


def read_with_source(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,  # noqa: A002 - as in read_trace
    *,
    columns: str | Mapping[str, str] | None = None,
    time_unit: str | None = None,
    zero_output: ZeroOutput = "drop",
    start_s: float = 0.0,
    duration_s: float | None = None,
) -> tuple[Trace, TraceFile]:
    """Read a trace as read_trace does and say where it came from."""
    choice = ColumnChoice.of(columns, time_unit)
    if format is not None and choice.names_any:
        raise InputError(f"columns map any table: leave out the format {format!r}, or the columns")
    window = Window(start_s, duration_s)
    parts = open_parts(path)
    known = _format_of(parts, format, choice)
    raws = [known.read(source, choice.unit) for source in parts.sources]
    trace = assemble(raws, parts.name, zero_output, window)
    origin = TraceFile(parts.path, known.name, parts.size_bytes, parts.sha256())
    files = f" ({len(raws)} files)" if len(raws) > 1 else ""
    notice = f"read from {parts.name}{files} as {origin.format}, sha256 {origin.sha256}"
    return trace.replace(notices=(notice, *trace.notices)), origin


def trace_sha256(path: str | Path) -> str:
    """Return the SHA-256 that reading a trace would note.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return open_parts(path).sha256()


def _format_of(parts: Parts, name: str | None, choice: ColumnChoice) -> TraceFormat:
    if choice.names_any:
        return GENERIC.with_columns(choice)
    if name is not None:
        return find_format(name)
    first, *others = parts.sources
    known = recognise(first)
    for other in others:
        if (found := recognise(other)) is not known:
            raise InputError(
                f"{first.path} is read as {known.name}, {other.path} as {found.name}; "
                "parts of one trace must be alike"
            )
    return known
