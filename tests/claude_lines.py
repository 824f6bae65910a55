"""Sessions of Claude Code, told line by line as the agent writes them.

A line hangs on the one before it, a second after it, unless it is told otherwise. Names are short
and stand for uuids.
"""

from __future__ import annotations

import json
from typing import Any

from tt_debugger.core.model import iso_time

BEGINNING = 1_788_168_600.0
"""2026-08-31T09:30:00Z: when the first line of a session is written."""
BEFORE = "the line before"
"""The parent of a line of which nothing else is said."""


def says(text: str) -> dict[str, Any]:
    """Give a block of text."""
    return {"type": "text", "text": text}


def thinks(text: str) -> dict[str, Any]:
    """Give a block of thinking."""
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def calls(name: str, tool: str = "Bash", **given: Any) -> dict[str, Any]:
    """Give a call of a tool, by its own name."""
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


class Claude:
    """A session under construction."""

    def __init__(self, session: str = "session", **envelope: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.session = session
        self.envelope = {
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/shop",
            "sessionId": session,
            "version": "2.1.197",
            "gitBranch": "main",
        } | envelope
        self.tip: str | None = None
        self.time = BEGINNING

    def line(
        self,
        kind: str,
        name: str | None,
        *,
        parent: str | None = BEFORE,
        after: float = 1,
        **own: Any,
    ) -> str | None:
        """Add a line that has a place in the tree, and give its name."""
        self.time += after
        self.lines.append(
            {"parentUuid": self.tip if parent == BEFORE else parent}
            | self.envelope
            | {"type": kind, "uuid": name, "timestamp": iso_time(self.time)}
            | own
        )
        self.tip = name
        return name

    def user(self, name: str, content: Any, **own: Any) -> None:
        """Add what the user says."""
        self.line("user", name, message={"role": "user", "content": content}, **own)

    def answer(
        self,
        names: str,
        message: str,
        *blocks: Any,
        parent: str | None = BEFORE,
        usage: dict[str, Any] | None = None,
        **own: Any,
    ) -> None:
        """Add an answer: a line for each block, under the names in a text of them."""
        for name, block in zip(names.split(), blocks, strict=True):
            said = {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [block],
                "stop_reason": None,
                "usage": usage or {"input_tokens": 10, "output_tokens": 5},
            }
            self.line("assistant", name, parent=parent, message=said, **own)
            parent = BEFORE

    def result(
        self, name: str, call: str, content: Any = "done", outcome: Any = None, **own: Any
    ) -> None:
        """Add the result of a call, and what the tool left beside it."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if own.pop("is_error", False):
            block["is_error"] = True
        told = {} if outcome is None else {"toolUseResult": outcome}
        self.user(name, [block], **told, **own)

    def hook(self, name: str, **own: Any) -> None:
        """Add what a hook left."""
        attachment = {"type": "hook_success", "hookName": "PostToolUse:Bash", "content": "ok"}
        self.line("attachment", name, attachment=attachment, **own)

    def system(self, name: str, subtype: str, **own: Any) -> None:
        """Add a line of the agent itself."""
        self.line("system", name, subtype=subtype, **own)

    def compact(self, name: str, summary: str, said: str, **about: Any) -> None:
        """Add a compaction, and its summary under a name of its own."""
        before = self.tip
        told = {"trigger": "auto", "preTokens": 152_340} | about
        self.system(
            name,
            "compact_boundary",
            parent=None,
            logicalParentUuid=before,
            content="Conversation compacted",
            level="info",
            compactMetadata=told,
        )
        self.user(summary, said, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def aside(self, kind: str, **own: Any) -> None:
        """Add a line that has no place in the tree."""
        self.lines.append({"type": kind, **own, "sessionId": self.session})

    def last_prompt(self, leaf: str, said: str = "go on") -> None:
        """Add the line that says where the agent goes on."""
        self.aside("last-prompt", lastPrompt=said, leafUuid=leaf)

    @property
    def written(self) -> list[bytes]:
        """The lines as bytes, without their ends."""
        return [compact_json(each) for each in self.lines]

    @property
    def content(self) -> bytes:
        """The file."""
        return b"".join(line + b"\n" for line in self.written)


def compact_json(value: Any) -> bytes:
    """Give JSON as the agent writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
