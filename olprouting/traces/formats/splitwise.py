"""Splitwise simulator traces: arrivals in seconds, sizes of prompts and outputs in tokens."""

from olprouting.traces.formats._table import TableFormat

SPLITWISE = TableFormat(
    name="splitwise",
    arrival={"arrival_timestamp": "s"},
    needs_arrival=True,
    prompt_tokens=("prompt_size",),
    decode_tokens=("token_size",),
)
