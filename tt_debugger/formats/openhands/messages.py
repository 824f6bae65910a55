"""Messages of OpenHands: what an event is to the model, old or new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none

Message = dict[str, Any]

_WORK = frozenset(
    (
        *("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive"),
        *("think", "finish", "reject", "delegate", "call_tool_mcp", "task_tracking"),
    )
)
"""What the agent of the old server does by calling a tool."""
_NO_MESSAGES = frozenset(("agent_state_changed", "null", "recall"))


def message_of(event: dict[str, Any]) -> tuple[Message | None, str | None]:
    """Give the message that an event is to the model, and the id of the answer it is a part of."""
    kind = text_or_none(event.get("kind"))
    if kind is None:
        return _old_message(event)
    make = _MESSAGES.get(kind)
    answer = text_or_none(event.get("llm_response_id")) if kind == "ActionEvent" else None
    return (None if make is None else make(event)), answer


def _prompt(event: Mapping[str, Any]) -> Message:
    return {"role": "system", "content": [event.get("system_prompt")]}


def _said(event: Mapping[str, Any]) -> Message | None:
    message = as_map(event.get("llm_message"))
    if not message or isinstance(message.get("role"), str):
        return message or None
    return {"role": "assistant" if event.get("source") == "agent" else "user", **message}


def _call(event: Mapping[str, Any]) -> dict[str, Any]:
    called = as_map(event.get("tool_call"))
    function = as_map(called.get("function")) or called
    action = {key: each for key, each in as_map(event.get("action")).items() if key != "kind"}
    call = {
        "id": event.get("tool_call_id", called.get("id")),
        "type": "function",
        "function": {
            "name": function.get("name", event.get("tool_name")),
            "arguments": function.get("arguments", action),
        },
    }
    message: dict[str, Any] = {"role": "assistant", "content": as_list(event.get("thought"))}
    if isinstance(event.get("reasoning_content"), str):
        message["reasoning_content"] = event["reasoning_content"]
    return {**message, "tool_calls": [call]}


def _answered(event: Mapping[str, Any]) -> Message:
    observation = as_map(event.get("observation"))
    failed = observation.get("is_error") is True
    return _result(event, _observed(observation), failed=failed)


def _rejected(event: Mapping[str, Any]) -> Message:
    reason = text_or_none(event.get("rejection_reason")) or "no reason given"
    return _result(event, f"Action rejected: {reason}", failed=True)


def _failed(event: Mapping[str, Any]) -> Message:
    return _result(event, text_or_none(event.get("error")) or "", failed=True)


def _result(event: Mapping[str, Any], content: Any, *, failed: bool) -> Message:
    message = {
        "role": "tool",
        "tool_call_id": event.get("tool_call_id"),
        "name": event.get("tool_name"),
        "content": content,
    }
    return {**message, "is_error": True} if failed else message


def _observed(observation: Mapping[str, Any]) -> Any:
    """Give what an observation says to the model, as far as its shape is known."""
    for key in ("content", "output", "error", "message"):
        said: Any = observation.get(key)
        if as_list(said) or (isinstance(said, str) and said):
            return said
    return msgspec.json.encode(observation).decode() if observation else ""


_MESSAGES: dict[str, Callable[[Mapping[str, Any]], Message | None]] = {
    "SystemPromptEvent": _prompt,
    "MessageEvent": _said,
    "ActionEvent": _call,
    "ObservationEvent": _answered,
    "UserRejectObservation": _rejected,
    "AgentErrorEvent": _failed,
}


def _old_message(event: dict[str, Any]) -> tuple[Message | None, str | None]:
    """Give the message of an event of the old server."""
    action, seen = text_or_none(event.get("action")), text_or_none(event.get("observation"))
    called = as_map(event.get("tool_call_metadata"))
    if action is not None:
        return _old_action(action, event, called)
    if seen is None or seen in _NO_MESSAGES:
        return None, None
    content = event.get("content")
    if not called:
        return {"role": "user", "content": content}, None
    code = as_map(as_map(event.get("extras")).get("metadata")).get("exit_code")
    message = {
        "role": "tool",
        "tool_call_id": called.get("tool_call_id"),
        "name": called.get("function_name"),
        "content": content,
    }
    failed = seen == "error" or (isinstance(code, int) and code > 0)
    return ({**message, "is_error": True} if failed else message), None


def _old_action(
    action: str, event: Mapping[str, Any], called: Mapping[str, Any]
) -> tuple[Message | None, str | None]:
    args = as_map(event.get("args"))
    is_agent = event.get("source") == "agent"
    if action in {"system", "message"}:
        role = "system" if action == "system" else "assistant" if is_agent else "user"
        return {"role": role, "content": args.get("content")}, None
    if is_agent and (called or action in _WORK):
        answer = text_or_none(as_map(called.get("model_response")).get("id"))
        return _old_call(action, args, called), answer
    return None, None


def _old_call(action: str, args: Mapping[str, Any], called: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: each for key, each in args.items() if key not in {"thought", "hidden"}}
    arguments: Any = given
    choices = as_list(as_map(called.get("model_response")).get("choices"))
    for choice in choices:
        for each in as_list(as_map(as_map(choice).get("message")).get("tool_calls")):
            if as_map(each).get("id") == called.get("tool_call_id"):
                arguments = as_map(as_map(each).get("function")).get("arguments", given)
    call = {
        "id": called.get("tool_call_id"),
        "type": "function",
        "function": {"name": called.get("function_name", action), "arguments": arguments},
    }
    return {"role": "assistant", "content": args.get("thought") or "", "tool_calls": [call]}
