"""Mooncake FAST'25 JSON lines: milliseconds, prefix hashes of 512-token blocks."""

from olprouting.traces.formats._records import BlockHashRecords

MOONCAKE = BlockHashRecords(
    name="mooncake",
    time_unit="ms",
    block_tokens=512,
)
