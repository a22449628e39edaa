"""What a command saves before it prints, and the end of a command of which a part failed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from olprouting.errors import InputError, NotWrittenError
from olprouting.files import reason
from olprouting.locks import only_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FAILED = 2
"""Exit code of a command of which a part failed, as for bad input."""


FOR_VERIFY = ", for `olprouting verify`"


class Saving:
    """The results of a command: what was written, what failed.

    Attributes
    ----------
    interrupted
        Whether Ctrl-C was pressed in a part.
    """

    def __init__(self) -> None:
        self._written: dict[Path, str] = {}
        self._problems: list[str] = []
        self.interrupted = False

    @contextmanager
    def part(self) -> Iterator[None]:
        """Let the command go on if the block cannot write, or is interrupted."""
        try:
            yield
        except NotWrittenError as error:
            self._written |= dict.fromkeys(error.written, "")
            self._problems.append(str(error))
        except KeyboardInterrupt:
            self.interrupted = True

    def save(self, write: Callable[[], Iterable[Path]], use: str = "") -> None:
        """Call a function that writes files and returns their paths; `use` says what for."""
        with self.part():
            self._written |= dict.fromkeys(write(), use)

    def end(self, problems: Iterable[str] = (), *, interrupted: bool = False) -> None:
        """Say on stderr what was written and what failed; to be called last.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C.
        typer.Exit
            With code 2, if something failed.
        """
        for path, use in self._written.items():
            typer.echo(f"wrote {path}{use}", err=True)
        failed = dict.fromkeys([*problems, *self._problems])
        for problem in failed:
            typer.echo(f"olprouting: {problem}", err=True)
        if interrupted or self.interrupted:
            raise KeyboardInterrupt
        if failed:
            raise typer.Exit(FAILED)


def own_folder(context: typer.Context, folder: Path) -> Path:
    """Return a folder, created if need be, that is this command's to write to until it ends.

    Raises
    ------
    InputError
        If it cannot be created or written to, or another command writes there.
    """
    make_folder(folder)
    context.with_resource(only_writer(folder))
    return folder


def own_file(context: typer.Context, file: Path) -> Path:
    """Return a file that is this command's to write until it ends.

    Raises
    ------
    InputError
        If it cannot be written, or another command writes it.
    """
    if file.is_dir():
        raise InputError(f"{file}: cannot be written: it is a folder")
    if not file.parent.is_dir():
        raise InputError(f"{file}: cannot be written: there is no folder {file.parent}")
    context.with_resource(only_writer(file))
    return file


def make_folder(folder: Path) -> None:
    """Create a folder, if it is not there.

    Raises
    ------
    InputError
        If that fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot write there: {reason(error)}; give another folder (--out)"
        ) from None
