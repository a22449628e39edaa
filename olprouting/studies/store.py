"""Results on disk: a journal line per finished cell, gathered into an append-only Parquet dataset.

A cell counts as finished once its line stands in the journal. Now and then, and at the end, the
journal becomes a part of the dataset: a folder of one Parquet file per table, which appears by one
rename. Wherever a process is killed, every finished cell is in the one or the other. Both hold the
SHA-256 of what was written, and nothing is read that differs from it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from olprouting.errors import InputError, NotWrittenError
from olprouting.files import reason, write_parquet
from olprouting.instances.documents import load_json
from olprouting.studies.hashing import file_sha256
from olprouting.studies.outcome import CELLS, FAILURES, TABLES, CellOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

Rows = list[dict[str, Any]]

SUMS: Final = "sha256.json"
"""In a part: the SHA-256 of each of its files by name."""

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
        self.gather(self._ids(self._part_rows(CELLS)))

    def add(self, outcome: CellOutcome) -> None:
        """Record a finished cell.

        Raises
        ------
        NotWrittenError
            If the journal cannot be written.
        """
        entry = {"cell": outcome.cell, "tables": outcome.tables}
        line = json.dumps(entry, default=_plain).encode()
        try:
            with self.journal.open("ab") as file:
                file.write(b"%s %s\n" % (_sha256(line).encode(), line))
        except OSError as error:
            raise NotWrittenError(f"{self.journal}: cannot be written: {reason(error)}") from None
        self._waiting += 1
        if self._waiting >= PART_CELLS:
            self.gather()

    def gather(self, known: frozenset[str] | set[str] = frozenset()) -> None:
        """Turn the journal into a part of the dataset, without cells that are in it already.

        Raises
        ------
        NotWrittenError
            If the part cannot be written; the journal stays.
        """
        outcomes = [outcome for outcome in self._journal() if outcome.cell not in known]
        if outcomes:
            last = max((int(part.name) for part in self._parts()), default=0)
            try:
                self._write_part(f"{last + 1:06d}", outcomes)
            except OSError as error:
                raise NotWrittenError(
                    f"{self.parts}: cannot write there: {reason(error)}; the cells are in "
                    f"{self.journal}"
                ) from None
        self.journal.unlink(missing_ok=True)  # what it held is in the dataset
        self._waiting = 0

    def _write_part(self, name: str, outcomes: Sequence[CellOutcome]) -> None:
        for rest in self.parts.glob(".*"):  # of a command that was killed, or had no room
            shutil.rmtree(rest)
        unfinished = self.parts / f".{name}"
        unfinished.mkdir(parents=True)
        sums = {}
        for table in TABLES:
            rows = [row for outcome in outcomes for row in outcome.tables.get(table, [])]
            if rows:
                file = unfinished / f"{table}.parquet"
                write_parquet(arrow_table(rows), file)
                sums[file.name] = file_sha256(file)
        (unfinished / SUMS).write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")
        unfinished.rename(self.parts / name)

    def check(self) -> None:
        """Look at every file of every part.

        Raises
        ------
        InputError
            If one is not what was written, byte for byte.
        """
        for part in self._parts():
            for name, sha256 in _sums(part).items():
                if file_sha256(part / name) != sha256:
                    raise _damaged(part, name)

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
        return [row for part in self._parts() for row in _read(part, table)]

    def _parts(self) -> list[Path]:
        return sorted(part for part in self.parts.glob("[0-9]*") if part.name.isdecimal())

    def _journal(self) -> Iterable[CellOutcome]:
        if not self.journal.exists():
            return []
        lines = self.journal.read_bytes().split(b"\n")[:-1]  # a line without its end was cut off
        found = {}
        for number, line in enumerate(lines, start=1):
            sha256, _, text = line.partition(b" ")
            if sha256 != _sha256(text).encode():
                raise InputError(
                    f"{self.journal}, line {number}: damaged (its SHA-256 differs); delete the "
                    "line and run the study again, which computes that cell alone"
                )
            try:
                entry = json.loads(text)
                found[entry["cell"]] = CellOutcome(entry["cell"], {**entry["tables"]})
            except (ValueError, LookupError, TypeError, RecursionError):
                raise InputError(
                    f"{self.journal}, line {number}: not a finished cell; delete the line and "
                    "run the study again, which computes that cell alone"
                ) from None
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


def _sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _read(part: Path, table: str) -> Rows:
    """Return a table of a part.

    Raises
    ------
    InputError
        If it is not what was written, byte for byte.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = part / f"{table}.parquet"
    sums = _sums(part)
    if file.name not in sums:
        return []
    data = file.read_bytes()
    if _sha256(data) != sums[file.name]:
        raise _damaged(part, file.name)
    rows: Rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    return rows


def _sums(part: Path) -> dict[str, Any]:
    """Return the SHA-256 of each file of a part by name; there are no more files, and no fewer.

    Raises
    ------
    InputError
        If that is not so.
    """
    with suppress(OSError, ValueError):
        sums = load_json((part / SUMS).read_text(encoding="utf-8"), SUMS)
        if isinstance(sums, dict) and set(sums) == {one.name for one in part.glob("*.parquet")}:
            return sums
    raise _damaged(part, SUMS)


def _damaged(part: Path, name: str) -> InputError:
    return InputError(
        f"{part / name}: damaged (its SHA-256 differs); delete the folder {part} and run the study "
        "again, which computes the cells of that part alone"
    )
