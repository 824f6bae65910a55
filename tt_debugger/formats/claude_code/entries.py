"""Lines of Claude Code: what the index must know at once of those that have a place in the tree.

There are four types of them: user, assistant, system and attachment. An answer of the model is
written as several lines, one for each block, which share the id of the message.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import KIND_NUMBERS, Kind
from tt_debugger.formats.shared.reading import Name, moment_of

AGENT_TOOLS = frozenset(("Task", "Agent"))
"""The tools that start a subagent."""


class _Input(msgspec.Struct, gc=False):
    """The arguments of a call: of a subagent, what it is asked to do."""

    prompt: str | None = None


class _Block(msgspec.Struct, gc=False):
    """A part of a message, as far as calls and results are joined by it."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: _Input | None = None
    tool_use_id: str | None = None

    @property
    def call(self) -> str | None:
        """The id of the call that this is, None where it is none."""
        return self.id if self.type == "tool_use" else None

    @property
    def answer(self) -> str | None:
        """The id of the call whose result this is, None where it is none."""
        return self.tool_use_id if self.type == "tool_result" else None

    @property
    def prompt(self) -> str | None:
        """What a subagent is asked to do, None where the tool is another."""
        return self.input.prompt if self.input and self.name in AGENT_TOOLS else None


class _Message(msgspec.Struct, gc=False):
    content: list[_Block] | str
    id: str | None = None


class Outcome(msgspec.Struct, gc=False, rename="camel"):
    """What a tool left beside its result: of a subagent, its name."""

    agent_id: str | None = None


class PlainLine(
    msgspec.Struct,
    gc=False,
    kw_only=True,
    tag_field="type",
    rename={
        "own_id": "uuid",
        "parent": "parentUuid",
        "time": "timestamp",
        "is_sidechain": "isSidechain",
        "outcome": "toolUseResult",
    },
):
    """A line of the common shape, which names the line that it hangs on."""

    kind: ClassVar[int]
    own_id: Name
    parent: Name
    time: datetime
    is_sidechain: Literal[False] = False


class UserLine(PlainLine, gc=False, tag="user"):
    """A line of the user, or of a tool."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.MESSAGE]
    message: _Message
    outcome: Outcome | str | list[Any] | None = None


class AssistantLine(PlainLine, gc=False, tag="assistant"):
    """A line of the model."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.MESSAGE]
    message: _Message


class AttachmentLine(PlainLine, gc=False, tag="attachment"):
    """A line that carries what hooks and the agent itself tell the model."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.CUSTOM]


class _Told(msgspec.Struct, gc=False, rename="camel"):
    """What a line of progress tells: of a running subagent, its name."""

    agent_id: str | None = None


class ProgressLine(PlainLine, gc=False, tag="progress"):
    """A line of progress: it is no checkpoint, but others may hang on it."""

    kind: ClassVar[int] = KIND_NUMBERS[Kind.CUSTOM]
    data: _Told | None = None
    call: str | None = msgspec.field(default=None, name="parentToolUseID")


decode_line = msgspec.json.Decoder(UserLine | AssistantLine | AttachmentLine | ProgressLine).decode


class Call(msgspec.Struct, frozen=True):
    """A call of a tool; `prompt` is what a subagent is asked to do, None for other tools."""

    id: str
    tool: str | None = None
    prompt: str | None = None


class Entry(msgspec.Struct):
    """What the index needs to know of a line, whatever its shape.

    `message` is the id that all lines of one message share; `answers` are the calls whose results
    the line holds, `agent` is the subagent that the first of them names, if any. `own_id` and
    `parent` are as they stand in the file; `time` is in seconds since 1970, None where there is
    none.
    """

    type: str
    own_id: object
    parent: object
    time: float | None
    is_sidechain: bool = False
    message: str | None = None
    calls: tuple[Call, ...] = ()
    answers: tuple[str, ...] = ()
    agent: str | None = None


def entry_of(record: dict[str, Any]) -> Entry:
    """Give what the index needs of a record of any shape."""
    stamp = record.get("timestamp")
    message = as_map(record.get("message"))
    blocks = [as_map(each) for each in as_list(message.get("content"))]
    kind = text_or_none(record.get("type")) or ""
    entry = Entry(
        kind,
        record.get("uuid"),
        record.get("parentUuid"),
        moment_of(stamp) if isinstance(stamp, str) else None,
        record.get("isSidechain") is True,
    )
    if kind == "assistant":
        entry.message = text_or_none(message.get("id"))
        entry.calls = tuple(
            Call(block["id"], text_or_none(block.get("name")), _prompt(block))
            for block in blocks
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str)
        )
    elif kind == "user":
        entry.answers = tuple(
            block["tool_use_id"]
            for block in blocks
            if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str)
        )
        entry.agent = text_or_none(as_map(record.get("toolUseResult")).get("agentId"))
    return entry


def _prompt(block: dict[str, Any]) -> str | None:
    """Give what a subagent is asked to do by a call, None for a call of another tool."""
    if text_or_none(block.get("name")) not in AGENT_TOOLS:
        return None
    return text_or_none(as_map(block.get("input")).get("prompt"))


def text_in(content: object) -> str:
    """Give the text of a message: its content, or the texts among its blocks."""
    if isinstance(content, str):
        return content
    texts = (text_or_none(as_map(each).get("text")) for each in as_list(content))
    return "\n".join(text for text in texts if text is not None)


def blocks_in(content: object) -> list[Any]:
    """Give the blocks of a message: its content, or its text as the only block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
