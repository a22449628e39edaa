"""Where a value stands in a file, for messages that a user can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from olprouting.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Place:
    """A file and the word for its rows, counted from 1.

    Parameters
    ----------
    file
        The file being read.
    row_word
        ``"data row"`` (tables: header and blank lines are not counted), ``"line"`` (JSON lines) or
        ``"record"`` (JSON documents).
    """

    file: Path
    row_word: str

    def error(self, row: int, column: str, problem: str) -> InputError:
        """Build the error for one value."""
        return InputError(f"{self.file}, {self.row_word} {row}, column {column!r}: {problem}")

    def row_error(self, row: int, problem: str) -> InputError:
        """Build the error for a whole row."""
        return InputError(f"{self.file}, {self.row_word} {row}: {problem}")
