"""What running a cell gives: rows of several tables, or what went wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from olprouting.studies.cell import Cell

CELLS: Final = "cells"
"""One row per cell (two where decisions are judged by two programs): the results."""
TIMING: Final = "timing"
"""Wall-clock times, which no two runs share."""
FAILURES: Final = "failures"
"""Cells that ended in an error."""
RECORDS: Final = "records"
"""One row per judged decision or period."""
SERIES: Final = "series"
"""One row per kept iteration, of the first seed."""
PRICES: Final = "prices"
"""Prices of the judged period in which they were highest, of the first seed."""
CONVERGENCE: Final = "convergence"
"""f after so many steps of Algorithm 2 in that period."""
TABLES: Final = (CELLS, TIMING, FAILURES, RECORDS, SERIES, PRICES, CONVERGENCE)


@dataclass(frozen=True)
class CellOutcome:
    """Results of one cell.

    Attributes
    ----------
    cell
        Its id.
    tables
        Rows by table, of plain values.
    """

    cell: str
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def failure(cls, cell: Cell, error: str, details: str = "") -> Self:
        """Return the outcome of a cell that ended in an error."""
        parameters = json.dumps(cell.settings, sort_keys=True)
        row = {"parameters": parameters, "error": error, "details": details}
        return cls(cell.id, {FAILURES: [cell.row | row]})

    @property
    def failed(self) -> bool:
        """Whether the cell ended in an error."""
        return FAILURES in self.tables
