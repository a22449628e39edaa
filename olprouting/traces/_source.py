"""One trace file: opened as UTF-8 text whatever it is packed in, looked at, read again."""

from __future__ import annotations

import codecs
import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from olprouting.errors import InputError
from olprouting.traces._packing import DAMAGED, Packing, bounded, packing_of
from olprouting.traces._stored import ZIP_MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from olprouting.traces._stored import Stored

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to recognise its format."""

_LFS_MAGIC = b"version https://git-lfs.github.com/spec/"
_UTF8_MARK = codecs.BOM_UTF8
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TAR_AT, _TAR_MAGIC = 257, b"ustar"


@dataclass(frozen=True)
class Source:
    """A readable, nonempty file that is not a Git-LFS pointer.

    Parameters
    ----------
    stored
        The bytes as they are stored.
    packing
        How they are packed; None if they are not.
    mark
        The byte-order mark that the text begins with, or nothing; UTF-16 is read as UTF-8.
    head
        First bytes of the text, without byte-order mark.
    """

    stored: Stored
    packing: Packing | None
    mark: bytes
    head: bytes

    @property
    def path(self) -> Path:
        """What messages call the file."""
        return self.stored.path

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the text for reading: unpacked, UTF-8, without byte-order mark."""
        with self.stored.open() as raw:
            file = raw
            if self.packing is not None:
                file = bounded(self.packing.unpack(raw), self.path, self.stored.size_bytes)
            if self.mark in _UTF16_MARKS:
                yield cast("BinaryIO", codecs.EncodedFile(file, "utf-8", "utf-16"))
                return
            file.read(len(self.mark))
            yield file

    def text_begins(self) -> tuple[int, str]:
        """Return how many blank lines and comments stand above the first other line, and that.

        A line that is not UTF-8 is returned as empty.
        """
        lines = self.head.split(b"\n")
        above = next(
            (row for row, line in enumerate(lines) if line.strip() and not line.startswith(b"#")),
            len(lines) - 1,
        )
        try:
            return above, lines[above].decode().strip("\r")
        except UnicodeDecodeError:
            return above, ""

    def first_line(self) -> str:
        """Return the first line that is neither blank nor a comment, without its line ending."""
        return self.text_begins()[1]


def open_source(stored: Stored) -> Source:
    """Look at a file before reading it.

    Raises
    ------
    InputError
        If it is empty, damaged, a Git-LFS pointer, or holds what is no text and no table.
    """
    path = stored.path
    try:
        begin = stored.begin()
    except DAMAGED as error:
        raise InputError(f"cannot read {path}: {error}") from None
    packing = packing_of(begin)
    raw = begin[:HEAD_BYTES] if packing is None else _unpacked_head(begin, packing, path)
    mark = next((known for known in (_UTF8_MARK, *_UTF16_MARKS) if raw.startswith(known)), b"")
    head = _utf8(raw) if mark in _UTF16_MARKS else raw.removeprefix(mark)
    if not head.strip():
        raise InputError(f"{path} is empty")
    if head.startswith(_LFS_MAGIC):
        raise InputError(
            f"{path} is a Git-LFS pointer, not the data: run 'git lfs pull' in its repository or "
            "download the file itself"
        )
    if head.startswith(ZIP_MAGIC):
        raise InputError(f"{path} is a zip archive within a pipe or archive: save it as a file")
    if head[_TAR_AT:].startswith(_TAR_MAGIC):
        raise InputError(f"{path} is a tar archive: unpack it and give the folder")
    return Source(stored, packing, mark, head)


def _utf8(head: bytes) -> bytes:
    """Return the begin of a UTF-16 text as UTF-8; half a character at its end is left out."""
    return codecs.getincrementaldecoder("utf-16")("replace").decode(head).encode()


def _unpacked_head(begin: bytes, packing: Packing, path: Path) -> bytes:
    """Return the first unpacked bytes; a truncated file gives what it has."""
    head = io.BytesIO()
    try:
        file = packing.unpack(io.BytesIO(begin))
        while head.tell() < HEAD_BYTES and (piece := file.read1(HEAD_BYTES)):
            head.write(piece)
    except DAMAGED:
        if not head.tell():
            raise InputError(
                f"{path} is damaged {packing.name}: nothing can be read from it"
            ) from None
    return head.getvalue()
