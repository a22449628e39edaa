"""Results on disk: a journal line per finished cell, gathered into an append-only Parquet dataset.

A cell counts as finished once its line stands in the journal. Now and then, and at the end, the
journal becomes a part of the dataset: a folder of one Parquet file per table, which appears by one
rename. Wherever a process is killed, every finished cell is in the one or the other.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any, Final

from olprouting.studies.outcome import CELLS, FAILURES, TABLES, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

Rows = list[dict[str, Any]]

PART_CELLS: Final = 500
"""The journal becomes a part when it has so many cells."""


class Store:
    """The results of one study in a folder.

    Parameters
    ----------
    folder
        The folder of the study.
    """

    def __init__(self, folder: Path) -> None:
        self.parts = folder / "parts"
        self.journal = folder / "journal.jsonl"
        self._waiting = 0

    def recover(self) -> None:
        """Make ready for writing: turn a journal that was left behind into a part."""
        self.parts.mkdir(parents=True, exist_ok=True)
        for rest in self.parts.glob(".*"):
            shutil.rmtree(rest)
        self.gather(self._ids(self._part_rows(CELLS)))

    def add(self, outcome: Outcome) -> None:
        """Record a finished cell."""
        line = json.dumps({"cell": outcome.cell, "tables": outcome.tables}, default=_plain)
        with self.journal.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        self._waiting += 1
        if self._waiting >= PART_CELLS:
            self.gather()

    def gather(self, known: frozenset[str] | set[str] = frozenset()) -> None:
        """Turn the journal into a part of the dataset, without cells that are in it already."""
        import pyarrow.parquet as pq

        outcomes = [outcome for outcome in self._journal() if outcome.cell not in known]
        if outcomes:
            name = f"{1 + len(list(self.parts.glob('[0-9]*'))):06d}"
            unfinished = self.parts / f".{name}"
            unfinished.mkdir()
            for table in TABLES:
                rows = [row for outcome in outcomes for row in outcome.tables.get(table, [])]
                if rows:
                    pq.write_table(arrow_table(rows), unfinished / f"{table}.parquet")
            unfinished.rename(self.parts / name)
        self.journal.unlink(missing_ok=True)  # what it held is in the dataset
        self._waiting = 0

    def finished(self) -> set[str]:
        """Return the ids of all finished cells that did not end in an error."""
        return self._ids(self.rows(CELLS))

    def rows(self, table: str) -> Rows:
        """Return the rows of a table in the order in which cells finished.

        Cells that failed and finished later are no failures; of several failures the last counts.
        """
        rows = self._part_rows(table)
        known = self._ids(self._part_rows(CELLS))
        for outcome in self._journal():
            if outcome.cell not in known:
                rows += outcome.tables.get(table, [])
        if table != FAILURES:
            return rows
        finished = self.finished()
        last = {row["cell"]: row for row in rows if row["cell"] not in finished}
        return list(last.values())

    def _part_rows(self, table: str) -> Rows:
        import pyarrow.parquet as pq

        rows: Rows = []
        for file in sorted(self.parts.glob(f"[0-9]*/{table}.parquet")):
            rows += pq.read_table(file).to_pylist()
        return rows

    def _journal(self) -> Iterable[Outcome]:
        if not self.journal.exists():
            return []
        lines = self.journal.read_bytes().split(b"\n")[:-1]  # a line without its end was cut off
        found = {}
        for line in lines:
            entry = json.loads(line)
            found[entry["cell"]] = Outcome(entry["cell"], entry["tables"])
        return list(found.values())

    @staticmethod
    def _ids(rows: Rows) -> set[str]:
        return {row["cell"] for row in rows}


def arrow_table(rows: Rows) -> pa.Table:
    """Return rows of plain values as a table whose columns are all that occur, in that order."""
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    return pa.table(columns)


def _plain(number: np.generic) -> Any:
    return number.item()


def _column(values: list[Any]) -> list[Any]:
    """Return values of one type: text where a column has text and numbers."""
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) > 1 and kinds & {str, bool}:
        return [None if value is None else str(value) for value in values]
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return values


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is never seen half written."""
    unfinished = path.with_name(f".{path.name}")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
