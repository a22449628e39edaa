"""Arrow columns, text or typed, to NumPy; the first value that does not convert is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

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

    converted = _cast(place, column, values, pa.float64(), first_row, "is not a number")
    return np.asarray(converted.to_numpy(zero_copy_only=False), dtype=np.float64)


def holds_dates(values: pa.Array) -> bool:
    """Whether a time column holds calendar times: typed so, or text that is no number."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return True
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return is_text and len(values) > 0 and _no_number(str(values[0]))


def has_zone(values: pa.Array) -> bool:
    """Whether the first calendar time states its zone."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        return values.type.tz is not None
    return _ZONE.search(str(values[0])) is not None


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
    if _casts(values, target):
        return values.cast(target)
    index = _first_uncastable(values, target)
    raise place.error(first_row + index, column, f"{str(values[index])!r} {problem}")


def _casts(values: pa.Array, target: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _first_uncastable(values: pa.Array, target: pa.DataType) -> int:
    """Bisect for the first bad value: all before `low` convert, one before `high` does not."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        if _casts(values[low:middle], target):
            low = middle
        else:
            high = middle
    return low


def _no_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False
