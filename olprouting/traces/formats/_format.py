"""The protocol of a trace format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

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
