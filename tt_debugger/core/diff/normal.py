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
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.langchain_messages import is_langchain_message
from tt_debugger.core.messages import Call, Part, Result, Said, Thought, read_message
from tt_debugger.core.text import counted

MESSAGES, FILES, VALUES = "messages", "files", "values"
COMMON = (MESSAGES, "model", "provider", "thinking_level", "title", "cwd", "usage")
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
    """Give the states of two sides as they are compared.

    Of two formats what both have, and of files those that both know: a transcript knows the
    files that its agent touched, a commit all there are.
    """
    if old.session.format == new.session.format:
        return Comparable(old.state, new.state, is_normal=False, left_out=())
    sides = normal_state(old.state), normal_state(new.state)
    unread = dict.fromkeys((*left_out(old.state), *left_out(new.state)))
    # Where one side is no agent's state, what the other has more tells nothing.
    agents = all(any(key in each for key in COMMON) for each in sides)
    shared = [_within(*both, agents=agents) for both in (sides, sides[::-1])]
    if not any(map(any, (each.values() for each in shared))):
        # Nothing to compare is not the same as nothing that differs.
        for each in sides:
            each.setdefault(MESSAGES, [])
        return Comparable(*sides, is_normal=True, left_out=tuple(unread))
    unread |= dict.fromkeys(
        key for one, other in zip(sides, shared, strict=True) for key in one if key not in other
    )
    if all(FILES in each for each in sides):
        known = {path for each in sides for path in each[FILES]}
        others = len(known) - len(shared[0][FILES])
        if others:
            unread[f"{counted(others, 'file')} of one side"] = None
    return Comparable(shared[0], shared[1], is_normal=True, left_out=tuple(unread))


def _within(state: dict[str, Any], other: dict[str, Any], *, agents: bool) -> dict[str, Any]:
    """Give what of a state in the normal form is compared, of files those that both know.

    Of two agents all that every agent's state has, else what both have.
    """
    kept = {key: value for key, value in state.items() if key in other}
    if agents:
        kept = {key: state[key] for key in state if key in other or key in COMMON}
        kept.setdefault(MESSAGES, [])
    if FILES in kept:
        files = as_map(other[FILES])
        kept[FILES] = {path: text for path, text in kept[FILES].items() if path in files}
    return kept


def normal_state(state: State) -> dict[str, Any]:
    """Give what a state may have in common with those of other formats, in the normal form.

    The paths of files are those below the folder in which the agent worked.
    """
    members = as_map(state)
    kept = {key: members[key] for key in COMMON if key in members}
    said = _messages_in(members)
    if said is not None:
        kept[MESSAGES] = normal_messages(said)
    if isinstance(members.get(FILES), dict):
        folder = f"{text_or_none(members.get('cwd')) or ''}/"
        files = as_map(members[FILES])
        kept[FILES] = {path.removeprefix(folder): files[path] for path in files}
    return kept


def left_out(state: State) -> tuple[str, ...]:
    """Give the keys of a state that its normal form has not."""
    normal = normal_state(state)
    has_said = MESSAGES in normal and MESSAGES not in as_map(state)
    return tuple(
        key for key in as_map(state) if key not in normal and not (has_said and key == VALUES)
    )


def _messages_in(members: dict[str, Any]) -> list[Any] | None:
    """Give the messages of a state, or those among its values, None where it has none."""
    if MESSAGES in members:
        return as_list(members[MESSAGES])
    for value in as_map(members.get(VALUES)).values():
        items = as_list(value)
        if items and all(is_langchain_message(as_map(each)) for each in items):
            return items
    return None


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
