"""Parquet tables, row group by row group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces._packing import most_unpacked, unpacks_to_too_much

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from olprouting.traces._source import Source

_MAGIC = b"PAR1"
_BYTES_PER_VALUE = 8


def is_parquet(source: Source) -> bool:
    """Whether the file is Parquet."""
    return source.head.startswith(_MAGIC)


def header(source: Source) -> list[str]:
    """Return the column names."""
    return [str(name) for name in _file(source).schema_arrow.names]


def batches(source: Source, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the chosen columns as they are typed."""
    import pyarrow as pa

    file = _file(source)
    size = source.stored.size_bytes
    if file.metadata.num_rows * len(columns) * _BYTES_PER_VALUE > most_unpacked(size):
        raise unpacks_to_too_much(source.path, size)
    try:
        yield from file.iter_batches(columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from None


def _file(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    if source.stored.on_disk is None or source.packing is not None:
        raise InputError(f"{source.path} is Parquet within another file: unpack it first")
    try:
        return parquet.ParquetFile(source.stored.on_disk)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from None


def _damaged(source: Source, error: Exception) -> InputError:
    return InputError(f"{source.path}: damaged Parquet: {' '.join(str(error).split())}")
