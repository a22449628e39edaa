"""One trace file on disk: opened, looked at, hashed; plain or gzipped."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to recognise its format."""

_GZIP_MAGIC = b"\x1f\x8b"
_LFS_MAGIC = b"version https://git-lfs.github.com/spec/"

DAMAGED_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
"""What Python raises for a truncated or corrupted gzip file."""


@dataclass(frozen=True)
class Source:
    """A readable, nonempty file that is not a Git-LFS pointer.

    Parameters
    ----------
    path
        The file.
    size_bytes
        Its size on disk.
    gzipped
        Whether it is compressed (told by its first bytes, not by its name).
    head
        Its first bytes after decompression.
    """

    path: Path
    size_bytes: int
    gzipped: bool
    head: bytes

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the content for reading, decompressed."""
        opener = gzip.open if self.gzipped else open
        with opener(self.path, "rb") as file:
            yield cast("BinaryIO", file)

    def first_line(self) -> str:
        """Return the first line without byte-order mark and line ending."""
        line, _, _ = self.head.partition(b"\n")
        try:
            return line.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:
            return ""

    def sha256(self) -> str:
        """Return the SHA-256 of the file as it lies on disk."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def open_source(path: str | Path) -> Source:
    """Look at a file before reading it.

    Raises
    ------
    InputError
        If there is no such file, it is a directory, it cannot be read, it is empty, it is damaged
        gzip, or it is a Git-LFS pointer.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(HEAD_BYTES)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    gzipped = raw.startswith(_GZIP_MAGIC)
    head = _gunzip_head(path) if gzipped else raw
    if not head.strip():
        raise InputError(f"{path} is empty")
    if head.startswith(_LFS_MAGIC):
        raise InputError(
            f"{path} is a Git-LFS pointer, not the data: run 'git lfs pull' in its repository or "
            "download the file itself"
        )
    return Source(path, size, gzipped, head)


def _gunzip_head(path: Path) -> bytes:
    """Return the first decompressed bytes; a truncated file gives what it has."""
    head = io.BytesIO()
    with gzip.open(path) as file:
        try:
            while head.tell() < HEAD_BYTES and (piece := file.read1(HEAD_BYTES)):
                head.write(piece)
        except DAMAGED_GZIP:
            if not head.tell():
                raise InputError(f"{path} is damaged gzip: nothing can be read from it") from None
    return head.getvalue()
