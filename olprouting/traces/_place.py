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
    rows_before
        Lines above the first row.
    """

    file: Path
    row_word: str
    rows_before: int = 0

    def error(self, row: int, column: str, problem: str) -> InputError:
        """Build the error for one value."""
        return self.row_error(row, f"column {column!r}: {problem}", joint=", ")

    def row_error(self, row: int, problem: str, joint: str = ": ") -> InputError:
        """Build the error for a whole row."""
        return InputError(f"{self.file}, {self.row_word} {row + self.rows_before}{joint}{problem}")
