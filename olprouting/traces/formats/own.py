"""What write_trace and runs write: our own column names, times from the start of the trace."""

from olprouting.instances.trace import RUN_COLUMNS
from olprouting.traces.formats._table import TableFormat

OWN = TableFormat(
    name="olprouting",
    arrival={"arrival_s": "s"},
    prompt_tokens=("prompt_tokens",),
    decode_tokens=("decode_tokens",),
    release_iteration=("release_iteration",),
    key=("key",),
    also=RUN_COLUMNS,
    is_export=True,
)
