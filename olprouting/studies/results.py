"""The results of a study as tables, in the order of its cells whatever finished first."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from olprouting.files import write_parquet, write_parts
from olprouting.studies.manifest import Manifest
from olprouting.studies.outcome import CELLS, TABLES
from olprouting.studies.store import Rows, Store, arrow_table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from olprouting.files import Part
    from olprouting.studies.definition import Study

FOLDER: Final = "tables"


@dataclass(frozen=True, eq=False)
class Results:
    """The results in a folder.

    Attributes
    ----------
    folder
        The folder.
    manifest
        Its manifest.
    """

    folder: Path
    manifest: Manifest
    _read: dict[str, Rows] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, folder: Path) -> Results:
        """Open a folder.

        Raises
        ------
        InputError
            If it holds no study.
        """
        return cls(folder, Manifest.read(folder))

    @property
    def study(self) -> Study:
        """The study."""
        return self.manifest.study

    @property
    def finished(self) -> int:
        """How many cells are finished."""
        return len({row["cell"] for row in self.rows(CELLS)})

    def rows(self, table: str) -> Rows:
        """Return the rows of a table (`TABLES`), in the order of the study's cells."""
        if table not in self._read:
            place = {cell.id: number for number, cell in enumerate(self.study.cells)}
            rows = [row for row in Store(self.folder).rows(table) if row["cell"] in place]
            self._read[table] = sorted(rows, key=lambda row: place[row["cell"]])
        return self._read[table]

    def frame(self, table: str) -> pd.DataFrame:
        """Return a table as a data frame; empty if there are no rows."""
        frame: pd.DataFrame = arrow_table(self.rows(table)).to_pandas()
        return frame

    def write_tables(self) -> tuple[Path, ...]:
        """Write all tables that have rows, as Parquet and CSV.

        Those of the same study hold the same bytes however it was run, save the wall-clock times
        in ``timing``.

        Returns
        -------
        tuple of Path
            The files written.

        Raises
        ------
        NotWrittenError
            If one cannot be written; all others are.
        """
        parts: dict[str, Part] = {}
        for name in TABLES:
            files = f"{name}.parquet", f"{name}.csv"
            if self.rows(name):
                table = arrow_table(self.rows(name))
                parts[files[0]] = partial(write_parquet, table)
                parts[files[1]] = table.to_pandas().to_csv(index=False, lineterminator="\n")
            else:  # of an earlier run
                for file in files:
                    (self.folder / FOLDER / file).unlink(missing_ok=True)
        return write_parts(self.folder / FOLDER, parts)
