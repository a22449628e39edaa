"""Tables the commands write and read: Parquet or CSV, by suffix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write `frame`; floats keep every digit."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `write_table` wrote.

    Raises
    ------
    InputError
        If the file is missing or not such a table.
    """
    import pandas as pd

    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, float_precision="round_trip")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the table: {error}") from None
