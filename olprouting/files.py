"""Writing results: every file appears whole or not at all, and one that fails costs no other."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import NotWrittenError, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pandas as pd
    import pyarrow as pa

    Part = str | pd.DataFrame | Callable[[Path], object]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path in the same folder to write to; at the end, what it holds becomes `path`.

    Whatever happens meanwhile, `path` is as it was before, or whole. What is no regular file, such
    as a pipe, is written to directly.

    Raises
    ------
    NotWrittenError
        If writing fails.
    """
    try:
        with _replacing(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise NotWrittenError(f"{path}: cannot be written: {reason(error)}") from None


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    if is_stream(path):
        yield path
        return
    target = Path(os.path.realpath(path))  # a link goes on to point there
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError("it is write-protected")
    unfinished = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether there is something at `path` that cannot be replaced: a pipe, a worker, a folder."""
    return path.exists() and (path.is_relative_to("/dev") or not path.is_file())


def reason(error: OSError) -> str:
    """Return why the system refused, in one line."""
    return " ".join((error.strerror or str(error)).split())


def write_text(path: Path, text: str) -> Path:
    """Write a text as UTF-8 and return its path; see `replacing`."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path


def write_table(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table without its index, to Parquet or CSV by suffix; floats keep every digit.

    Returns
    -------
    Path
        `path`; see `replacing` for errors.
    """
    with replacing(path) as unfinished:
        _write_table(frame, unfinished)
    return path


def _write_table(frame: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".parquet":
        import pyarrow as pa

        write_parquet(pa.Table.from_pandas(frame, preserve_index=False), path)
    else:
        frame.to_csv(path, index=False)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table to a file of any name; Arrow itself refuses those that are not UTF-8."""
    import pyarrow.parquet as pq

    with path.open("wb") as file:
        pq.write_table(table, file)


def write_parts(folder: Path, parts: Mapping[str, Part]) -> tuple[Path, ...]:
    """Write the parts of a result to a folder, which is created if need be.

    Parameters
    ----------
    folder
        Where to.
    parts
        By file name: text, tables (see `write_table`), or functions that write to a given path.
        They are written in this order.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    NotWrittenError
        If a part could not be written; all others are, and named in `written`.
    """
    import pandas as pd

    written: list[Path] = []
    failed: dict[str, list[str]] = {}  # names by reason
    for name, part in parts.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _replacing(folder / name) as path:
                if isinstance(part, str):
                    path.write_text(part, encoding="utf-8")
                elif isinstance(part, pd.DataFrame):
                    _write_table(part, path)
                else:
                    part(path)
            written.append(folder / name)
        except OSError as error:
            failed.setdefault(reason(error), []).append(name)
        except Exception as error:  # of the libraries that write, each its own
            failed.setdefault(said(error), []).append(name)
    if failed:
        troubles = [f"{', '.join(names)} ({why})" for why, names in failed.items()]
        raise NotWrittenError(f"{folder}: cannot write {', '.join(troubles)}", tuple(written))
    return tuple(written)
