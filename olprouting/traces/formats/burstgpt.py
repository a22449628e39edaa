"""BurstGPT CSV: whole seconds from midnight of day 1, failures with 0 response tokens."""

from olprouting.traces.formats._table import TableFormat

BURSTGPT = TableFormat(
    name="burstgpt",
    arrival={"Timestamp": "s"},
    needs_arrival=True,
    prompt_tokens=("Request tokens",),
    decode_tokens=("Response tokens",),
)
