"""One command at a time writes to a folder."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE: Final = ".lock"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system releases however this process ends.

    Raises
    ------
    InputError
        If another command holds it.
    """
    with (folder / FILE).open("a") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise InputError(f"{folder}: another command is running this study there") from None
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
