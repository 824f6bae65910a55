"""Comparing our messages with what the agents dumped.

Tau fills in defaults when it dumps a message; a recorded state holds only what the file holds.
"""

from __future__ import annotations

from typing import Any

_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
_BY_ROLE: dict[str, dict[str, Any]] = {
    "assistant": {
        "content": [],
        **dict.fromkeys(("api", "provider", "model"), "unknown"),
        "usage": {},
        "stopReason": "stop",
    },
    "toolResult": {"content": [], "isError": False},
    "bashExecution": dict.fromkeys(("cancelled", "truncated", "excludeFromContext"), False),
    "custom": {"display": True},
}
_BY_BLOCK: dict[str, dict[str, Any]] = {
    "thinking": {"redacted": False},
    "toolCall": {"arguments": {}},
}

_TRUTHS = {"display", "isError", "cancelled", "truncated", "excludeFromContext"}


def plain(value: Any) -> Any:
    """Give a value without timestamps, which the agents take from the clock."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key != "timestamp"}
    return [plain(each) for each in value] if isinstance(value, list) else value


def as_tau_dumps(messages: list[Any]) -> list[Any]:
    """Give messages with Tau's defaults and without nulls and timestamps."""
    return [_filled(message) for message in plain(messages)]


def _filled(message: dict[str, Any]) -> dict[str, Any]:
    said = {key: _read(key, each) for key, each in message.items() if each is not None}
    whole = {**_BY_ROLE.get(message["role"], {}), **said}
    if isinstance(whole.get("content"), list):
        whole["content"] = [_filled_block(block) for block in whole["content"]]
    if "usage" in whole:
        usage = {**_USAGE, "cost": {}, **whole["usage"]}
        cost = {**_COST, **(usage.pop("cost") or {})}
        whole["usage"] = {key: float(each) for key, each in usage.items()}
        whole["usage"]["cost"] = {key: float(each) for key, each in cost.items()}
    return whole


def _read(key: str, value: Any) -> Any:
    """Give a value as Tau's lax mode reads it: texts pass for numbers and truths."""
    if key in _TRUTHS and isinstance(value, str):
        return value in {"yes", "true"}
    return int(value) if key == "exitCode" else value


def _filled_block(block: dict[str, Any]) -> dict[str, Any]:
    said = {key: each for key, each in block.items() if each is not None}
    kind = block.get("type") or ("toolCall" if "name" in block else "text")
    return {"type": kind, **_BY_BLOCK.get(kind, {}), **said}
