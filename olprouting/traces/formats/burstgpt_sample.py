"""The BurstGPT sample as one JSON document: lengths only, no arrivals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces._place import Place
from olprouting.traces.formats._json import load_document
from olprouting.traces.formats._records import number, token_columns

if TYPE_CHECKING:
    from olprouting.traces._raw import RawTrace
    from olprouting.traces._source import Source

_LOOKS_LIKE = re.compile(rb'"data"\s*:\s*\[\s*\{\s*"(in|out)put_length"')


@dataclass(frozen=True)
class _LengthsDocument:
    name: str

    def recognises(self, source: Source) -> bool:
        return _LOOKS_LIKE.search(source.head) is not None

    def read(self, source: Source, time_unit: str | None) -> RawTrace:
        if time_unit is not None:
            raise InputError(f"{source.path} has no arrival times: time_unit does not apply")
        place = Place(source.path, "record")
        records = self._records(source)
        rows = list(enumerate(records, start=1))
        prompts = [number(place, row, record, "input_length") for row, record in rows]
        decodes = [number(place, row, record, "output_length") for row, record in rows]
        return token_columns(place, ("input_length", prompts), ("output_length", decodes))

    def _records(self, source: Source) -> list[Any]:
        document = load_document(source)
        records = document.get("data") if isinstance(document, dict) else None
        if not isinstance(records, list):
            raise InputError(f"{source.path}: expected a JSON object with a list named 'data'")
        return records


BURSTGPT_SAMPLE = _LengthsDocument(
    name="burstgpt-sample",
)
