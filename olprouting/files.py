"""Writing what results consist of: tables, documents, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Part = str | pd.DataFrame | Axes | Figure


def write_parts(folder: Path, parts: Mapping[str, Part]) -> tuple[Path, ...]:
    """Write the parts of a result to a folder, which is created if need be.

    Parameters
    ----------
    folder
        Where to.
    parts
        By file name: text, tables (see `write_table`), and figures, or axes of them.

    Returns
    -------
    tuple of Path
        The files written.
    """
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        if isinstance(part, str):
            (folder / name).write_text(part, encoding="utf-8")
        elif isinstance(part, pd.DataFrame):
            write_table(part, folder / name)
        else:
            figure = part.get_figure(root=True)
            assert figure is not None
            figure.savefig(folder / name, dpi=150)
    return tuple(folder / name for name in parts)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table without its index, to Parquet or CSV by suffix; floats keep every digit."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
