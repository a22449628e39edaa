"""Formats with JSON objects of Mooncake's kind: times, lengths, prefix hashes, sessions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.traces._raw import TICKS_PER_S, RawTrace
from olprouting.traces._values import LARGEST, times, whole_numbers
from olprouting.traces.formats._json import field_of, first_record, place_of, records

if TYPE_CHECKING:
    from olprouting.traces._place import Place
    from olprouting.traces._source import Source

_LENGTHS = ("input_length", "output_length")
_TELLING = ("timestamp", "hash_ids", "session_id")


@dataclass(frozen=True)
class BlockHashRecords:
    """JSON objects with `input_length`, `output_length` and, each optional, the following.

    `timestamp`: the arrival. `hash_ids`: ids of prefix blocks. `session_id` and `delay`: a later
    turn of a session may state, instead of a time, how long after the end of the turn before it
    comes.

    The key of a request is its second hash id (its only one, if it has one block). Ids name
    prefixes, and the first block is often one system prompt shared by every request, so the second
    is the first that tells conversations apart. Where no record has hash ids, the session is the
    key.

    A trace has arrivals that are known beforehand, so a delay counts from the arrival of the turn
    before, as if that were served in no time. Where no record has a time, there are no arrivals.

    Parameters
    ----------
    name
        See TraceFormat.
    time_unit
        Unit of `timestamp` and `delay` unless the caller gives another.
    block_tokens
        Tokens per hashed block.
    marker
        A field that tells this format from its siblings, or None for the plain one.
    """

    name: str
    time_unit: str
    block_tokens: int
    marker: str | None = None

    def recognises(self, source: Source) -> bool:
        """Whether the first record is of this format."""
        record = first_record(source)
        telling = _TELLING if self.marker is None else (self.marker,)
        return set(_LENGTHS) <= record.keys() and not record.keys().isdisjoint(telling)

    def read(self, source: Source, time_unit: str | None) -> RawTrace:
        """Read every record."""
        place = place_of(source)
        arrivals = _Arrivals(place)
        ids = _Ids(place, self.block_tokens)
        prompts, decodes = [], []
        for row, record in enumerate(records(source, place), start=1):
            prompts.append(number(place, row, record, "input_length"))
            decodes.append(number(place, row, record, "output_length"))
            arrivals.add(row, record)
            ids.add(row, record, prompts[-1])
        raw = token_columns(place, ("input_length", prompts), ("output_length", decodes))
        unit = time_unit or self.time_unit
        arrivals.put_into(raw, unit, guessed=time_unit is None)
        ids.put_into(raw)
        return raw


class _Arrivals:
    """Collects times: stated, or a delay after the turn before."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stamps: list[float | None] = []
        self._latest: dict[Any, float] = {}
        self._delayed = self._unused = 0

    def add(self, row: int, record: dict[str, Any]) -> None:
        session = _id(self._place, row, "session_id", record.get("session_id"))
        stamp = self._stamp(row, record, None if session is None else self._latest.get(session))
        if stamp is not None and session is not None:
            self._latest[session] = stamp
        self._stamps.append(stamp)

    def _stamp(self, row: int, record: dict[str, Any], before: float | None) -> float | None:
        has_delay = record.get("delay") is not None
        if record.get("timestamp") is not None:
            self._unused += has_delay
            return number(self._place, row, record, "timestamp")
        if has_delay and before is not None:
            self._delayed += 1
            return before + number(self._place, row, record, "delay")
        self._unused += has_delay
        return None

    def put_into(self, raw: RawTrace, unit: str, *, guessed: bool) -> None:
        raw.odd_rows["come by a delay: counted from the arrival of the turn before"] = self._delayed
        raw.odd_rows["have a delay that is not used"] = self._unused
        if all(stamp is None for stamp in self._stamps):
            return
        if None in self._stamps:
            raise self._place.error(
                self._stamps.index(None) + 1,
                "timestamp",
                "is missing, and no delay after an earlier turn of its session stands for it",
            )
        stamps = np.array(self._stamps, dtype=np.float64)
        raw.arrival_ticks = times(self._place, "timestamp", stamps, first_row=1)
        raw.ticks_per_s = TICKS_PER_S[unit]
        raw.clock = f"timestamps taken as {unit}"
        raw.guessed_unit = unit if guessed else None


class _Ids:
    """Collects what tells classes apart: prefix hashes, or else sessions."""

    def __init__(self, place: Place, block_tokens: int) -> None:
        self._place = place
        self._block_tokens = block_tokens
        self._blocks: list[int | str | None] = []
        self._sessions: list[int | str | None] = []
        self._mismatches = 0

    def add(self, row: int, record: dict[str, Any], prompt_tokens: float) -> None:
        blocks = self._hash_ids(row, record)
        telling = blocks[min(1, len(blocks) - 1)] if blocks else None
        self._blocks.append(_id(self._place, row, "hash_ids", telling))
        self._mismatches += bool(blocks) and len(blocks) != -(-prompt_tokens // self._block_tokens)
        self._sessions.append(record.get("session_id"))

    def put_into(self, raw: RawTrace) -> None:
        for ids in (self._blocks, self._sessions):
            if any(each is not None for each in ids):
                raw.key = np.array(ids, dtype=object)
                break
        raw.odd_rows[
            f"have a number of hash_ids other than input_length / {self._block_tokens} rounded up"
        ] = self._mismatches

    def _hash_ids(self, row: int, record: dict[str, Any]) -> list[Any]:
        blocks = record.get("hash_ids")
        if blocks is None:
            return []
        if not isinstance(blocks, list):
            raise self._place.error(row, "hash_ids", f"{blocks!r:.60} must be a list of ids")
        return blocks


def number(place: Place, row: int, record: Any, field: str) -> float:
    """Return a field of a record that must be a JSON number."""
    value = field_of(place, row, record, field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.error(row, field, f"{value!r:.60} is not a number")
    # JSON whole numbers have no limit; one that no double can hold fails the later check.
    return (
        value
        if abs(value) <= LARGEST
        else max(float(str(value)), math.nextafter(LARGEST, math.inf))
    )


def token_columns(
    place: Place, prompt: tuple[str, list[float]], decode: tuple[str, list[float]]
) -> RawTrace:
    """Check the token columns, each given as (field name, values), and start a RawTrace."""

    def checked(field: str, values: list[float], at_least: int) -> Any:
        array = np.array(values, dtype=np.float64)
        return whole_numbers(place, field, array, first_row=1, at_least=at_least)

    return RawTrace(place, checked(*prompt, at_least=0), checked(*decode, at_least=0))


def _id(place: Place, row: int, field: str, value: Any) -> int | str | None:
    if isinstance(value, bool) or not isinstance(value, int | str | None):
        raise place.error(row, field, f"{value!r:.60} is no id: expected a number or a text")
    return value
