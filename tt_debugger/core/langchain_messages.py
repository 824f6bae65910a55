"""Messages of LangChain, which say by their type who speaks, as messages that others know.

A message is a map of its fields; where it was an object of a class, its name stands under `$type`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
}
_FIELDS = ("$type", "additional_kwargs", "response_metadata")
"""What a message has beside its type and content, so that not everything with these is one."""
_CALLS = frozenset(("tool_use", "tool_call", "function_call"))
"""Blocks that repeat the calls, which have a field of their own."""


def is_langchain_message(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a message of LangChain."""
    return _kind(value) is not None


def langchain_as_message(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give a message of LangChain with a role and blocks, None for anything else."""
    kind = _kind(value)
    if kind is None:
        return None
    role = _ROLES.get(kind) or text_or_none(value.get("role")) or kind
    message: dict[str, Any] = {"role": role, "content": value["content"]}
    if role == "tool":
        return message | {
            "tool_call_id": value.get("tool_call_id"),
            "name": value.get("name"),
            "isError": value.get("status") == "error",
        }
    metadata = as_map(value.get("response_metadata"))
    model = metadata.get("model_name", metadata.get("model"))
    if isinstance(model, str):
        message["model"] = model
    thought = as_map(value.get("additional_kwargs")).get("reasoning_content")
    if isinstance(thought, str):
        message["reasoning_content"] = thought
    calls = list(_calls(value))
    if calls:
        message["content"] = [*_said(value["content"]), *calls]
    return message


def _kind(value: Mapping[str, Any]) -> str | None:
    """Give the type of a message, None where it is none; often the class alone tells it."""
    if "content" not in value or not any(each in value for each in _FIELDS):
        return None
    name = value.get("$type")
    known = _CLASSES.get(_class_of(name)) if isinstance(name, str) else None
    if known is not None:
        return known
    kind = value.get("type")
    return kind if name is None and isinstance(kind, str) and kind in _ROLES else None


def _class_of(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("Chunk")


def _said(content: Any) -> Iterator[Any]:
    """Give the blocks of a content that calls nothing."""
    if isinstance(content, str):
        if content:
            yield {"type": "text", "text": content}
        return
    for each in as_list(content):
        if text_or_none(as_map(each).get("type")) not in _CALLS:
            yield {"type": "text", "text": each} if isinstance(each, str) else each


def _calls(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("tool_calls", "invalid_tool_calls"):
        for call in map(as_map, as_list(value.get(key))):
            yield {
                "type": "tool_use",
                "id": call.get("id"),
                "name": call.get("name"),
                "input": call.get("args"),
            }
