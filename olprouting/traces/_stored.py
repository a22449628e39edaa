"""Bytes as they are stored: a file, a member of a zip archive, or what comes through a pipe."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from olprouting.errors import InputError
from olprouting.traces._packing import bounded

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

STANDARD_INPUT = "-"
"""What a command line writes for it."""

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip archive begins, and one without files."""

BEGIN_BYTES = 1 << 20
"""How much is looked at to tell what is stored: a block of bzip2 fits."""


class Stored(Protocol):
    """Bytes that can be read as often as needed."""

    @property
    def path(self) -> Path:
        """What messages call them."""

    @property
    def size_bytes(self) -> int:
        """How many they are, packed."""

    @property
    def on_disk(self) -> Path | None:
        """The file that holds exactly them; None if there is none."""

    def begin(self) -> bytes:
        """Return the first bytes."""

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open them for reading."""


class StoredFile:
    """A file on disk."""

    def __init__(self, path: Path) -> None:
        self.path = self.on_disk = path
        self.size_bytes = path.stat().st_size

    def begin(self) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(BEGIN_BYTES)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading."""
        with self.path.open("rb") as file:
            yield file


class StoredMember:
    """A file within a zip archive."""

    on_disk = None

    def __init__(self, archive: Path, member: zipfile.ZipInfo) -> None:
        self.path = archive / member.filename
        self.size_bytes = member.compress_size
        self._archive = archive
        self._member = member

    def begin(self) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(BEGIN_BYTES)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the member for reading."""
        with zipfile.ZipFile(self._archive) as archive:
            try:
                file = archive.open(self._member)
            except (RuntimeError, NotImplementedError) as error:  # a password, a rare method
                raise InputError(f"{self.path}: {error}; unpack the archive first") from None
            with file:
                yield bounded(cast("io.BufferedReader", file), self.path, self.size_bytes)


class StoredStream:
    """What comes through a pipe: it comes once, and is kept in a temporary file."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self._begin = stream.read(BEGIN_BYTES)
        self._rest: BinaryIO | None = stream
        self._folder = tempfile.TemporaryDirectory(prefix="olprouting-", ignore_cleanup_errors=True)

    @property
    def on_disk(self) -> Path:
        """The temporary file, when all has come."""
        file = Path(self._folder.name) / "trace"
        if self._rest is not None:
            try:
                with file.open("wb") as kept:
                    kept.write(self._begin)
                    shutil.copyfileobj(self._rest, kept)
            except OSError as error:
                raise InputError(f"cannot keep {self.path} in {file}: {error.strerror}") from None
            self._rest = None
        return file

    @property
    def size_bytes(self) -> int:
        """How many bytes came."""
        return self.on_disk.stat().st_size

    def begin(self) -> bytes:
        """Return the first bytes, without waiting for the last."""
        return self._begin

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Wait for the end of the stream and read it from its start."""
        with self.on_disk.open("rb") as file:
            yield file


def stored_at(path: Path) -> list[Stored]:
    """Return what is stored at a path: one file, or the members of a zip archive in name order.

    Raises
    ------
    InputError
        If there is nothing that can be read.
    """
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("standard input is no file and no pipe: give a trace to read there")
        return [StoredStream(Path("standard input"), sys.stdin.buffer)]
    try:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise InputError(f"{path} is a worker, not a file")
        if not stat.S_ISREG(mode):
            return [StoredStream(path, path.open("rb"))]
        file = StoredFile(path)
        if file.begin().startswith(ZIP_MAGIC):
            return _members(path)
        return [file]
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}") from None


def _members(path: Path) -> list[Stored]:
    with zipfile.ZipFile(path) as archive:
        members = sorted(archive.infolist(), key=lambda member: member.filename)
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise InputError(f"{path} is an office document: save the table in it as CSV")
    found: list[Stored] = [
        StoredMember(path, member) for member in members if not _is_hidden(member)
    ]
    if not found:
        raise InputError(f"{path} is an archive without files")
    return found


def _is_hidden(member: zipfile.ZipInfo) -> bool:
    return member.is_dir() or any(
        part.startswith((".", "__")) for part in Path(member.filename).parts
    )
