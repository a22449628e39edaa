"""Trace file formats, recognised by content."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Protocol

from olprouting.errors import InputError, unknown_name
from olprouting.traces.formats._batches import header
from olprouting.traces.formats._csv import CR_ALONE
from olprouting.traces.formats._json import is_json, why_unknown
from olprouting.traces.formats._table import TableFormat
from olprouting.traces.formats.burstgpt_sample import BURSTGPT_SAMPLE
from olprouting.traces.formats.known import (
    AZURE,
    BURSTGPT,
    GENERIC,
    MOONCAKE,
    OWN,
    QWEN_BAILIAN,
    SPLITWISE,
    VIDUR,
)

if TYPE_CHECKING:
    from olprouting.traces._raw import RawTrace
    from olprouting.traces._source import Source


class TraceFormat(Protocol):
    """A file format that holds a trace."""

    @property
    def name(self) -> str:
        """What `read_trace(format=...)` calls it."""

    def recognises(self, source: Source) -> bool:
        """Whether the first bytes look like this format."""

    def read(self, source: Source, time_unit: str | None) -> RawTrace:
        """Read every row; `time_unit` replaces the format's own unit of time."""


# The first that recognises a file reads it: siblings with a mark of their own stand before the
# plain ones.
FORMATS: tuple[TraceFormat, ...] = (
    OWN,
    AZURE,
    BURSTGPT,
    VIDUR,
    SPLITWISE,
    QWEN_BAILIAN,
    MOONCAKE,
    BURSTGPT_SAMPLE,
    GENERIC,
)
"""All formats, in the order in which they are tried."""


def find_format(name: str) -> TraceFormat:
    """Return the format of that name."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise unknown_name("trace format", name, [known.name for known in FORMATS])


def recognise(source: Source) -> TraceFormat:
    """Return the format that the content of a file shows.

    Raises
    ------
    InputError
        If it is no known format, or two of its columns may be one quantity. A table with unknown
        columns goes to the generic format, which says what is missing.
    """
    for known in FORMATS:
        if known.recognises(source):
            if isinstance(known, TableFormat):
                GENERIC.refuse_rivals(source)
            return known
    if len(header(source)) > 1:
        return GENERIC
    raise InputError(
        f"{source.path}: format not recognised; give one of: "
        f"{', '.join(known.name for known in FORMATS)}{_cause(source)}"
    )


def _cause(source: Source) -> str:
    if not _is_text(source.head):
        return "; it is no UTF-8 text: save it as UTF-8"
    if "\r" in source.first_line():
        return f"; {CR_ALONE}"
    return why_unknown(source) if is_json(source) else ""


def _is_text(head: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return "\0" not in text
