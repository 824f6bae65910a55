"""A talk: the messages of any agent as turns, from which another agent's session is made.

What was said, called and given back is carried over. What only its own agent or provider can use
is not, and is counted: signatures of thoughts, the numbers of tokens, and what no table knows.
"""

from __future__ import annotations

import enum
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import (
    ROLES_OF_ASSISTANT,
    Call,
    Failure,
    Image,
    Other,
    Part,
    Reading,
    Result,
    Said,
    Shell,
    Thought,
    read_message,
)
from tt_debugger.core.text import counted


class Speaker(enum.StrEnum):
    """Who a turn is of."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Turn(msgspec.Struct, frozen=True):
    """What one speaker said at once: of a tool one result, of others any number of parts.

    `time` is in seconds since 1970, None where it is not known; `model` and `provider` are of the
    assistant.
    """

    speaker: Speaker
    parts: tuple[Part, ...]
    time: float | None = None
    model: str | None = None
    provider: str | None = None


class Talk(msgspec.Struct, frozen=True):
    """The turns of a talk, what is known of its session, and what could not be carried over."""

    turns: tuple[Turn, ...]
    losses: tuple[str, ...]
    model: str | None = None
    provider: str | None = None
    title: str | None = None
    cwd: str | None = None


def talk_of(state: Any) -> Talk:
    """Give the messages of a state as a talk."""
    known = as_map(state)
    lost: Counter[str] = Counter()
    said = _joined(_turns(messages_of(known), lost))
    # A result that stood between two answers may be gone.
    turns = tuple(_joined(_answered(tuple(said), lost)))
    losses = tuple(_told(what, count) for what, count in lost.items() if count)
    texts = {key: known.get(key) for key in ("model", "provider", "title", "cwd")}
    return Talk(
        turns, losses, **{key: text for key, text in texts.items() if isinstance(text, str)}
    )


def with_said(talk: Talk, text: str | None) -> Talk:
    """Give a talk in which the user says one thing more, None for nothing."""
    if text is None:
        return talk
    return msgspec.structs.replace(talk, turns=(*talk.turns, Turn(Speaker.USER, (Said(text),))))


Fit = Callable[[Part], tuple[Part | None, str]]
"""Gives a part as an agent can hold it, None where it cannot, and what is lost of it in a word."""


def fitted(talk: Talk, fit: Fit) -> Talk:
    """Give what an agent can hold of a talk; what it cannot is counted among the losses."""
    lost: Counter[str] = Counter()
    turns: list[Turn] = []
    for turn in talk.turns:
        parts: list[Part] = []
        for each in turn.parts:
            part, loss = fit(each)
            lost[loss] += bool(loss)
            if part is not None:
                parts.append(part)
        if parts:
            turns.append(msgspec.structs.replace(turn, parts=tuple(parts)))
    losses = tuple(_told(what, count) for what, count in lost.items() if count)
    return msgspec.structs.replace(talk, turns=tuple(turns), losses=(*talk.losses, *losses))


def with_object(call: Call) -> Call:
    """Give a call whose arguments are an object, as most providers want them."""
    if isinstance(call.arguments, dict):
        return call
    return msgspec.structs.replace(call, arguments={"input": call.arguments})


def named_calls(talk: Talk) -> dict[str | None, str]:
    """Give the name of the tool of each call by the id of the call."""
    parts = (part for turn in talk.turns for part in turn.parts)
    return {part.id: part.name for part in parts if isinstance(part, Call)}


def said_alike(talk: Talk, other: Talk) -> bool:
    """Tell whether two talks say the same, whatever else is known of their turns."""
    return _words(talk) == _words(other)


def _words(talk: Talk) -> list[tuple[Speaker, tuple[Part, ...]]]:
    return [(turn.speaker, tuple(map(_word, turn.parts))) for turn in talk.turns]


def _word(part: Part) -> Part:
    match part:
        case Result(parts=parts):
            # It names its tool or leaves that to its call.
            return msgspec.structs.replace(part, name="", parts=tuple(map(_word, parts)))
        case Image(url=url) if url:
            return Image("", "", url)
        case _:
            return part


def messages_of(state: Any) -> Sequence[Any]:
    """Give the messages of a state: its own, or those of its channels. Empty where it has none."""
    state = as_map(state)
    return as_list(state.get("messages", as_map(state.get("values")).get("messages")))


def _told(what: str, count: int) -> str:
    return f"{counted(count, what)} not carried over"


def _turns(messages: Iterable[Any], lost: Counter[str]) -> Iterator[Turn]:
    for message in messages:
        reading = read_message(message)
        own = as_map(message)
        if reading.role in _INSTRUCTING:
            lost[f"message of the {reading.role}"] += 1
            continue
        if "usage" in own:
            lost["token count"] += 1
        yield from _turns_of(reading, own, lost)


_INSTRUCTING = frozenset(("system", "developer"))
"""Roles of what an agent tells its model itself, each its own."""


def _turns_of(reading: Reading, message: dict[str, Any], lost: Counter[str]) -> Iterator[Turn]:
    """Give the results that a message holds, each as a turn, then what else it says."""
    time = _seconds(message.get("timestamp"))
    said: list[Part] = []
    for part in reading.parts:
        match part:
            case Result():
                yield Turn(Speaker.TOOL, (_without_others(part, lost),), time)
            case Said(text=""):
                pass
            case Said() | Image() | Call():
                said.append(part)
            case Thought(is_redacted=True):
                lost["hidden thought"] += 1
            case Thought():
                said.append(part)
            case Shell(command=command, output=output, failure=failure):
                told = f"$ {command}\n{output}" + (f"\n({failure})" if failure else "")
                said.append(Said(told))
            case Failure(text=text):
                lost["message of an error"] += 1 if text else 0
            case _:
                lost["part of an unknown kind"] += 1
    if said:
        is_assistant = reading.role in ROLES_OF_ASSISTANT
        model, provider = message.get("model"), message.get("provider")
        yield Turn(
            Speaker.ASSISTANT if is_assistant else Speaker.USER,
            tuple(said),
            time,
            model if is_assistant and isinstance(model, str) else None,
            provider if is_assistant and isinstance(provider, str) else None,
        )


def _without_others(result: Result, lost: Counter[str]) -> Result:
    parts = tuple(each for each in result.parts if not isinstance(each, Other))
    if len(parts) < len(result.parts):
        lost["part of an unknown kind"] += len(result.parts) - len(parts)
    return msgspec.structs.replace(result, parts=parts)


def _answered(turns: Sequence[Turn], lost: Counter[str]) -> Iterator[Turn]:
    """Give turns in which each call has its result right behind it, as every provider wants."""
    results: defaultdict[str | None, deque[tuple[int, Turn]]] = defaultdict(deque)
    for place, turn in enumerate(turns):
        match turn.parts:
            case (Result(call=call),):
                results[call].append((place, turn))
            case _:
                pass
    taken: set[str] = set()
    for place, turn in enumerate(turns):
        if turn.speaker is Speaker.TOOL:
            continue
        parts: list[Part] = []
        answers: list[Turn] = []
        for part in turn.parts:
            if not isinstance(part, Call):
                parts.append(part)
                continue
            waiting = results[part.id]
            while waiting and waiting[0][0] < place:
                waiting.popleft()
                lost["result before its call"] += 1
            if not waiting:
                lost["call without a result"] += 1
                continue
            call = _own_name(part.id or "call", taken)
            parts.append(msgspec.structs.replace(part, id=call))
            answers.append(_naming(waiting.popleft()[1], call))
        if parts:
            yield msgspec.structs.replace(turn, parts=tuple(parts))
        yield from answers
    lost["result without a call"] += sum(map(len, results.values()))


def _own_name(name: str, taken: set[str]) -> str:
    """Give the id of a call, another one where there was a call of that id before."""
    own = name if name not in taken else f"{name}-{len(taken)}"
    taken.add(own)
    return own


def _naming(turn: Turn, call: str) -> Turn:
    """Give a result as that of a call."""
    parts = tuple(
        msgspec.structs.replace(each, call=call) if isinstance(each, Result) else each
        for each in turn.parts
    )
    return msgspec.structs.replace(turn, parts=parts)


def _joined(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Give turns of which no two that follow each other are of the assistant."""
    open_turn: Turn | None = None
    for turn in turns:
        if open_turn is not None and turn.speaker is open_turn.speaker is Speaker.ASSISTANT:
            open_turn = msgspec.structs.replace(open_turn, parts=open_turn.parts + turn.parts)
            continue
        if open_turn is not None:
            yield open_turn
        open_turn = turn
    if open_turn is not None:
        yield open_turn


def _seconds(stamp: Any) -> float | None:
    """Give a time that is in milliseconds as Pi and Tau write it; others are not in messages."""
    is_number = isinstance(stamp, int | float) and not isinstance(stamp, bool)
    return stamp / 1000 if is_number else None
