"""The types of the entries of Pi: enough to know its files by."""

from __future__ import annotations

ENTRY_TYPES = frozenset(
    (
        "message",
        "model_change",
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "usage",
        "context_edit",
    )
)
