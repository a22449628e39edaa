"""Arrow columns, text or typed, to NumPy; the first value that does not convert is named."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.errors import InputError
from olprouting.traces._values import LARGEST

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from olprouting.traces._place import Place

_ZONE = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$")


def numbers(
    place: Place, column: str, values: pa.Array, *, first_row: int
) -> npt.NDArray[np.float64]:
    """Convert to float64."""
    import pyarrow as pa

    if pa.types.is_boolean(values.type):
        raise InputError(f"{place.file}: column {column!r} holds true and false, not numbers")
    converted = _cast(place, column, values, pa.float64(), first_row, "is not a number")
    return np.asarray(converted.to_numpy(zero_copy_only=False), dtype=np.float64)


def refuse_rounded(
    place: Place,
    column: str,
    values: pa.Array,
    converted: npt.NDArray[np.float64],
    *,
    first_row: int,
) -> None:
    """Refuse text that became 2^53 and is another number: 2^53 + 1 has no double of its own."""
    for index in np.flatnonzero(np.abs(converted) == LARGEST):
        text = str(values[int(index)]).strip()
        if _is_text(values) and abs(Decimal(text)) != LARGEST:
            raise place.error(first_row + int(index), column, f"{text} is more than 2^53")


def ids(parts: list[pa.Array]) -> npt.NDArray[Any]:
    """Return int64 if all are whole numbers that a double holds, else each as it is written.

    None stands for an empty cell.
    """
    whole = [number for values in parts if (number := _whole_numbers(values)) is not None]
    if len(whole) == len(parts):
        return np.concatenate(whole) if whole else np.zeros(0, dtype=np.int64)
    written = [each for values in parts for each in trimmed(values).to_pylist()]
    texts = [None if each in (None, "") else str(each) for each in written]
    return np.array(texts, dtype=object)


def names(place: Place, column: str, values: pa.Array, *, first_row: int) -> npt.NDArray[np.str_]:
    """Return names; an empty cell is refused."""
    written = ["" if each is None else str(each) for each in trimmed(values).to_pylist()]
    if "" in written:
        raise place.error(first_row + written.index(""), column, "is empty")
    return np.array(written, dtype=np.str_)


def _whole_numbers(values: pa.Array) -> npt.NDArray[np.int64] | None:
    import pyarrow as pa

    converted = _converted(trimmed(values), pa.float64())
    if values.null_count or converted is None:
        return None
    numbers = np.asarray(converted.to_numpy(zero_copy_only=False))
    if not (np.abs(numbers) <= LARGEST).all() or (numbers != np.floor(numbers)).any():
        return None
    return numbers.astype(np.int64)


def trimmed(values: pa.Array) -> pa.Array:
    """Return text without blanks around it, anything else as it is."""
    import pyarrow.compute as pc

    return pc.utf8_trim_whitespace(values) if _is_text(values) else values


def holds_dates(values: pa.Array) -> bool:
    """Whether a time column holds calendar times: typed so, or text that is no number."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return True
    return _is_text(values) and len(values) > 0 and _no_number(str(values[0]))


def has_zone(values: pa.Array) -> bool:
    """Whether the first calendar time states its zone."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return values.type.tz is not None
    return _ZONE.search(str(values[0]).strip()) is not None


def nanoseconds(
    place: Place, column: str, values: pa.Array, *, zoned: bool, first_row: int
) -> npt.NDArray[np.int64]:
    """Convert calendar times to int64 nanoseconds since 1970 in UTC.

    `zoned` says whether the file's first row states a zone: all rows must then, or none.
    """
    import pyarrow as pa

    kind = "a date and time with zone" if zoned else "a date and time without zone"
    target = pa.timestamp("ns", tz="UTC" if zoned else None)
    converted = _cast(place, column, values, target, first_row, f"is not {kind}")
    return np.asarray(converted.cast(pa.int64()).to_numpy(zero_copy_only=False), dtype=np.int64)


def _cast(
    place: Place, column: str, values: pa.Array, target: pa.DataType, first_row: int, problem: str
) -> pa.Array:
    if values.null_count:
        index = values.is_null().index(True).as_py()
        raise place.error(first_row + index, column, "is empty")
    converted = _converted(values, target)
    if converted is None:  # a few have blanks around their cells
        converted = _converted(trimmed(values), target)
    if converted is not None:
        return converted
    index = _first_uncastable(trimmed(values), target)
    raise place.error(first_row + index, column, f"{str(values[index]).strip()!r} {problem}")


def _converted(values: pa.Array, target: pa.DataType) -> pa.Array | None:
    import pyarrow as pa

    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _first_uncastable(values: pa.Array, target: pa.DataType) -> int:
    """Bisect for the first bad value: all before `low` convert, one before `high` does not."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        if _converted(values[low:middle], target) is not None:
            low = middle
        else:
            high = middle
    return low


def _is_text(values: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _no_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False
