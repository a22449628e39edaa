"""JSON objects, one a line or in one list: parsed, each with the number of its row."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces._packing import DAMAGED
from olprouting.traces._place import Place
from olprouting.traces.formats._csv import damaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from olprouting.traces._source import Source

_ROWS_AT_A_TIME = 1 << 16

UNPARSABLE = (ValueError, RecursionError)
"""What Python raises for text that is no JSON, whole numbers without end, and deep nesting."""


_WRAPPED_LIST = re.compile(r'\{\s*"([^"]{1,60})"\s*:\s*\[\s*[\]{]')
_EMPTY_LIST = re.compile(r"\[\s*\]")


@dataclass(frozen=True)
class _Repeated:
    """Stands for an object in which a key stands twice, until its row is known."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeated:
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    keys = [key for key, _ in pairs]
    return _Repeated(next(key for key in keys if keys.count(key) > 1))


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def is_json(source: Source) -> bool:
    """Whether the text looks like JSON."""
    return source.first_line().lstrip().startswith(("{", "["))


def is_list(source: Source) -> bool:
    """Whether the text looks like one JSON list."""
    return source.first_line().lstrip().startswith("[")


def first_record(source: Source) -> dict[str, Any]:
    """Return the first line, or the first member of a list, as a JSON object; empty if none."""
    line = source.first_line()
    try:
        if is_list(source):
            record, _ = _DECODER.raw_decode(_text(source)[1:].lstrip())
        else:
            record = _DECODER.decode(line)
    except json.JSONDecodeError:  # cut off, or the first line of many that are one value
        return {}
    except UNPARSABLE as error:
        raise _unusable(place_of(source), 1, error) from None
    if isinstance(record, _Repeated):
        raise _repeated(place_of(source), 1, record)
    return record if isinstance(record, dict) else {}


def why_unknown(source: Source) -> str:
    """Return why JSON is of no known format, where its begin shows it; empty if it does not."""
    text = _text(source)
    if _EMPTY_LIST.match(text):
        return "; the list is empty"
    if wrapped := _WRAPPED_LIST.match(text):
        return f"; it is an object with a list, {wrapped[1]!r}: save that list by itself"
    return ""


def place_of(source: Source) -> Place:
    """Return the words for rows of a JSON file."""
    if is_list(source):
        return Place(source.path, "record")
    above, _ = source.text_begins()
    return Place(source.path, "line", rows_before=above)


def records(source: Source, place: Place) -> Iterator[Any]:
    """Yield what should be objects: the members of a list, or the lines of a file."""
    if not is_list(source):
        return _lines(source, place)
    members = load_document(source)
    if not isinstance(members, list):
        raise InputError(f"{source.path}: expected a JSON list of objects")
    return iter(members)


def batches(source: Source, place: Place, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the chosen fields as columns, typed as JSON types them."""
    import pyarrow as pa

    row = 1
    found = records(source, place)
    while chunk := list(islice(found, _ROWS_AT_A_TIME)):
        arrays = [_column(place, row, chunk, name) for name in columns]
        yield pa.record_batch(arrays, names=list(columns))
        row += len(chunk)


def field_of(place: Place, row: int, record: Any, field: str) -> Any:
    """Return a field that a record must have."""
    if isinstance(record, _Repeated):
        raise _repeated(place, row, record)
    if not isinstance(record, dict):
        raise place.row_error(row, f"expected a JSON object, got {record!r:.60}")
    if field not in record:
        raise place.error(row, field, f"is missing; the record has: {', '.join(record):.200}")
    return record[field]


def load_document(source: Source) -> Any:
    """Parse a whole file as one JSON value."""
    with source.open() as file:
        try:
            document = _DECODER.decode(file.read().decode())
            if not isinstance(document, _Repeated):
                return document
            problem = f"key {document.key!r:.60} stands twice"
        except InputError:
            raise
        except DAMAGED:
            word = "file is" if source.packing is None else f"{source.packing.name} data are"
            problem = f"the {word} truncated or damaged"
        except UnicodeDecodeError:
            problem = "is not UTF-8 text"
        except json.JSONDecodeError as error:
            problem = f"line {error.lineno}: is not valid JSON ({error.msg})"
        except UNPARSABLE as error:
            problem = f"is not usable JSON ({error})"
    raise InputError(f"{source.path}: {problem}")


def _lines(source: Source, place: Place) -> Iterator[Any]:
    """Yield one parsed value per line; blank lines are allowed at both ends only."""
    blank = line = 0
    with source.open() as file:
        try:
            for _ in range(source.text_begins()[0]):
                file.readline()
            for line, text in enumerate(file, start=1):
                if text.isspace():
                    blank = blank or line
                    continue
                if blank:
                    raise place.row_error(blank, "is blank")
                yield _parsed(place, line, text)
        except DAMAGED as error:
            raise damaged(source, place, line, error) from None


def _parsed(place: Place, line: int, text: bytes) -> Any:
    try:
        return _DECODER.decode(text.decode())
    except UnicodeDecodeError:
        raise place.row_error(line, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise place.row_error(
            line, f"is not valid JSON ({error.msg} at character {error.pos + 1})"
        ) from None
    except UNPARSABLE as error:
        raise _unusable(place, line, error) from None


def _text(source: Source) -> str:
    """Return the begin of the text, without comments and blanks above."""
    above, _ = source.text_begins()
    return b"\n".join(source.head.split(b"\n")[above:]).decode(errors="ignore").lstrip()


def _unusable(place: Place, row: int, error: Exception) -> InputError:
    return place.row_error(row, f"is not usable JSON ({error})")


def _repeated(place: Place, row: int, record: _Repeated) -> InputError:
    return place.row_error(row, f"key {record.key!r:.60} stands twice")


def _column(place: Place, first_row: int, chunk: list[Any], field: str) -> pa.Array:
    import pyarrow as pa

    values = [
        field_of(place, row, record, field) for row, record in enumerate(chunk, start=first_row)
    ]
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {str}:
        return pa.array(values, pa.string())
    if kinds == {int}:
        try:
            return pa.array(values, pa.int64())
        except OverflowError:  # an id, or a number that the later check refuses
            return pa.array([None if value is None else str(value) for value in values])
    if kinds <= {int, float}:
        return pa.array([None if value is None else _float(value) for value in values])
    is_text = isinstance(next(value for value in values if value is not None), str)
    fitting, word = ((str,), "text") if is_text else ((int, float), "number")
    for row, value in enumerate(values, start=first_row):
        if value is not None and type(value) not in fitting:
            raise place.error(row, field, f"{value!r:.60} is not a {word}")
    raise AssertionError(kinds)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")
