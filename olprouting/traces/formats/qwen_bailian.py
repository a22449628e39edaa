"""Qwen-Bailian JSON lines: like Mooncake, but seconds and 16-token blocks; told by chat_id."""

from olprouting.traces.formats._records import BlockHashRecords

QWEN_BAILIAN = BlockHashRecords(
    name="qwen-bailian",
    time_unit="s",
    block_tokens=16,
    marker="chat_id",
)
