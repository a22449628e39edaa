"""What a user gives as a trace: a file, a folder, a pattern, a list, an archive, a pipe."""

from __future__ import annotations

import glob
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.traces._source import Source, open_source
from olprouting.traces._stored import STANDARD_INPUT, StoredFile, StoredMember, stored_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.traces._stored import Stored


@dataclass(frozen=True)
class Parts:
    """The files that make one trace.

    Parameters
    ----------
    path
        What was given.
    name
        What the trace is called.
    sources
        The files in the order in which they are read.
    stored
        The bytes that the hash is of: those of the sources, or of the archive they stand in.
    """

    path: Path
    name: str
    sources: tuple[Source, ...]
    stored: tuple[Stored, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return sum(part.size_bytes for part in self.stored)

    def sha256(self) -> str:
        """Return the SHA-256 of the bytes on disk, one file after the other."""
        digest = hashlib.sha256()
        for part in self.stored:
            with part.open() as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return digest.hexdigest()


def open_parts(given: str | Path | Sequence[str | Path]) -> Parts:
    """Find and look at the files of a trace.

    Parameters
    ----------
    given
        A file; a folder or a pattern such as ``day*.csv``, whose files are read in name order; a
        zip archive, likewise; a list of files, read in its order; or ``-`` for standard input.

    Raises
    ------
    InputError
        If there are none, or one of them cannot be read.
    """
    if not isinstance(given, str | Path):
        files = [Path(each) for each in given]
        first = files[0] if files else Path()
        return _opened(first, f"{first.name} and {len(files) - 1} more", files)
    path = Path(given)
    name = path.name or path.resolve().name
    if str(path) == STANDARD_INPUT:
        return _opened(path, "standard input", [path])
    if is_pattern(path):
        found = sorted(glob.glob(str(path)))
        return _opened(path, name, [Path(each) for each in found if not os.path.isdir(each)])
    return _opened(path, name, _files_of(path) if os.path.isdir(path) else [path])


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern such as ``day*.csv`` rather than the name of a file."""
    return glob.has_magic(str(path)) and not os.path.exists(path)


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a folder in name order, without hidden ones and marks of other tools."""
    try:
        found = sorted(each for each in folder.iterdir() if not each.name.startswith((".", "_")))
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from None
    for each in found:
        if each.is_dir():
            raise InputError(
                f"{folder} holds a folder, {each.name}; say which files are meant by a pattern, "
                f"such as '{folder}/*/*.csv'"
            )
    return found


def _opened(path: Path, name: str, files: list[Path]) -> Parts:
    if not files:
        raise InputError(f"{path}: there are no files to read")
    found: list[Stored] = []
    hashed: list[Stored] = []
    for file in files:
        inside = stored_at(file)
        found += inside
        hashed += [StoredFile(file)] if isinstance(inside[0], StoredMember) else inside
    return Parts(path, name, tuple(open_source(part) for part in found), tuple(hashed))
