"""Vidur's processed traces: arrivals in seconds, or lengths only."""

from olprouting.traces.formats._table import TableFormat

VIDUR = TableFormat(
    name="vidur",
    arrival={"arrived_at": "s"},
    prompt_tokens=("num_prefill_tokens",),
    decode_tokens=("num_decode_tokens",),
)
