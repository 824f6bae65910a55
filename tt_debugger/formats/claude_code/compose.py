"""A session of Claude Code made of another agent's talk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from tt_debugger.core.fork.minting import rising, stamp, uuid4
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.talk import Speaker, Talk, Turn, with_object
from tt_debugger.core.fork.writes import NewFile
from tt_debugger.core.messages import Call, Image, Part, Result, Said, Thought
from tt_debugger.formats.claude_code.replay import SYNTHETIC
from tt_debugger.formats.shared.fork_files import line_of, new_place, resumed_in
from tt_debugger.formats.shared.fork_origin import OURS, told_origin

_LONGEST_SLUG = 200
"""Of a longer one only how it begins is known, and not which folder is its own."""
_LAST_OF_ONE_UNIT = 0xFFFF


def fit(part: Part) -> tuple[Part | None, str]:
    """Give a part as the agent's provider takes it."""
    match part:
        case Thought():
            # It takes only thoughts that it signed itself.
            return None, "thought"
        case Call(id=name):
            return msgspec.structs.replace(with_object(part), id=_call_id(name)), ""
        case Result(call=call):
            return msgspec.structs.replace(part, call=_call_id(call)), ""
        case _:
            return part, ""


def composed(talk: Talk, plan: Plan, home: Path) -> Draft:
    """Give the draft of a session with the talk; `home` is the folder of all projects."""
    session, cwd = uuid4(plan.fresh), talk.cwd or ""
    records: list[dict[str, Any]] = []
    times = rising([each.time for each in talk.turns], plan.time)
    if times:
        times[-1] = plan.time
    for turn, time in zip(talk.turns, times, strict=True):
        is_assistant = turn.speaker is Speaker.ASSISTANT
        message = _answer(turn, plan) if is_assistant else _question(turn)
        records.append(
            {
                "parentUuid": records[-1]["uuid"] if records else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": session,
                "type": "assistant" if is_assistant else "user",
                "message": message,
                "uuid": uuid4(plan.fresh),
                "timestamp": stamp(time),
            }
        )
    leaf = records[-1]["uuid"] if records else ""
    title = talk.title or "session of another agent"
    records += (
        {
            "type": "custom-title",
            "customTitle": f"{title} (fork)",
            "sessionId": session,
            OURS: told_origin(plan),
        },
        {
            "type": "last-prompt",
            "lastPrompt": _last_prompt(talk),
            "leafUuid": leaf,
            "sessionId": session,
        },
    )
    slug = _slug_of(cwd)
    path = new_place(home / slug[:_LONGEST_SLUG], f"{session}.jsonl", plan.target)
    is_found = plan.target is None and len(slug) <= _LONGEST_SLUG
    named = session if is_found else path
    return Draft(
        (NewFile(path, tuple(map(line_of, records)), makes_folders=True),),
        path,
        Path(path).stem,
        leaf,
        resumed_in(cwd, "claude", "--resume", named),
        talk.losses,
    )


def _slug_of(cwd: str) -> str:
    """Give the name of a project's folder: its path, in which each UTF-16 unit counts."""
    return "".join(
        each if each.isascii() and each.isalnum() else "-" * (1 + (ord(each) > _LAST_OF_ONE_UNIT))
        for each in cwd
    )


def _last_prompt(talk: Talk) -> str:
    for turn in reversed(talk.turns):
        if turn.speaker is Speaker.USER:
            return "\n".join(each.text for each in turn.parts if isinstance(each, Said))
    return ""


def _question(turn: Turn) -> dict[str, Any]:
    match turn.parts:
        case (Said(text=text),):
            return {"role": "user", "content": text}
        case parts:
            return {"role": "user", "content": [_block(each) for each in parts]}


def _answer(turn: Turn, plan: Plan) -> dict[str, Any]:
    calls = any(isinstance(each, Call) for each in turn.parts)
    return {
        "id": f"msg_{plan.fresh(12).hex()}",
        "type": "message",
        "role": "assistant",
        "model": turn.model or SYNTHETIC,
        "content": [_block(each) for each in turn.parts],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Said(text=text):
            return {"type": "text", "text": text}
        case Image(mime=mime, data=data) if data:
            return {
                "type": "image",
                "source": {"type": "base64", "media_type": mime, "data": data},
            }
        case Image(url=url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Call(id=name, name=tool, arguments=arguments):
            return {"type": "tool_use", "id": name, "name": tool, "input": arguments}
        case Result(call=call, parts=parts, failed=failed):
            return {
                "type": "tool_result",
                "tool_use_id": call,
                "content": [_block(each) for each in parts],
                "is_error": failed,
            }
        case _:
            return {"type": "text", "text": str(part)}


def _call_id(name: str | None) -> str:
    """Give the id of a call in the letters that the provider takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name or "call")
