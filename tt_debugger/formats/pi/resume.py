"""Resuming Pi: what Pi 1.6 would send from a context, up to its vendor adapters.

Two steps, measured by running Pi: `convertToLlm` turns what models do not know into user texts;
`transformMessages` answers open calls, leaves failed turns out, and drops the thinking of other
models. Pi never drops or moves a result. What depends on Pi's configuration (windows, images,
extensions) is not in the file and not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.replay import Repair

BRANCH_PREAMBLE = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
)
COMPACTION_PREAMBLE = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n"
)
NO_RESULT = "No result provided"
_KNOWN_ROLES = ("system", "user", "assistant", "toolResult")


def sent(state: Mapping[str, Any]) -> tuple[list[Any], list[Repair]]:
    """Give the messages that Pi would send from a recorded state, and what it mended."""
    messages = [each for message in state["messages"] for each in _for_model(as_map(message))]
    turns, target = _Turns(), _target(state)
    for message in messages:
        turns.take(_for_target(message, target))
    turns.close()
    return turns.messages, turns.repairs


def _for_model(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Turn one message of the context into what a model can be sent: one message or none."""
    role = message.get("role")
    if role in _KNOWN_ROLES:
        is_empty = message.get("content") is None and role != "system"
        return [{**message, "content": []} if is_empty else message]
    content = _as_user_content(message)
    if content is None:
        return []
    user = {"role": "user", "content": content}
    return [{**user, "timestamp": message["timestamp"]} if "timestamp" in message else user]


def _as_user_content(message: Mapping[str, Any]) -> Any:
    """Give the content with which the user seems to say what a model does not know, or None."""
    summary = message.get("summary")
    match message.get("role"):
        case "bashExecution" if not message.get("excludeFromContext"):
            return [_text(_bash_text(message))]
        case "custom":
            content = message.get("content")
            return [_text(content)] if isinstance(content, str) else content
        case "branchSummary":
            return [_text(f"{BRANCH_PREAMBLE}{summary}</summary>")]
        case "compactionSummary":
            return [_text(f"{COMPACTION_PREAMBLE}{summary}\n</summary>")]
        case _:
            return None


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _bash_text(message: Mapping[str, Any]) -> str:
    text = f"Ran `{message.get('command')}`\n"
    output = message.get("output")
    text += f"```\n{output}\n```" if output else "(no output)"
    code = message.get("exitCode")
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif isinstance(code, (int, float)) and code:
        text += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return text


def _target(state: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Give provider, model and API of the model that would answer; the API as last recorded."""
    model = (state.get("provider"), state.get("model"))
    for message in map(as_map, reversed(as_list(state["messages"]))):
        if message.get("role") == "assistant" and _model(message) == model:
            return (*model, message.get("api"))
    return (*model, None)


def _model(message: Mapping[str, Any]) -> tuple[Any, Any]:
    return message.get("provider"), message.get("model")


def _for_target(message: dict[str, Any], target: tuple[Any, Any, Any]) -> dict[str, Any]:
    """Fit an assistant message to the model that would read it."""
    if message.get("role") != "assistant":
        return message
    same = (*_model(message), message.get("api")) == target
    blocks: list[Any] = []
    for block in as_list(message.get("content")):
        blocks += _fitted(as_map(block), same=same)
    return {**message, "content": blocks}


def _fitted(block: dict[str, Any], *, same: bool) -> list[dict[str, Any]]:
    match block.get("type"):
        case "thinking":
            signed = block.get("redacted") or block.get("thinkingSignature")
            thought = text_or_none(block.get("thinking")) or ""
            return [block] if same and (signed or thought.strip()) else []
        case "text" if not same:
            return [{"type": "text", "text": block.get("text")}]
        case "toolCall" if not same:
            return [{key: value for key, value in block.items() if key != "thoughtSignature"}]
        case _:
            return [block]


class _Turns:
    """The messages so far, with the calls that still wait for their results."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.repairs: list[Repair] = []
        self._open: list[dict[str, Any]] = []
        self._answered: set[str | None] = set()
        self._held: list[dict[str, Any]] = []

    def take(self, message: dict[str, Any]) -> None:
        match message.get("role"):
            case "assistant":
                self.close()
                self._take_assistant(message)
            case "toolResult":
                self._answered.add(text_or_none(message.get("toolCallId")))
                self.messages.append(message)
            case "system" if self._open:
                self._held.append(message)
            case "system":
                self.messages.append(message)
            case _:
                self.close()
                self.messages.append(message)

    def _take_assistant(self, message: dict[str, Any]) -> None:
        calls = _calls(message)
        if message.get("stopReason") in ("error", "aborted"):
            kind = "dropped_call" if calls else "no_response"
            why = f"Pi leaves a turn out that ended with {message['stopReason']}"
            self.repairs.append(Repair(len(self.messages), kind, why))
            return
        self.messages.append(message)
        self._open, self._answered = calls, set()

    def close(self) -> None:
        """Answer what is still open, then put out the system messages that waited for it."""
        for call in self._open:
            if text_or_none(call.get("id")) not in self._answered:
                why = f"the call {call.get('name')} has no result; Pi answers it itself"
                self.repairs.append(Repair(len(self.messages), "added_result", why))
                self.messages.append(_no_result(call))
        self._open = []
        self.messages += self._held
        self._held = []


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks: Sequence[dict[str, Any]] = [as_map(each) for each in as_list(message.get("content"))]
    return [block for block in blocks if block.get("type") == "toolCall"]


def _no_result(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call.get("id"),
        "toolName": call.get("name"),
        "content": [_text(NO_RESULT)],
        "isError": True,
    }
