"""Responses items: what OpenAI's Responses interface has for messages, read as messages.

A call, its output and a thought are items of their own beside the messages, told apart by `type`.
Codex keeps them as they are, and writes what its tools gave back in two ways: as JSON in a text,
or as a text with a few lines of facts before the output. The words that are looked for there are
those of its published source; they were not measured.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none

CALLS = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
    )
)
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))

_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_FACTS_LONGEST = 400
"""Characters before the output in which an exit code is looked for."""
_OUTPUT = re.compile(r"^Output:$", re.MULTILINE)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,9})$", re.MULTILINE)
_PATCH_FAILURE = "apply_patch verification failed"


def item_as_message(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give an item that is no message in the shape of one, None for anything else."""
    known = _known(item)
    return None if known is None else known.as_message(item)


def is_item(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a Responses item that is no message."""
    return _known(value) is not None


def _known(value: Mapping[str, Any]) -> _Item | None:
    kind = value.get("type")
    known = _ITEMS.get(kind) if isinstance(kind, str) and "role" not in value else None
    return known if known is not None and known.key in value else None


def arguments_of(item: Mapping[str, Any]) -> Any:
    """Give the arguments of a call: an object where they are JSON, a text under `input`."""
    if "input" in item and "arguments" not in item:
        return {"input": item["input"]}
    arguments = item.get("arguments", item.get("action"))
    if isinstance(arguments, str):
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            arguments = msgspec.json.decode(arguments)
    return _with_command(as_map(arguments)) if isinstance(arguments, dict) else arguments


def command_line(argv: Sequence[str]) -> str:
    """Give a command that is a list of words as one line; of a shell's -c only the script."""
    match argv:
        case [shell, ("-c" | "-lc"), script] if shell.rpartition("/")[2] in _SHELLS:
            return script
        case _:
            return shlex.join(argv)


def outcome_of(item: Mapping[str, Any]) -> tuple[Any, bool]:
    """Give the content of an output, and whether it says that its call failed."""
    output = item.get("output", item.get("tools"))
    if isinstance(output, str):
        return _told_by_text(output)
    held = as_map(output)
    content = held.get("content", output) if held else output
    return content, held.get("success") is False


def _told_by_text(output: str) -> tuple[str, bool]:
    if output.startswith("{"):
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            held = as_map(msgspec.json.decode(output))
            code = as_map(held.get("metadata")).get("exit_code")
            if isinstance(held.get("output"), str) and isinstance(code, int):
                return held["output"], code != 0
    head = output[:_FACTS_LONGEST]
    end = _OUTPUT.search(head)
    code = _EXIT_CODE.search(head, 0, end.start() if end else len(head))
    failed = int(code[1]) != 0 if code else output.startswith(_PATCH_FAILURE)
    return output, failed


def _with_command(arguments: dict[str, Any]) -> dict[str, Any]:
    command = as_list(arguments.get("command"))
    if command and all(isinstance(word, str) for word in command):
        return {**arguments, "command": command_line(command)}
    return arguments


class _Item(msgspec.Struct, frozen=True):
    """An item that is no message: the key it must have, and how to read it as one."""

    key: str
    as_message: Callable[[Mapping[str, Any]], dict[str, Any]]


def _called(item: Mapping[str, Any]) -> dict[str, Any]:
    name = item.get("name", str(item.get("type")).removesuffix("_call"))
    function = {"name": name, "arguments": arguments_of(item)}
    call = {"id": item.get("call_id", item.get("id")), "function": function}
    return {"role": "assistant", "tool_calls": [call]}


def _answered(item: Mapping[str, Any]) -> dict[str, Any]:
    content, failed = outcome_of(item)
    message = {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    return {**message, "is_error": True} if failed else message


def _reasoned(item: Mapping[str, Any]) -> dict[str, Any]:
    # What is encrypted stays so: only who encrypted it can read it.
    blocks = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    texts = (text_or_none(as_map(each).get("text")) for each in blocks)
    thought = "\n".join(text for text in texts if text)
    block = {"type": "thinking", "thinking": thought, "redacted": not thought}
    return {"role": "assistant", "content": [block]}


def _summed_up(_item: Mapping[str, Any]) -> dict[str, Any]:
    block = {"type": "thinking", "thinking": "", "redacted": True}
    return {"role": "assistant", "content": [block]}


_ITEMS = {
    "function_call": _Item("call_id", _called),
    "custom_tool_call": _Item("call_id", _called),
    "local_shell_call": _Item("action", _called),
    "web_search_call": _Item("status", _called),
    "tool_search_call": _Item("arguments", _called),
    "image_generation_call": _Item("status", _called),
    "function_call_output": _Item("call_id", _answered),
    "custom_tool_call_output": _Item("call_id", _answered),
    "tool_search_output": _Item("tools", _answered),
    "reasoning": _Item("summary", _reasoned),
    "compaction": _Item("encrypted_content", _summed_up),
    "context_compaction": _Item("encrypted_content", _summed_up),
}
