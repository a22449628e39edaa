"""CSV and Parquet files as a stream of record batches, in bounded memory."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces._source import DAMAGED_GZIP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from olprouting.traces._place import Place
    from olprouting.traces._source import Source

_PARQUET_MAGIC = b"PAR1"


def is_parquet(source: Source) -> bool:
    """Whether the file is Parquet."""
    return source.head.startswith(_PARQUET_MAGIC)


def header(source: Source) -> list[str]:
    """Return the column names as the file spells them; empty if it is not a table."""
    if is_parquet(source):
        return _parquet_header(source)
    line = source.first_line()
    if not line.isprintable() or line.lstrip().startswith(("{", "[")):
        return []
    return next(csv.reader([line]), [])


def batches(source: Source, place: Place, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the chosen columns piece by piece: text from CSV, typed from Parquet."""
    if is_parquet(source):
        return _parquet_batches(source, columns)
    return _csv_batches(source, place, columns)


def _csv_batches(source: Source, place: Place, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    bad_rows: list[Any] = []

    def stop_at(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    rows = 0
    with source.open() as file:
        try:
            for batch in pa_csv.open_csv(
                file,
                # Row numbers are only known to the serial reader.
                read_options=pa_csv.ReadOptions(use_threads=False),
                parse_options=pa_csv.ParseOptions(invalid_row_handler=stop_at),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()),
                    include_columns=list(columns),
                    strings_can_be_null=False,
                ),
            ):
                rows += batch.num_rows
                yield batch
        except DAMAGED_GZIP:
            raise place.row_error(
                rows, "the gzip data are truncated or damaged after this row; download it again"
            ) from None
        except pa.ArrowInvalid as error:
            if not bad_rows:
                raise InputError(f"{source.path}: {_one_line(error)}") from None
            row = bad_rows[0]
            raise place.row_error(
                row.number - 1,
                f"{row.actual_columns} values where the header has {row.expected_columns}: "
                f"{row.text!r}",
            ) from None


def _parquet_header(source: Source) -> list[str]:
    return [str(name) for name in _parquet_file(source).schema_arrow.names]


def _parquet_batches(source: Source, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:
        yield from _parquet_file(source).iter_batches(columns=list(columns))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{source.path}: damaged Parquet: {_one_line(error)}") from None


def _parquet_file(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(source.path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{source.path}: damaged Parquet: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
