"""What write_trace writes: our own column names, times from the start of the trace."""

from olprouting.traces.formats._table import TableFormat

OWN = TableFormat(
    name="olprouting",
    arrival={"arrival_s": "s"},
    prompt_tokens=("prompt_tokens",),
    decode_tokens=("decode_tokens",),
    release_iteration=("release_iteration",),
    key=("key",),
    is_export=True,
)
