"""Formats that are tables (CSV, Parquet, JSON): a format is a list of accepted column names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.errors import InputError
from olprouting.traces._raw import TICKS_PER_S, RawTrace
from olprouting.traces._values import times, whole_numbers
from olprouting.traces.formats import _convert
from olprouting.traces.formats._batches import batches, header, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa

    from olprouting.traces._place import Place
    from olprouting.traces._source import Source
    from olprouting.traces.columns import ColumnChoice

COLUMNS = ("arrival", "release_iteration", "prompt_tokens", "decode_tokens", "key", "slo_class")
"""What a table may hold."""

SAY_WHICH = "say which is which by columns: arrival=NAME,prompt=NAME,decode=NAME"

_LIKE_TIMES = ("arriv", "timestamp")

_OPTIONS = {"arrival": "arrival", "prompt_tokens": "prompt", "decode_tokens": "decode"}

_AT_LEAST = {"prompt_tokens": 0, "decode_tokens": 0, "release_iteration": 1}


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
    release_iteration, key, slo_class
        Accepted names of the optional columns.
    chosen
        Columns that the caller has named: they must be there, spelled so if others are like them.
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
    slo_class: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
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
        ignored = self._others(names, columns)
        if "arrival" not in columns:
            _refuse_unused_times(source, ignored)
        place = place_of(source)
        reader = _Reader(place, columns, self._unit(columns.get("arrival"), time_unit))
        for batch in batches(source, place, list(columns.values())):
            reader.add(batch)
        raw = reader.raw(keeps_clock=self.is_export)
        if ignored:
            raw.notices.append(f"columns ignored: {', '.join(ignored)}")
        return raw

    def refuse_rivals(self, source: Source) -> None:
        """Refuse a table in which two columns go by accepted names of one quantity.

        Raises
        ------
        InputError
            Naming them.
        """
        names = header(source)
        for column, option in _OPTIONS.items():
            accepted = {_plain(name) for name in self._accepted(column)}
            rivals = {_plain(name): name for name in names if _plain(name) in accepted}
            if len(rivals) > 1:
                raise InputError(
                    f"{source.path}: columns {' and '.join(map(repr, rivals.values()))} may each "
                    f"be the {column}; say which by --columns {option}=NAME"
                )

    def with_columns(self, choice: ColumnChoice) -> TableFormat:
        """Return this format with the columns of a choice, which must be there."""
        units = {_plain(name): unit for name, unit in self.arrival.items()}
        named: dict[str, Any] = {
            column: (name,)
            for column, name in (
                ("prompt_tokens", choice.prompt),
                ("decode_tokens", choice.decode),
                ("key", choice.key),
            )
            if name is not None
        }
        if choice.arrival is not None:
            named["arrival"] = {choice.arrival: units.get(_plain(choice.arrival))}
        return replace(self, **named, chosen=tuple(named))

    def _others(self, names: list[str], columns: Mapping[str, str]) -> list[str]:
        known = {*columns.values(), *self.also}
        return [name for name in names if name not in known]

    def _required(self) -> list[str]:
        always = ("prompt_tokens", "decode_tokens", *["arrival"] * self.needs_arrival)
        return list(dict.fromkeys((*always, *self.chosen)))

    def _accepted(self, column: str) -> tuple[str, ...]:
        return tuple(getattr(self, column))

    def _find(self, names: list[str]) -> dict[str, str]:
        """Map our columns to the file's spelling of their names, the exact one first."""
        spelling = {_plain(name): name for name in reversed(names)}
        found = {}
        for column in COLUMNS:
            for accepted in self._accepted(column):
                if accepted in names or _plain(accepted) in spelling:
                    found[column] = accepted if accepted in names else spelling[_plain(accepted)]
                    break
        return found

    def _columns(self, source: Source, names: list[str]) -> dict[str, str]:
        columns = self._find(names)
        for column in self._required():
            if column not in columns:
                raise InputError(
                    f"{source.path}: no column for {column}; accepted names: "
                    f"{', '.join(self._accepted(column))}; the header has: {', '.join(names)}; "
                    f"{SAY_WHICH}"
                )
        for column, name in columns.items():
            if names.count(name) > 1:
                raise InputError(f"{source.path}: column {name!r} stands twice in the header")
            alike = [other for other in names if _plain(other) == _plain(name)]
            if len(alike) > 1 and not (column in self.chosen and name in self._accepted(column)):
                raise InputError(
                    f"{source.path}: columns {' and '.join(map(repr, alike))} differ only in case "
                    f"or blanks; {SAY_WHICH}"
                )
        self.refuse_rivals(source)
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
        self._ids: list[pa.Array] = []

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        for column, name in self._columns.items():
            values = batch.column(name)
            if column == "key":
                self._ids.append(values)  # what they are is seen when all are there
                continue
            if column == "slo_class":
                names = _convert.names(self._place, name, values, first_row=self._next_row)
                self._parts[column].append(names)
                continue
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
            key=_convert.ids(self._ids) if "key" in data else None,
            slo_class=data.get("slo_class"),
            clock=self._clock(),
        )

    def _clock(self) -> str | None:
        if not self._dated:
            return None
        return "times state their zone" if self._zoned else "times state no zone; taken as UTC"

    def _whole(self, column: str, name: str, values: pa.Array) -> npt.NDArray[np.int64]:
        place, row = self._place, self._next_row
        numbers = _convert.numbers(place, name, values, first_row=row)
        _convert.refuse_rounded(place, name, values, numbers, first_row=row)
        return whole_numbers(place, name, numbers, first_row=row, at_least=_AT_LEAST[column])

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
                "give time_unit 's', 'ms', 'us' or 'ns' (among columns: unit=s)"
            )


def _refuse_unused_times(source: Source, ignored: list[str]) -> None:
    for name in ignored:
        if _plain(name).startswith(_LIKE_TIMES):
            raise InputError(
                f"{source.path}: column {name!r} looks like arrival times, but its name tells no "
                f"unit known here; say so by --columns 'arrival={name},unit=UNIT' "
                f"(one of {', '.join(TICKS_PER_S)}), or rename or remove it"
            )


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
