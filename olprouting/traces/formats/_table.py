"""Formats that are tables (CSV, Parquet): a format is a list of accepted column names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.errors import InputError
from olprouting.traces._place import Place
from olprouting.traces._raw import TICKS_PER_S, RawTrace
from olprouting.traces._values import LARGEST, times, whole_numbers
from olprouting.traces.formats import _convert
from olprouting.traces.formats._batches import batches, header

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa

    from olprouting.traces._source import Source

_AT_LEAST = {"prompt_tokens": 1, "decode_tokens": 0, "release_iteration": 1, "key": -LARGEST}


@dataclass(frozen=True)
class TableFormat:
    """A table with one request per row.

    Parameters
    ----------
    name
        See TraceFormat.
    prompt_tokens, decode_tokens
        Accepted names of the token columns, best first. Case and spaces do not matter.
    arrival
        Accepted names of the time column and the unit each stands for; None where the name does
        not tell: calendar times then, or numbers whose unit the caller must give.
    needs_arrival
        Whether the format always has arrivals.
    release_iteration, key
        Accepted names of the optional columns.
    also
        Columns that may stand beside these and are for other readers.
    is_export
        Whether this is our own export: no columns but these, and times that already count from
        the start of the trace.
    """

    name: str
    prompt_tokens: tuple[str, ...]
    decode_tokens: tuple[str, ...]
    arrival: Mapping[str, str | None] = field(default_factory=dict)
    needs_arrival: bool = False
    release_iteration: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    is_export: bool = False

    def recognises(self, source: Source) -> bool:
        """Whether the header has the columns that this format always has."""
        names = header(source)
        found = self._find(names)
        if self.is_export and self._others(names, found):
            return False
        return all(name in found for name in self._required())

    def read(self, source: Source, time_unit: str | None) -> RawTrace:
        """Read the columns of this format; others are ignored with a notice."""
        names = header(source)
        columns = self._columns(source, names)
        place = Place(source.path, "data row")
        reader = _Reader(place, columns, self._unit(columns.get("arrival"), time_unit))
        for batch in batches(source, place, list(columns.values())):
            reader.add(batch)
        raw = reader.raw(keeps_clock=self.is_export)
        ignored = self._others(names, columns)
        if ignored:
            raw.notices.append(f"columns ignored: {', '.join(ignored)}")
        return raw

    def _others(self, names: list[str], columns: Mapping[str, str]) -> list[str]:
        known = {*columns.values(), *self.also}
        return [name for name in names if name not in known]

    def _required(self) -> list[str]:
        return ["prompt_tokens", "decode_tokens"] + ["arrival"] * self.needs_arrival

    def _accepted(self, column: str) -> tuple[str, ...]:
        return tuple(getattr(self, column))

    def _find(self, names: list[str]) -> dict[str, str]:
        """Map our columns to the file's spelling of their names."""
        spelling = {_plain(name): name for name in names}
        found = {}
        for column in ("arrival", "release_iteration", "prompt_tokens", "decode_tokens", "key"):
            for accepted in self._accepted(column):
                if _plain(accepted) in spelling:
                    found[column] = spelling[_plain(accepted)]
                    break
        return found

    def _columns(self, source: Source, names: list[str]) -> dict[str, str]:
        columns = self._find(names)
        for column in self._required():
            if column not in columns:
                raise InputError(
                    f"{source.path}: no column for {column}; accepted names: "
                    f"{', '.join(self._accepted(column))}; the header has: {', '.join(names)}"
                )
        for name in columns.values():
            if names.count(name) > 1:
                raise InputError(f"{source.path}: column {name!r} stands twice in the header")
        return columns

    def _unit(self, column: str | None, time_unit: str | None) -> str | None:
        if time_unit is not None or column is None:
            return time_unit
        return {_plain(name): unit for name, unit in self.arrival.items()}[_plain(column)]


class _Reader:
    """Collects checked columns batch by batch."""

    def __init__(self, place: Place, columns: Mapping[str, str], unit: str | None) -> None:
        self._place = place
        self._columns = columns
        self._unit = unit
        self._zoned: bool | None = None
        self._dated: bool | None = None
        self._next_row = 1
        self._parts: dict[str, list[npt.NDArray[Any]]] = {column: [] for column in columns}

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        for column, name in self._columns.items():
            values = batch.column(name)
            convert = self._ticks if column == "arrival" else self._whole
            self._parts[column].append(convert(column, name, values))
        self._next_row += batch.num_rows

    def raw(self, *, keeps_clock: bool) -> RawTrace:
        data = {c: _joined(self._parts.pop(c)) for c in self._columns}
        unit = "ns" if self._dated else self._unit or "s"
        return RawTrace(
            place=self._place,
            prompt_tokens=data["prompt_tokens"],
            decode_tokens=data["decode_tokens"],
            arrival_ticks=data.get("arrival"),
            ticks_per_s=TICKS_PER_S[unit],
            keeps_clock=keeps_clock and unit == "s",
            release_iteration=data.get("release_iteration"),
            key=data.get("key"),
            notices=self._clock_notices(),
        )

    def _clock_notices(self) -> list[str]:
        if not self._dated:
            return []
        return ["times state their zone" if self._zoned else "times state no zone; taken as UTC"]

    def _whole(self, column: str, name: str, values: pa.Array) -> npt.NDArray[np.int64]:
        numbers = _convert.numbers(self._place, name, values, first_row=self._next_row)
        return whole_numbers(
            self._place, name, numbers, first_row=self._next_row, at_least=_AT_LEAST[column]
        )

    def _ticks(self, _column: str, name: str, values: pa.Array) -> npt.NDArray[Any]:
        if self._dated is None:
            self._settle_clock(name, values)
        if self._dated:
            return _convert.nanoseconds(
                self._place, name, values, zoned=bool(self._zoned), first_row=self._next_row
            )
        numbers = _convert.numbers(self._place, name, values, first_row=self._next_row)
        return times(self._place, name, numbers, first_row=self._next_row)

    def _settle_clock(self, name: str, values: pa.Array) -> None:
        """Decide from the first row what all rows must be."""
        self._dated = _convert.holds_dates(values) and self._unit is None
        if self._dated:
            self._zoned = _convert.has_zone(values)
        elif self._unit is None:
            raise InputError(
                f"{self._place.file}: column {name!r} holds numbers without a unit; "
                "give time_unit 's', 'ms', 'us' or 'ns'"
            )


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
