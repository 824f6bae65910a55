"""AutoGen: the state of a team or an agent, as a program saves it in a JSON file.

A file is one snapshot. Its messages are those of the team's thread, which its manager keeps, or
else what the agent that heard most would send to its model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, SessionId
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.document import Lost
from tt_debugger.formats.shared.message_heads import head_of, time_in, usage_of
from tt_debugger.formats.shared.reading import Place
from tt_debugger.formats.shared.transcript import Entry, Told, Transcript, other_entry
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import keys_seen, one_record
from tt_debugger.store import Match, Probe

_TYPE = re.compile(rb'"type"[ \t\r\n]*:[ \t\r\n]*"(\w{1,60}State)"')
_THREAD = "message_thread"
_CONTEXT = "llm_context"
_AGENTS = "agent_states"
_INNER = ("agent_state", "inner_team_state", "team_state")
_TELLING = frozenset((_THREAD, _CONTEXT, _AGENTS, *_INNER, "message_buffer"))
_DEEPEST = 32
"""States of teams in states of teams that are looked into."""
_RESULTS = frozenset(("FunctionExecutionResultMessage", "ToolCallExecutionEvent"))
_OURS = frozenset(("messages", "usage"))
"""What the state has beside the keys of the document."""
_THOUGHTS = frozenset(("ThoughtEvent",))
_ROLES = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}


class Autogen(TranscriptFile):
    """A file with one state."""

    format: ClassVar[str] = "autogen"
    about: ClassVar[str] = "saved states of AutoGen's teams and agents (JSON)"
    verified: ClassVar[str] = "states of AutoGen AgentChat 0.7.5"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its keys and by the type that it says it is."""
        if probe.inside is not None:
            return None
        keys = set(keys_seen(probe))
        if not {"type", "version"} <= keys or _TELLING.isdisjoint(keys):
            return None
        found = _TYPE.search(probe.head)
        return found and Match(92, f"a {found[1].decode()} of AutoGen")

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the one state that there is."""
        state, why, told = one_record(data)
        place = Place(1, 1, 0, len(data))
        piece = Lost(place, why) if state is None else _entry(state, place, told)
        return Transcript(id=PurePath(self.location).stem, pieces=[piece], size=len(data))


def _entry(state: dict[str, Any], place: Place, told: tuple[Finding, ...]) -> Entry:
    if not isinstance(state.get("type"), str):
        other = other_entry(state, place, name=place.name)
        return msgspec.structs.replace(other, findings=told)
    said = [as_map(each) for each in _said_in(state, _DEEPEST)]
    messages = [message for each in said for message in _messages(each)]
    times = [time for each in said if (time := time_in(each)) is not None]
    return Entry(
        head=_head(state, said, messages),
        body=state,
        told=Told(
            tuple(messages), puts={key: each for key, each in state.items() if key not in _OURS}
        ),
        name=place.name,
        time=max(times, default=None),
        place=place,
        findings=told,
    )


def _head(
    state: Mapping[str, Any], said: Sequence[dict[str, Any]], messages: Sequence[dict[str, Any]]
) -> Head:
    count = len(messages)
    last = head_of(messages[-1])[0].summary if messages else ""
    parts = [str(state["type"]), f"{count} message{'' if count == 1 else 's'}", last]
    used = [usage for each in said if (usage := usage_of(each.get("models_usage"))) is not None]
    usage = reduce(add, used[1:], used[0]) if used else None
    return Head(
        Kind.SNAPSHOT, None, "state", summary_line(" · ".join(filter(None, parts))), usage=usage
    )


def _said_in(state: Mapping[str, Any], deepest: int) -> list[Any]:
    """Give what was said in a state: in the thread of a team, or else in what an agent heard."""
    if not deepest:
        return []
    if isinstance(state.get(_THREAD), list):
        return as_list(state[_THREAD])
    if isinstance(state.get(_CONTEXT), dict):
        return as_list(as_map(state[_CONTEXT]).get("messages"))
    for key in _INNER:
        if isinstance(state.get(key), dict):
            return _said_in(as_map(state[key]), deepest - 1)
    agents = [as_map(each) for each in as_map(state.get(_AGENTS)).values()]
    manager = next((each for each in agents if isinstance(each.get(_THREAD), list)), None)
    if manager is not None:
        return as_list(manager[_THREAD])
    heard = [_said_in(each, deepest - 1) for each in agents]
    return max(heard, key=len) if heard else []


def _messages(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Give what was said as messages that everybody knows: each result of a tool is one."""
    kind, source, content = text_or_none(said.get("type")), said.get("source"), said.get("content")
    if kind in _RESULTS:
        return [_result(as_map(each)) for each in as_list(content)]
    usual = "user" if source == "user" else "assistant"
    role = usual if kind is None else _ROLES.get(kind, usual)
    name = {"name": source} if isinstance(source, str) and source != role else {}
    return [{"role": role, "content": _content(said), **name}]


def _content(said: Mapping[str, Any]) -> Any:
    content = said.get("content")
    thought = text_or_none(said.get("thought"))
    if text_or_none(said.get("type")) in _THOUGHTS:
        return [{"type": "thinking", "thinking": content}]
    if isinstance(content, list):
        blocks = [_block(each) for each in as_list(content)]
    elif isinstance(content, str) and not thought:
        return content
    else:
        blocks = [content] if isinstance(content, str) else [_json(content)]
    return [{"type": "thinking", "thinking": thought}, *blocks] if thought else blocks


def _block(item: Any) -> Any:
    """Give an item of a list: a call, an image, or text as it is."""
    own = as_map(item)
    if "arguments" in own and "name" in own:
        arguments = own["arguments"]
        return {
            "type": "tool_use",
            "id": own.get("id"),
            "name": own["name"],
            "input": _arguments(arguments) if isinstance(arguments, str) else arguments,
        }
    if isinstance(own.get("data"), str):
        return {"type": "image", "mimeType": "image/png", "data": own["data"]}
    return item


def _result(own: Mapping[str, Any]) -> dict[str, Any]:
    message = {
        "role": "tool",
        "tool_call_id": own.get("call_id"),
        "name": own.get("name"),
        "content": own.get("content"),
    }
    return {**message, "is_error": True} if own.get("is_error") is True else message


def _arguments(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


STORE = Autogen
