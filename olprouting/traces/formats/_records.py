"""Formats whose requests are JSON objects: one conversion path, one wording of errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.errors import InputError
from olprouting.traces._place import Place
from olprouting.traces._raw import TICKS_PER_S, RawTrace
from olprouting.traces._source import DAMAGED_GZIP
from olprouting.traces._values import LARGEST, times, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.traces._source import Source

_FIELDS = ("timestamp", "input_length", "output_length", "hash_ids")


@dataclass(frozen=True)
class BlockHashLines:
    """JSON lines with `timestamp`, `input_length`, `output_length` and prefix-block `hash_ids`.

    The key of a request is its second hash id (its only one, if it has one block). Ids name
    prefixes, and the first block is often one system prompt shared by every request, so the second
    is the first that tells conversations apart.

    Parameters
    ----------
    name
        See TraceFormat.
    time_unit
        Unit of `timestamp` unless the caller gives another.
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
        """Whether the first line is a record of this format."""
        record = first_record(source)
        return set(_FIELDS) <= record.keys() and (self.marker is None or self.marker in record)

    def read(self, source: Source, time_unit: str | None) -> RawTrace:
        """Read every line."""
        place = Place(source.path, "line")
        unit = time_unit or self.time_unit
        stamps, prompts, decodes, keys = [], [], [], []
        mismatches = 0
        for line, record in enumerate(_lines(source, place), start=1):
            stamps.append(number(place, line, record, "timestamp"))
            prompts.append(number(place, line, record, "input_length"))
            decodes.append(number(place, line, record, "output_length"))
            hash_ids = _hash_ids(place, line, record)
            keys.append(hash_ids[min(1, len(hash_ids) - 1)])
            mismatches += len(hash_ids) != -(-prompts[-1] // self.block_tokens)
        clock = times(place, "timestamp", np.array(stamps, dtype=np.float64), first_row=1)
        raw = token_columns(place, ("input_length", prompts), ("output_length", decodes))
        raw.arrival_ticks = clock
        raw.ticks_per_s = TICKS_PER_S[unit]
        raw.key = np.array(keys, dtype=np.int64)
        raw.notices.append(f"timestamps taken as {unit}")
        if unit != "s" and (clock != np.floor(clock)).any():
            raw.notices.append(f"some timestamps have fractions of {unit}; is time_unit 's' meant?")
        if mismatches:
            raw.notices.append(
                f"{mismatches} of {len(keys)} rows have a number of hash_ids other than "
                f"input_length / {self.block_tokens} rounded up"
            )
        return raw


def first_record(source: Source) -> dict[str, Any]:
    """Return the first line as a JSON object; empty if it is none."""
    try:
        record = json.loads(source.first_line())
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def number(place: Place, row: int, record: Any, field: str) -> float:
    """Return a field of a record that must be a JSON number."""
    if not isinstance(record, dict):
        raise place.row_error(row, f"expected a JSON object, got {record!r:.60}")
    if field not in record:
        raise place.error(row, field, f"is missing; the record has: {', '.join(record)}")
    value = record[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise place.error(row, field, f"{value!r:.60} is not a number")
    # JSON whole numbers have no limit; one that no double can hold fails the later check as inf.
    return value if abs(value) <= LARGEST else float(str(value))


def token_columns(
    place: Place, prompt: tuple[str, list[float]], decode: tuple[str, list[float]]
) -> RawTrace:
    """Check the token columns, each given as (field name, values), and start a RawTrace."""

    def checked(field: str, values: list[float], at_least: int) -> Any:
        array = np.array(values, dtype=np.float64)
        return whole_numbers(place, field, array, first_row=1, at_least=at_least)

    return RawTrace(place, checked(*prompt, at_least=1), checked(*decode, at_least=0))


def _hash_ids(place: Place, line: int, record: dict[str, Any]) -> list[int]:
    hash_ids = record.get("hash_ids")
    if not isinstance(hash_ids, list) or not hash_ids:
        raise place.error(line, "hash_ids", "must be a list of at least one block id")
    if not all(isinstance(block, int) and abs(block) <= LARGEST for block in hash_ids[:2]):
        raise place.error(line, "hash_ids", "must hold whole numbers of at most 2^53")
    return hash_ids


def _lines(source: Source, place: Place) -> Iterator[Any]:
    """Yield one parsed value per line; blank lines are allowed at the end only."""
    blank = line = 0
    with source.open() as file:
        try:
            for line, text in enumerate(file, start=1):
                if text.isspace():
                    blank = blank or line
                    continue
                if blank:
                    raise place.row_error(blank, "is blank")
                yield _parsed(place, line, text)
        except DAMAGED_GZIP:
            raise place.row_error(
                line, "the gzip data are truncated or damaged after this line; download it again"
            ) from None


def _parsed(place: Place, line: int, text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise place.row_error(line, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise place.row_error(
            line, f"is not valid JSON ({error.msg} at character {error.pos + 1})"
        ) from None


def load_document(source: Source) -> Any:
    """Parse a whole file as one JSON value."""
    with source.open() as file:
        try:
            return json.loads(file.read().decode("utf-8-sig"))
        except DAMAGED_GZIP:
            problem = "the gzip data are truncated or damaged"
        except UnicodeDecodeError:
            problem = "is not UTF-8 text"
        except json.JSONDecodeError as error:
            problem = f"line {error.lineno}: is not valid JSON ({error.msg})"
    raise InputError(f"{source.path}: {problem}")
