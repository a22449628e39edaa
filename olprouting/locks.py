"""One command at a time writes to a folder or a file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.files import is_stream, reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def only_writer(target: Path) -> Iterator[None]:
    """Hold the lock of a folder, or of a file to be written, while the block runs.

    The system releases it however this process ends; what a killed one leaves behind bars nobody.

    Raises
    ------
    InputError
        If another process holds it, or there is no permission to write there.
    """
    if is_stream(target) and not target.is_dir():
        yield  # writers to a pipe may take turns
        return
    lock = target / ".lock" if target.is_dir() else target.with_name(f".{target.name}.lock")
    try:
        file = _locked(lock)
    except OSError as error:
        raise InputError(f"{target}: cannot write there: {reason(error)}") from None
    if file is None:
        raise InputError(f"{target}: another command is writing there; wait, or choose another")
    with file:
        try:
            yield
        finally:
            with suppress(OSError):  # the folder may be gone; Windows keeps open files
                lock.unlink()


def _locked(lock: Path) -> IO[str] | None:
    """Return the locked file, or None if another process holds it."""
    while True:
        file = lock.open("a", encoding="utf-8")
        if not _lock(file.fileno()):
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(lock.stat(), os.fstat(file.fileno())):
                return file
        file.close()  # whoever held it has removed it meanwhile


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
        return True
