"""The five-row fixture that every format test writes in its own way."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces import read_trace

if TYPE_CHECKING:
    from pathlib import Path

AZURE_HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"
AZURE_ROWS = (
    "2023-11-16 18:17:03.9799600,374,44",
    "2023-11-16 18:17:04.0319570,396,109",
    "2023-11-16 18:17:04.0319570,879,55",
    "2023-11-16 18:17:05.0000000,91,16",
    "2023-11-16 18:17:13.9799600,91,17",
)
AZURE_ARRIVAL_S = (0.0, 0.051997, 0.051997, 1.02004, 10.0)


def write(path: Path, *lines: str, end: str = "\n", start: bytes = b"") -> Path:
    """Write lines (no newline after the last is needed by any reader, but most files have it)."""
    path.write_bytes(start + (end.join(lines) + end).encode())
    return path


def azure(path: Path, *rows: str, header: str = AZURE_HEADER) -> Path:
    return write(path, header, *(rows or AZURE_ROWS))


def zipped(path: Path, *, cut: int = 0) -> Path:
    """Gzip a file beside itself, leaving out the last `cut` bytes."""
    data = gzip.compress(path.read_bytes())
    target = path.with_suffix(path.suffix + ".gz")
    target.write_bytes(data[: len(data) - cut])
    return target


def refusal(path: Path, **options: Any) -> str:
    """Return the message with which read_trace refuses a file."""
    try:
        read_trace(path, **options)
    except InputError as error:
        return str(error)
    raise AssertionError(f"{path} was read")
