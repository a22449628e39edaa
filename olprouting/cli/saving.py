"""What a command saves before it prints, and the end of a command of which a part failed."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from olprouting.errors import InputError, NotWrittenError
from olprouting.files import is_stream, reason
from olprouting.locks import only_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FAILED = 2
"""Exit code of a command of which a part failed, as for bad input."""


MISLEADING = 3
"""Exit code, if asked for, of a result that is right, but of which a warning says it misleads."""

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

    def end(
        self,
        problems: Iterable[str] = (),
        *,
        interrupted: bool = False,
        misleading: Iterable[str] = (),
    ) -> None:
        """Say on stderr what was written and what failed; to be called last.

        Parameters
        ----------
        problems
            What failed besides what could not be written.
        interrupted
            Whether Ctrl-C was pressed elsewhere than in a part.
        misleading
            Warnings that the user takes for an error; they have been printed.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C.
        typer.Exit
            With code 2, if something failed, else with code 3, if something misleads.
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
        if tuple(misleading):
            raise typer.Exit(MISLEADING)


def own_folder(context: typer.Context, folder: Path) -> Path:
    """Return a folder, created if need be, that is this command's to write to until it ends.

    The path is absolute: a policy of the user's may change the current folder.

    Raises
    ------
    InputError
        If it cannot be created or written to, or another command writes there.
    """
    folder = folder.absolute()
    make_folder(folder)
    context.with_resource(only_writer(folder))
    return folder


def own_file(context: typer.Context, file: Path, others: Iterable[str | Path | None] = ()) -> Path:
    """Return a file that is this command's to write until it ends; the path is absolute.

    Parameters
    ----------
    context
        The command.
    file
        What it is to write.
    others
        What else it reads or writes; see `refuse_same`.

    Raises
    ------
    InputError
        If it cannot be written, is one of `others`, or another command writes it.
    """
    refuse_same(file, others)
    file = file.absolute()
    if file.is_dir():
        raise InputError(f"{file}: cannot be written: it is a folder")
    if not file.parent.is_dir():
        raise InputError(f"{file}: cannot be written: there is no folder {file.parent}")
    context.with_resource(only_writer(file))
    return file


def refuse_same(file: Path, others: Iterable[str | Path | None]) -> None:
    """Refuse a file to be written that the command also reads, or writes otherwise.

    Parameters
    ----------
    file
        What is to be written; "-" is refused too, for it would be a file of that name.
    others
        Files, or words that may be the name of one; None or "" is skipped.

    Raises
    ------
    InputError
        If it is one of the others.
    """
    if str(file) == "-":
        raise InputError("-: results go to a file; name one (./- for a file of this name)")
    for other in others:
        if other and not is_stream(file) and _same(file, other):
            raise InputError(
                f"{file}: this command also uses it as {other}; it would be overwritten, so "
                "write to another file"
            )


def _same(file: Path, other: str | Path) -> bool:
    if os.path.realpath(file) == os.path.realpath(other):
        return True
    with suppress(OSError, ValueError):  # no such file
        return os.path.samefile(file, other)
    return False


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
