"""The normal form of states and messages, in which those of different formats can be compared.

Messages become blocks of one shape, whatever the agent calls them, results of tools become
messages of their own, and of the rest of a state stays what every agent's has. What was left out
is named: a comparison of two formats must say what it did not look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tt_debugger.core.changes import State
from tt_debugger.core.diff.meaning import Aspect, aspects_of
from tt_debugger.core.diff.side import Side
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import Call, Part, Result, Said, Thought, read_message

COMMON = ("messages", "model", "provider", "thinking_level", "title", "cwd", "usage")
"""What the state of every agent has (CONTRACT)."""

_ROLES = {"developer": "system", "human": "user", "ai": "assistant"}


class Comparable(NamedTuple):
    """Two states as they are compared.

    Those of two formats are in the normal form: `is_normal` tells so, `left_out` the keys of
    either that it has not.
    """

    old: State
    new: State
    is_normal: bool
    left_out: tuple[str, ...]


def comparable(old: Side, new: Side) -> Comparable:
    """Give the states of two sides as they are compared."""
    if old.session.format == new.session.format:
        return Comparable(old.state, new.state, is_normal=False, left_out=())
    missing = dict.fromkeys((*left_out(old.state), *left_out(new.state)))
    states = normal_state(old.state), normal_state(new.state)
    return Comparable(*states, is_normal=True, left_out=tuple(missing))


def normal_state(state: State) -> dict[str, Any]:
    """Give what a state has in common with those of other formats, in the normal form."""
    members = as_map(state)
    kept = {key: members[key] for key in COMMON if key in members}
    return kept | {"messages": normal_messages(as_list(members.get("messages")))}


def left_out(state: State) -> tuple[str, ...]:
    """Give the keys of a state that its normal form has not."""
    return tuple(key for key in as_map(state) if key not in COMMON)


def normal_messages(
    messages: Iterable[Any], names: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    """Give messages in the normal form; one with results of tools becomes several.

    `names` remembers the tools of the calls met so far, by the id of the call.
    """
    names = {} if names is None else names
    return [each for message in messages for each in _normal(message, names)]


def _normal(message: Any, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    reading = read_message(message)
    role = _ROLES.get(reading.role, reading.role)
    said: list[dict[str, Any]] = []
    for part in reading.parts:
        if isinstance(part, Result):
            if said:
                yield {"role": role, "content": said}
                said = []
            yield _result(part, names)
            continue
        if isinstance(part, Call) and part.id is not None:
            names[part.id] = part.name
        said += _blocks(part)
    if said or not any(isinstance(part, Result) for part in reading.parts):
        yield {"role": role, "content": said}


def _result(result: Result, names: dict[str, str]) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": result.call,
        "toolName": result.name or names.get(result.call or "", ""),
        "content": [block for part in result.parts for block in _blocks(part)],
        "isError": result.failed,
    }


def _blocks(part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case Said(text=text):
            yield {"type": "text", "text": text}
        case Thought(text=text, is_redacted=is_redacted):
            yield {"type": "thinking", "thinking": text, "redacted": is_redacted}
        case Call(id=call, name=name, arguments=arguments):
            yield {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        case _:
            yield from (_as_text(each) for each in aspects_of(part))


def _as_text(aspect: Aspect) -> dict[str, Any]:
    name = f"{aspect.about} {aspect.name}".rstrip()
    return {"type": "text", "text": f"[{name}] {aspect.text}"}
