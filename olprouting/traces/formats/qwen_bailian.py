"""Qwen-Bailian JSON lines: like Mooncake, but seconds and 16-token blocks; told by chat_id."""

from olprouting.traces.formats._records import BlockHashLines

QWEN_BAILIAN = BlockHashLines(
    name="qwen-bailian",
    time_unit="s",
    block_tokens=16,
    marker="chat_id",
)
