"""Writing a trace so that read_trace gives the same requests back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.files import write_table

if TYPE_CHECKING:
    from olprouting.instances.trace import Trace

_SUFFIXES = (".csv", ".csv.gz", ".parquet")


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write the columns of a trace; times keep every digit.

    Parameters
    ----------
    trace
        The trace. Its name and notices are not written.
    path
        Target; its suffix (.csv, .csv.gz or .parquet) chooses the format. An existing file is
        replaced.

    Raises
    ------
    InputError
        If the suffix is unknown or the folder cannot be written to.
    """
    path = writable_target(path)
    write_table(trace.to_frame(), path)


def writable_target(path: str | Path) -> Path:
    """Return `path` if write_trace can write there; a check to make before long work."""
    path = Path(path)
    if not path.name.endswith(_SUFFIXES):
        raise InputError(f"cannot tell a format from {path}; end it in {', '.join(_SUFFIXES)}")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"cannot write {path}: no permission")
    return path
