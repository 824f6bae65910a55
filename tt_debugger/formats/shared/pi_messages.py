"""The messages that Pi and Tau have in common: one wire shape, camelCase, told apart by `role`.

Roles: user, assistant, toolResult, bashExecution, custom, branchSummary, compactionSummary and
(Pi) system. Everything here takes what a file holds, so any field may have any type.
"""

from __future__ import annotations

import math
from typing import Any

from tt_debugger.core.arguments import arguments_summary
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.tokens import counted_tokens

SHOWN_ID = 8
"""Characters of another entry's id in a summary: enough to know it again."""
_SHELLS = frozenset(("bash", "shell"))
_EXIT_NOTE = "Command exited with code"
_BRANCH_OPENING = (
    "The user explored a different conversation branch before returning here.\n"
    "Summary of that exploration:"
)
_FAILED_STOPS = ("error", "aborted")


def usage_of(value: Any) -> Usage | None:
    """Give what a `usage` object counts, None where there is none."""
    if not isinstance(value, dict):
        return None
    counts = as_map(value)
    cost = counts.get("cost")
    return Usage(
        counted_tokens(counts.get("input")),
        counted_tokens(counts.get("output")),
        counted_tokens(counts.get("cacheRead")),
        counted_tokens(counts.get("cacheWrite")),
        counted_tokens(counts.get("totalTokens")),
        float(_amount(as_map(cost).get("total") if isinstance(cost, dict) else cost)),
    )


def _amount(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return value if math.isfinite(value) else 0


def content_text(content: Any) -> str:
    """Give all text of a content: a text itself, or the text blocks of a list, line by line."""
    if isinstance(content, str):
        return content
    texts = [block.get("text") for block in map(as_map, as_list(content))]
    return "\n".join(text for text in texts if isinstance(text, str))


def message_head(message: dict[str, Any]) -> Head:
    """Give what the index keeps of a message."""
    role = message.get("role")
    make = _HEADS.get(role) if isinstance(role, str) else None
    return _other_head(message) if make is None else make(message)


def _other_head(message: dict[str, Any]) -> Head:
    """Give the head of a message whose role says nothing; of a custom one its type does."""
    name = text_or_none(message.get("customType")) or text_or_none(message.get("role"))
    return Head(Kind.MESSAGE, None, name or "message", _content_summary(message.get("content")))


def _user_head(message: dict[str, Any]) -> Head:
    return Head(Kind.MESSAGE, Role.USER, "user", _content_summary(message.get("content")))


def _result_head(message: dict[str, Any]) -> Head:
    name = text_or_none(message.get("toolName")) or "tool"
    content = message.get("content")
    return Head(
        Kind.TOOL_RESULT,
        Role.TOOL,
        name,
        _outcome(content) if name in _SHELLS else _content_summary(content),
        usage=usage_of(message.get("usage")),
        failed=message.get("isError") is True or _exit_code(message) != 0,
    )


def _system_head(message: dict[str, Any]) -> Head:
    return Head(Kind.MESSAGE, Role.SYSTEM, "system", _system_summary(message))


def _branch_summary_head(message: dict[str, Any]) -> Head:
    return Head(Kind.BRANCH_SUMMARY, None, "branch", branch_summary_line(message.get("summary")))


def _compaction_summary_head(message: dict[str, Any]) -> Head:
    return Head(Kind.COMPACTION, None, "compact", _summary(message.get("summary")))


def _assistant_head(message: dict[str, Any]) -> Head:
    blocks = [as_map(block) for block in as_list(message.get("content"))]
    calls = [block for block in blocks if block.get("type") == "toolCall"]
    usage = usage_of(message.get("usage"))
    failed = message.get("stopReason") in _FAILED_STOPS
    if calls:
        name = text_or_none(calls[0].get("name")) or "tool"
        summary = arguments_summary(calls[0].get("arguments"))
        if len(calls) > 1:
            summary = f"{summary} (and {len(calls) - 1} more)".strip()
        return Head(
            Kind.TOOL_CALL, Role.ASSISTANT, name, summary_line(summary), usage=usage, failed=failed
        )
    text = content_text(message.get("content"))
    if failed and not text:
        text = text_or_none(message.get("errorMessage")) or str(message.get("stopReason"))
    if not text:
        thoughts = [block.get("thinking") for block in blocks]
        text = "\n".join(thought for thought in thoughts if isinstance(thought, str))
    return Head(
        Kind.MESSAGE, Role.ASSISTANT, "asst", summary_line(text), usage=usage, failed=failed
    )


def _bash_head(message: dict[str, Any]) -> Head:
    code = message.get("exitCode")
    return Head(
        Kind.MESSAGE,
        Role.USER,
        "bash",
        summary_line(f"! {message.get('command')}"),
        failed=bool(code) or message.get("cancelled") is True,
    )


def _exit_code(message: dict[str, Any]) -> int:
    """Give the exit code in a result's details: Tau calls no exit code an error by itself."""
    code = as_map(message.get("details")).get("exit_code")
    return code if isinstance(code, int) else 0


def _content_summary(content: Any) -> str:
    text = _summary(content_text(content))
    images = [as_map(block) for block in as_list(content) if "data" in as_map(block)]
    if not images:
        return text
    shown = f"[{len(images)} image{'s' if len(images) > 1 else ''}]"
    return f"{text} {shown}".strip()


def _outcome(content: Any) -> str:
    """Give the last line that a shell command printed: there it says how it went."""
    lines = [line for line in content_text(content).splitlines() if line.strip()]
    while len(lines) > 1 and lines[-1].startswith(_EXIT_NOTE):
        lines.pop()
    return _summary(lines[-1].strip("= ")) if lines else ""


def _system_summary(message: dict[str, Any]) -> str:
    text = content_text(message.get("content"))
    sections = as_map(message.get("sections"))
    if sections:
        text = f"{text} sections: {', '.join(sections)}".strip()
    for key, sign in (("toolsAdded", "+"), ("toolsRemoved", "-")):
        for tool in as_list(message.get(key)):
            text += f" {sign}{as_map(tool).get('name')}"
    return _summary(text)


def branch_summary_line(value: Any) -> str:
    """Give what a branch summary says, without the sentence that both agents begin it with."""
    text = value if isinstance(value, str) else ""
    return summary_line(text.removeprefix(_BRANCH_OPENING))


def _summary(value: Any) -> str:
    return summary_line(value) if isinstance(value, str) else ""


_HEADS = {
    "user": _user_head,
    "assistant": _assistant_head,
    "toolResult": _result_head,
    "bashExecution": _bash_head,
    "system": _system_head,
    "branchSummary": _branch_summary_head,
    "compactionSummary": _compaction_summary_head,
}
