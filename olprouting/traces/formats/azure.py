"""Azure LLM inference traces of 2023, 2024 and (with NumImages) 2025: calendar times."""

from olprouting.traces.formats._table import TableFormat

AZURE = TableFormat(
    name="azure",
    arrival={"TIMESTAMP": None},
    needs_arrival=True,
    prompt_tokens=("ContextTokens",),
    decode_tokens=("GeneratedTokens",),
)
