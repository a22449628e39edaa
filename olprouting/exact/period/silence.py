"""Keeping C code of solvers from writing to the terminal."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDOUT, _STDERR = 1, 2


@contextmanager
def silence() -> Iterator[None]:
    """Send file descriptors 1 and 2 nowhere, also what C code has buffered by the end.

    HiGHS writes a banner when its object is built, before any option can stop it.
    """
    _flush()
    saved = [(fd, os.dup(fd)) for fd in (_STDOUT, _STDERR)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for fd, _ in saved:
            os.dup2(nowhere, fd)
        yield
    finally:
        _flush()
        for fd, copy in saved:
            os.dup2(copy, fd)
            os.close(copy)
        os.close(nowhere)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # replaced or closed
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
