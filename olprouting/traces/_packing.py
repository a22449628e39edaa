"""Packed files: told by their first bytes, unpacked as a stream, and only so far."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

UNPACKED_ALWAYS = 64 << 20
"""So many bytes may be unpacked from any file."""

UNPACKED_TIMES = 50
"""Traces shrink 4 to 30 times when packed; what grows more than this is refused."""

DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What Python and Arrow raise for truncated or corrupted packed data, and for unreadable disks."""

_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True)
class Packing:
    """A way of packing one file: its name, its first bytes, and how to unpack it as a stream."""

    name: str
    magic: re.Pattern[bytes]
    unpack: Callable[[BinaryIO], Any]


def _open_zstd(raw: BinaryIO) -> Any:
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))


PACKINGS = (
    Packing("gzip", re.compile(rb"\x1f\x8b"), lambda raw: gzip.GzipFile(fileobj=raw, mode="rb")),
    Packing("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
    Packing("xz", re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    Packing("zstd", re.compile(rb"\x28\xb5\x2f\xfd"), _open_zstd),
)


def packing_of(first: bytes) -> Packing | None:
    """Return how a file that begins so is packed; None if it is not."""
    return next((known for known in PACKINGS if known.magic.match(first)), None)


def bounded(file: io.BufferedReader, path: Path, packed_bytes: int) -> BinaryIO:
    """Return a stream that refuses to unpack more than a trace can be.

    Some hundred kilobytes can stand for gigabytes of nothing, which would fill the memory.
    """
    return io.BufferedReader(_Bounded(file, path, packed_bytes), _BUFFER_BYTES)


def most_unpacked(packed_bytes: int) -> int:
    """Return how many bytes a file of that size may stand for."""
    return max(UNPACKED_ALWAYS, UNPACKED_TIMES * packed_bytes)


def unpacks_to_too_much(path: Path, packed_bytes: int) -> InputError:
    """Build the error for a file that stands for more than `most_unpacked`."""
    return InputError(
        f"{path}: {packed_bytes:,} bytes unpack to more than {most_unpacked(packed_bytes):,}, "
        "which no trace does; if it is one all the same, unpack it first"
    )


class _Bounded(io.RawIOBase):
    def __init__(self, file: io.BufferedReader, path: Path, packed_bytes: int) -> None:
        self._file = file
        self._path = path
        self._packed_bytes = packed_bytes
        self._left = most_unpacked(packed_bytes)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One step at a time: what stands before the damage in a file is still read.
        piece = self._file.read1(len(buffer))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        if self._left < 0:
            raise unpacks_to_too_much(self._path, self._packed_bytes)
        return len(piece)
