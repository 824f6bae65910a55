"""What the index keeps of the lines of Claude Code: enough to draw a row of the tree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.core.text import summary_line
from tt_debugger.formats.claude_code.entries import blocks_in, text_in
from tt_debugger.formats.shared.message_heads import head_of, record_head

_TAGGED = re.compile(r"\s*<(command-name|command-message|local-command-[a-z]+|bash-[a-z]+)>")
"""With what texts begin that are put into the mouth of the user: commands and their output."""
_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_TAG = re.compile(r"</?[a-z-]+>")
_INTERRUPTED = "[Request interrupted by user"


def is_prompt(record: Mapping[str, Any]) -> bool:
    """Tell whether a line is what a person typed: no result, and nothing that was put in."""
    if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary"):
        return False
    content = as_map(record.get("message")).get("content")
    if any(as_map(each).get("type") == "tool_result" for each in as_list(content)):
        return False
    text = text_in(content)
    return bool(text.strip()) and not _TAGGED.match(text) and not text.startswith(_INTERRUPTED)


def records_of(body: Any) -> list[dict[str, Any]]:
    """Give the lines that a checkpoint was written in."""
    return as_list(body) if isinstance(body, list) else [as_map(body)]


def message_of(records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Give the message that was written as these lines, None where there is none."""
    messages = [each["message"] for each in records if isinstance(each.get("message"), dict)]
    if not messages:
        return None
    # Each line has one block; what else it says is the newest on the last that says it.
    whole: dict[str, Any] = {}
    for each in messages:
        whole |= as_map(each)
    if len(messages) > 1:
        whole["content"] = [
            block for each in messages for block in blocks_in(as_map(each).get("content"))
        ]
    return whole


def head_of_lines(body: Any) -> Head:
    """Give the head of a line, or of the lines of one message."""
    records = records_of(body)
    record = records[0]
    kind = record["type"]
    if kind in ("user", "assistant"):
        message = message_of(records)
        if message is None:
            return Head(Kind.UNREADABLE, None, kind, summary_line(" ".join(record)), failed=True)
        return _user_head(record, message) if kind == "user" else _answer_head(record, message)
    if kind == "system":
        return _system_head(record)
    if kind == "attachment":
        return _attachment_head(record)
    return record_head(record)


def _answer_head(record: Mapping[str, Any], message: dict[str, Any]) -> Head:
    head, _ = head_of(message)
    failed = head.failed or record.get("isApiErrorMessage") is True
    return msgspec.structs.replace(head, failed=failed)


def _user_head(record: Mapping[str, Any], message: dict[str, Any]) -> Head:
    head, _ = head_of(message)
    if head.kind is Kind.TOOL_RESULT:
        return msgspec.structs.replace(head, name=_tool_of(record) or head.name)
    text = text_in(message.get("content"))
    if record.get("isCompactSummary"):
        return _put_in("summary", text)
    tagged = _TAGGED.match(text)
    if tagged:
        return _command_head(tagged[1], text)
    if record.get("isMeta"):
        return _put_in("meta", text)
    if text.startswith(_INTERRUPTED):
        return Head(Kind.MESSAGE, Role.SYSTEM, "stopped", summary_line(text), failed=True)
    return head


def _put_in(name: str, text: str) -> Head:
    """Give the head of what was put into the mouth of the user."""
    return Head(Kind.MESSAGE, Role.SYSTEM, name, summary_line(text))


def _command_head(tag: str, text: str) -> Head:
    command, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    if command:
        said = f"{command[1]} {arguments[1] if arguments else ''}"
        return Head(Kind.SETTING, Role.SYSTEM, "command", summary_line(said))
    name = "output" if "stdout" in tag or "stderr" in tag else "note"
    return _put_in(name, _TAG.sub("", text))


_OUTCOMES = (
    (frozenset(("stdout", "stderr")), "Bash"),
    (frozenset(("oldString", "newString")), "Edit"),
    (frozenset(("edits", "structuredPatch")), "MultiEdit"),
    (frozenset(("structuredPatch", "content")), "Write"),
    (frozenset(("oldTodos", "newTodos")), "TodoWrite"),
    (frozenset(("agentId",)), "Task"),
    (frozenset(("file",)), "Read"),
    (frozenset(("filenames", "mode")), "Grep"),
    (frozenset(("filenames",)), "Glob"),
)
"""By which keys of its outcome a tool is known: the result itself does not name it."""


def _tool_of(record: Mapping[str, Any]) -> str | None:
    outcome = as_map(record.get("toolUseResult"))
    names = (name for keys, name in _OUTCOMES if keys <= outcome.keys())
    return next(names, None)


def _system_head(record: Mapping[str, Any]) -> Head:
    subtype = text_or_none(record.get("subtype")) or "system"
    text = text_or_none(record.get("content")) or ""
    if subtype == "compact_boundary":
        about = as_map(record.get("compactMetadata"))
        tokens = about.get("preTokens")
        told = f"{tokens:,} tokens before" if isinstance(tokens, int) else text
        trigger = text_or_none(about.get("trigger")) or ""
        return Head(Kind.COMPACTION, None, "compact", summary_line(f"{trigger} {told}".strip()))
    failed = record.get("level") == "error" or subtype in ("api_error", "api_refusal")
    if subtype == "local_command":
        command = _COMMAND.search(text)
        return _command_head("", text) if command else _put_in("output", _TAG.sub("", text))
    said = _TAG.sub("", text) if text else _said_in(record)
    return Head(Kind.CUSTOM, Role.SYSTEM, subtype, summary_line(said), failed=failed)


def _said_in(record: Mapping[str, Any]) -> str:
    """Give what a system line without a text says: how long a turn took, which hooks ran."""
    milliseconds = record.get("durationMs")
    if isinstance(milliseconds, (int, float)):
        return f"{milliseconds / 1000:,.1f} s"
    hooks = record.get("hookInfos")
    commands = [as_map(each).get("command") for each in as_list(hooks)]
    said = [each for each in commands if isinstance(each, str)]
    return ", ".join(said) or text_or_none(as_map(record.get("error")).get("message")) or ""


def _attachment_head(record: Mapping[str, Any]) -> Head:
    attachment = as_map(record.get("attachment"))
    name = text_or_none(attachment.get("type")) or "attachment"
    said = next(
        (attachment[key] for key in _TELLING if isinstance(attachment.get(key), str)), None
    )
    rest = " ".join(key for key in attachment if key != "type")
    return Head(Kind.CUSTOM, Role.SYSTEM, name, summary_line(rest if said is None else said))


_TELLING = ("prompt", "content", "filename", "displayPath", "path", "hookName", "stdout")
