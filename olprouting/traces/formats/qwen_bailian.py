"""Qwen-Bailian JSON lines: like Mooncake, but seconds and 16-token blocks; told by chat_id."""

from olprouting.traces.formats._records import BlockHashLines

QWEN_BAILIAN = BlockHashLines(
    name="qwen-bailian",
    title="Qwen-Bailian JSON lines (timestamp in s, 16-token hash_ids, chat_id)",
    time_unit="s",
    block_tokens=16,
    marker="chat_id",
)
