"""Standard streams that cost no result: closed, full, or of a code page that lacks a character.

What cannot be printed is no reason to lose what can be saved. So nothing that is written to
standard output or error raises: an error is remembered, the rest is dropped, and the command goes
on to its end. A reader that has seen enough (``| head``) is no failure; a full disk is one.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

CANNOT_PRINT = 2
"""Exit code where standard output could not be written, as for bad input."""


class _Raw(io.FileIO):
    """A file descriptor to which writing never fails."""

    error: OSError | None = None

    def write(self, data: ReadableBuffer) -> int:
        """Write, or drop what cannot be written."""
        if self.error is None:
            try:
                return super().write(data)
            except OSError as error:
                self.error = error
        return len(memoryview(data))


@contextmanager
def lenient_streams() -> Iterator[None]:
    """Put streams to which writing never fails in place of standard output and error.

    Raises
    ------
    SystemExit
        With code 2 at the end, if standard output could not be written.
    """
    for descriptor in range(3):  # a closed one would be given to the next file that is opened
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout, sys.stderr = _lenient(sys.stdout, 1), _lenient(sys.stderr, 2)
    code: str | int | None = None
    try:
        yield
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    error = _error(sys.stdout)
    if error is not None and error.errno != errno.EPIPE:
        sys.stderr.write(f"olprouting: standard output cannot be written: {error.strerror}\n")
        code = code or CANNOT_PRINT
    if code:
        sys.exit(code)


def _lenient(stream: TextIO | None, descriptor: int) -> TextIO:
    if isinstance(stream, io.TextIOWrapper) and stream.isatty():
        stream.reconfigure(errors="backslashreplace")
    else:
        stream = io.TextIOWrapper(
            io.BufferedWriter(_Raw(descriptor, "w", closefd=False)),
            encoding=None if stream is None else stream.encoding,
            errors="backslashreplace",
            line_buffering=descriptor == 2,
        )
    stream.close = stream.flush  # type: ignore[method-assign]  # a policy of the user's may close it
    return stream


def _error(stream: TextIO) -> OSError | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, _Raw) else None
