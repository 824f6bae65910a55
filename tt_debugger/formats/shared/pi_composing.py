"""Messages as Pi and Tau write them, made of the turns of another agent's talk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.fork.talk import Speaker, Turn, with_object
from tt_debugger.core.messages import Call, Image, Part, Result, Said, Thought

UNKNOWN = "unknown"
"""What both agents have for a model that is not known."""


def message_of(turn: Turn, time: float, names: Mapping[str | None, str]) -> dict[str, Any]:
    """Give a turn as a message; `names` has the tools of calls by their ids."""
    stamp = {"timestamp": round(time * 1000)}
    match turn.parts:
        case (Result() as result,) if turn.speaker is Speaker.TOOL:
            return {
                "role": "toolResult",
                "toolCallId": result.call or "",
                "toolName": result.name or names.get(result.call, UNKNOWN),
                "content": [block_of(each) for each in result.parts],
                "isError": result.failed,
                **stamp,
            }
        case parts if turn.speaker is Speaker.ASSISTANT:
            calls = any(isinstance(each, Call) for each in parts)
            return {
                "role": "assistant",
                "content": [block_of(each) for each in parts],
                "api": UNKNOWN,
                "provider": turn.provider or UNKNOWN,
                "model": turn.model or UNKNOWN,
                "usage": _NOTHING_USED,
                "stopReason": "toolUse" if calls else "stop",
                **stamp,
            }
        case parts:
            return {"role": "user", "content": [block_of(each) for each in parts], **stamp}


_NOTHING_USED: Mapping[str, Any] = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}


def fit(part: Part) -> tuple[Part | None, str]:
    """Give a part as both agents can hold it."""
    match part:
        case Call():
            return with_object(part), ""
        case Image(data="", url=url):
            return Said(url), "picture that is an address"
        case Result(parts=parts):
            fitting = tuple(each for each in map(fit, parts) if each[0] is not None)
            inner = tuple(part for part, _ in fitting if part is not None)
            loss = next((loss for _, loss in fitting if loss), "")
            return msgspec.structs.replace(part, call=part.call or "", parts=inner), loss
        case _:
            return part, ""


def block_of(part: Part) -> dict[str, Any]:
    """Give a part as a block."""
    match part:
        case Thought(text=text):
            return {"type": "thinking", "thinking": text}
        case Image(mime=mime, data=data):
            return {"type": "image", "data": data, "mimeType": mime}
        case Call(id=name, name=tool, arguments=arguments):
            return {"type": "toolCall", "id": name or "", "name": tool, "arguments": arguments}
        case Said(text=text):
            return {"type": "text", "text": text}
        case _:
            return {"type": "text", "text": str(part)}
