"""Tables of every kind as a stream of record batches: text, Parquet, JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.traces._place import Place
from olprouting.traces.formats import _csv, _json, _parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from olprouting.traces._source import Source


def header(source: Source) -> list[str]:
    """Return the column names as the file spells them; empty if it is not a table."""
    if _parquet.is_parquet(source):
        return _parquet.header(source)
    if _json.is_json(source):
        return list(_json.first_record(source))
    return _csv.header(source)


def place_of(source: Source) -> Place:
    """Return the words for rows of a table."""
    if _json.is_json(source):
        return _json.place_of(source)
    return Place(source.path, "data row")


def batches(source: Source, place: Place, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the chosen columns piece by piece: text from CSV, typed from Parquet and JSON."""
    if _parquet.is_parquet(source):
        return _parquet.batches(source, columns)
    if _json.is_json(source):
        return _json.batches(source, place, columns)
    return _csv.batches(source, place, columns)
