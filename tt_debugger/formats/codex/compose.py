"""A rollout of Codex made of another agent's talk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.fork.minting import rising, stamp, uuid7
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Speaker, Talk, Turn, with_object
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.core.messages import Call, Image, Part, Result, Said, Thought
from tt_debugger.formats.codex.records import EVENT, ITEM, META
from tt_debugger.formats.codex.rollouts import MADE_BY, file_name, folder_of, record
from tt_debugger.formats.shared.fork_files import line_of, new_place, resumed_in
from tt_debugger.formats.shared.fork_origin import OURS, told_origin


def fit(part: Part) -> tuple[Part | None, str]:
    """Give a part as a rollout can hold it."""
    match part:
        case Thought():
            return None, "thought"
        case Call():
            given = with_object(part)
            return msgspec.structs.replace(given, id=part.id or "call"), ""
        case Result(parts=parts):
            text = "\n".join(each.text for each in parts if isinstance(each, Said))
            is_all = all(isinstance(each, Said) for each in parts)
            loss = "" if is_all else "picture of a tool"
            if part.failed:
                text, loss = f"failed: {text}", loss or "mark that a tool failed"
            own = (Said(text),) if text else ()
            return Result(part.call or "call", part.name, own, failed=False), loss
        case _:
            return part, ""


def composed(talk: Talk, plan: Plan, home: Path) -> Draft:
    """Give the draft of a rollout with the talk; `home` is the folder of all threads."""
    session = uuid7(plan.time, plan.fresh)
    meta = {
        "id": session,
        "timestamp": stamp(plan.time),
        "cwd": talk.cwd or "",
        **MADE_BY,
        "source": "cli",
        OURS: told_origin(plan),
    }
    records: list[dict[str, Any]] = [record(plan.time, META, meta)]
    last = 1
    """The line of the last item: an event behind it is a part of what it tells."""
    times = rising([each.time for each in talk.turns], plan.time)
    for turn, time in zip(talk.turns, times, strict=True):
        records += (record(time, ITEM, item) for item in _items(turn))
        last = len(records)
        text = _text(turn.parts)
        if turn.speaker is Speaker.USER and text:
            # Without it the thread has no preview, and is not listed.
            event = {"type": "user_message", "message": text}
            records.append(record(time, EVENT, event))
    path = new_place(home / folder_of(plan.time), file_name(plan.time, session), plan.target)
    return Draft(
        (NewFile(path, tuple(map(line_of, records)), makes_folders=True),),
        path,
        session,
        f"L{last}",
        resumed_in(talk.cwd, "codex", "resume", session),
        talk.losses,
    )


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(each.text for each in parts if isinstance(each, Said))


def _items(turn: Turn) -> Iterator[dict[str, Any]]:
    """Give the items of a turn: what is said together is one, each call and result another."""
    kind = "output_text" if turn.speaker is Speaker.ASSISTANT else "input_text"
    said: list[dict[str, Any]] = []
    for part in turn.parts:
        match part:
            case Said(text=text):
                said.append({"type": kind, "text": text})
            case Image():
                said.append({"type": "input_image", "image_url": _address(part)})
            case _:
                yield from _message(turn.speaker, said)
                said = []
                yield _call(part)
    yield from _message(turn.speaker, said)


def _message(speaker: Speaker, said: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if said:
        yield {"type": "message", "role": str(speaker), "content": said}


def _call(part: Part) -> dict[str, Any]:
    match part:
        case Call(id=name, name=tool, arguments=arguments):
            given = msgspec.json.encode(arguments).decode()
            return {"type": "function_call", "name": tool, "arguments": given, "call_id": name}
        case Result(call=call, parts=parts):
            return {"type": "function_call_output", "call_id": call, "output": _text(parts)}
        case _:
            return {"type": "message", "role": "user", "content": []}


def _address(image: Image) -> str:
    return image.url or f"data:{image.mime};base64,{image.data}"
