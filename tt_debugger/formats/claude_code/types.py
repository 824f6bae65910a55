"""The types of the lines of Claude Code: enough to know its files by."""

from __future__ import annotations

FORMAT = "claude_code"
CHAIN = frozenset(("user", "assistant", "system", "attachment"))
"""Types of the lines that have a place in the tree."""
ASIDES = frozenset(
    (
        "agent-name",
        "ai-title",
        "bridge-session",
        "content-replacement",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "result",
        "started",
        "summary",
        "tag",
        "worktree-state",
    )
)
"""Types of lines that have none, as far as they are known; the set is open."""
