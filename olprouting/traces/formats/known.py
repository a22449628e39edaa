"""The named formats: lists of accepted column names, and what a file in them looks like."""

from olprouting.instances.trace import RUN_COLUMNS
from olprouting.traces.formats._records import BlockHashRecords
from olprouting.traces.formats._table import TableFormat

OWN = TableFormat(
    name="olprouting",
    arrival={"arrival_s": "s"},
    prompt_tokens=("prompt_tokens",),
    decode_tokens=("decode_tokens",),
    release_iteration=("release_iteration",),
    key=("key",),
    slo_class=("slo_class",),
    also=RUN_COLUMNS,
    is_export=True,
)
"""What write_trace and runs write: our own column names, times from the start of the trace."""

AZURE = TableFormat(
    name="azure",
    arrival={"TIMESTAMP": None},
    needs_arrival=True,
    prompt_tokens=("ContextTokens",),
    decode_tokens=("GeneratedTokens",),
)
"""Azure LLM inference traces of 2023, 2024 and (with NumImages) 2025: calendar times."""

BURSTGPT = TableFormat(
    name="burstgpt",
    arrival={"Timestamp": "s"},
    needs_arrival=True,
    prompt_tokens=("Request tokens",),
    decode_tokens=("Response tokens",),
)
"""BurstGPT CSV: whole seconds from midnight of day 1, failures with 0 response tokens."""

VIDUR = TableFormat(
    name="vidur",
    arrival={"arrived_at": "s"},
    prompt_tokens=("num_prefill_tokens",),
    decode_tokens=("num_decode_tokens",),
)
"""Vidur's processed traces: arrivals in seconds, or lengths only."""

SPLITWISE = TableFormat(
    name="splitwise",
    arrival={"arrival_timestamp": "s"},
    needs_arrival=True,
    prompt_tokens=("prompt_size",),
    decode_tokens=("token_size",),
)
"""Splitwise simulator traces: arrivals in seconds, sizes of prompts and outputs in tokens."""

QWEN_BAILIAN = BlockHashRecords(
    name="qwen-bailian",
    time_unit="s",
    block_tokens=16,
    marker="chat_id",
)
"""Qwen-Bailian JSON lines: like Mooncake, but seconds and 16-token blocks; told by chat_id."""

MOONCAKE = BlockHashRecords(
    name="mooncake",
    time_unit="ms",
    block_tokens=512,
)
"""Mooncake FAST'25 JSON lines: milliseconds, prefix hashes of 512-token blocks."""

_NAMED = (OWN, AZURE, BURSTGPT, VIDUR, SPLITWISE)

GENERIC = TableFormat(
    name="generic",
    arrival={
        "arrival_s": "s",
        "arrived_at": "s",
        "arrival_timestamp": "s",
        "arrival_ms": "ms",
        "timestamp_ms": "ms",
        "arrival_time": None,
        "arrival": None,
        "timestamp": None,
    },
    prompt_tokens=(
        *(name for known in _NAMED for name in known.prompt_tokens),
        "input_tokens",
        "input_length",
        "prompt_length",
        "prompt_len",
    ),
    decode_tokens=(
        *(name for known in _NAMED for name in known.decode_tokens),
        "output_tokens",
        "output_length",
        "output_len",
    ),
    release_iteration=OWN.release_iteration,
    key=OWN.key,
    slo_class=OWN.slo_class,
)
"""Any other table whose columns go by a usual name; also the fallback that says what is missing."""
