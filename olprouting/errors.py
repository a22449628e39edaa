"""Errors a user can mend: bad input, an unknown name, a solver that is not there."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Member = TypeVar("Member", bound=StrEnum)

_LONGEST_MESSAGE = 2000
_LONGEST_SHOWN = 100
"""Characters of a message, and of a value in it."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line that names what was given (file, row, column or argument), what was
    expected and what to do. The command line prints it and exits with code 2.
    """

    def __init__(self, message: object = "") -> None:
        line = " ".join(str(message).splitlines())
        if len(line) > _LONGEST_MESSAGE:
            line = f"{line[: _LONGEST_MESSAGE // 2]} ... {line[-_LONGEST_MESSAGE // 4 :]}"
        super().__init__(line)


class SolverUnavailableError(InputError):
    """A solver that is known by name but not installed or not licensed on this machine."""


class PolicyError(InputError):
    """A routing policy that failed in the middle of a run; the message says where."""


class NotWrittenError(InputError):
    """Results that could not be written: a full disk, no permission, a folder that is gone.

    Parameters
    ----------
    message
        What could not be written, and why.
    written
        Files of the same result that are there.
    """

    def __init__(self, message: str, written: tuple[Path, ...] = ()) -> None:
        super().__init__(message)
        self.written = written


class Failures:
    """Parts of a question that failed, while the others go on."""

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    @contextmanager
    def kept(
        self, kind: type[InputError] | tuple[type[InputError], ...] = InputError
    ) -> Iterator[None]:
        """Keep an error of the block, which is a part, if it is of this kind."""
        try:
            yield
        except kind as error:
            self._errors.append(error)

    @property
    def messages(self) -> tuple[str, ...]:
        """A line per failure, none twice."""
        return tuple(dict.fromkeys(map(str, self._errors)))

    def raise_first(self) -> None:
        """Raise the first error that was kept, if there is one: for when nothing else is left."""
        if self._errors:
            raise self._errors[0]


def shown(value: object) -> str:
    """Return a value as messages quote it: as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python prints no numbers of more than 4,300 digits
        return f"<{type(value).__name__} too large to print>"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 20]}...{text[-9:]}"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Build the error for a name that is not among `known`.

    Parameters
    ----------
    kind
        What was asked for, such as ``"policy"`` or ``"solver"``.
    name
        The name that was given.
    known
        The names that exist.

    Returns
    -------
    InputError
        An error that lists the known names and suggests the nearest.
    """
    names = sorted(map(str, known))  # plain text, whatever enumeration they come from
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return InputError(f"unknown {kind} {shown(name)}; known: {', '.join(names)}.{hint}")


def member_named(kind: type[Member], what: str, name: str) -> Member:
    """Return the member of an enumeration that is called `name`.

    Parameters
    ----------
    kind
        The enumeration.
    what
        What was asked for, as for `unknown_name`.
    name
        The name that was given, or a member.

    Raises
    ------
    InputError
        If there is none; the message lists those that exist.
    """
    try:
        return kind(name)
    except ValueError:
        raise unknown_name(what, str(name), list(kind)) from None


def said(error: BaseException) -> str:
    """Return in one line what a user's code raised, even if it has no text.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C is pressed meanwhile.
    """
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as another:
        text = f"(no text: {type(another).__name__})"
    return " ".join(f"{type(error).__name__}: {text}".split())
