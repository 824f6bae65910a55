"""SWE-agent and mini-swe-agent: the trajectory of one run, a JSON document that is written whole.

SWE-agent keeps the messages in `history`, and in `trajectory` the steps with what the environment
was like after each; mini-swe-agent keeps `messages` alone, in old versions as a bare list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, SessionId
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.document import Element, Lost
from tt_debugger.formats.shared.message_heads import head_of, usage_of
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entry,
    Piece,
    Told,
    Transcript,
    message_entry,
    other_entry,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import (
    ObjectRead,
    keys_seen,
    read_list,
    read_object,
)
from tt_debugger.store import Match, Probe

_LISTS = ("trajectory", "history", "messages")
_STEPS = re.compile(rb'"trajectory"\s*:\s*\[\s*(?:\{|\])')


class SweAgent(TranscriptFile):
    """The trajectory of one run."""

    format: ClassVar[str] = "swe_agent"
    about: ClassVar[str] = "trajectories of SWE-agent and mini-swe-agent (.traj, .traj.json)"
    verified: ClassVar[str] = "its published source; no agent was run"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a document by its keys; an old list of messages by its name alone."""
        head = probe.head.removeprefix(BYTE_ORDER_MARK).lstrip()
        is_named = probe.name.endswith((".traj", ".traj.json"))
        if head[:1] == b"[" and is_named:
            return Match(90, "messages in a file that is called a trajectory")
        if head[:1] != b"{":
            return None
        keys = set(keys_seen(probe))
        if "trajectory_format" in keys and "messages" in keys:
            return Match(95, "a document with messages that says it is a trajectory")
        if _STEPS.search(head) and (is_named or {"history", "info", "environment"} & keys):
            return Match(90, "a document with the steps of a trajectory")
        if is_named and keys & {"info", *_LISTS}:
            return Match(85, "a document that is called a trajectory, with its parts")
        return None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder of trajectories that is set, and those of mini-swe-agent's last run."""
        named = ("SWE_AGENT_TRAJECTORY_DIR", "MSWEA_GLOBAL_CONFIG_DIR")
        own = [Path(environ[name]) for name in named if environ.get(name)]
        bases = (home / ".config", home / "Library" / "Application Support")
        return (*own, *(base / "mini-swe-agent" for base in bases))

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the run."""
        name = PurePath(self.location).name
        own = name.removesuffix(".json").removesuffix(".traj")
        if data.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
            pieces = [_message(each) for each in read_list(data).pieces]
            return Transcript(id=own, pieces=pieces, size=len(data))
        read = read_object(data, _LISTS)
        start = _settings(read.members)
        return Transcript(
            id=own,
            pieces=_in_order(read),
            size=len(data),
            start=start,
            cwd=start.get("cwd"),
            findings=read.findings,
        )


def _in_order(read: ObjectRead) -> list[Piece]:
    """Give all pieces in the order of the file, but for the steps, which say more of messages."""
    steps = read.pieces("trajectory")
    history = read.pieces("history") or read.pieces("messages")
    found: list[Piece] = [Beside(key, place) for key, place in read.places.items()]
    if history:
        found += (_beside_step(each) for each in steps)
        found += _with_steps(history, [each.value for each in steps if isinstance(each, Element)])
    else:
        found += map(_step, steps)
    found = _with_end(found, read.members.get("info"))
    found += read.lost
    return sorted(found, key=_offset)


def _offset(piece: Piece) -> int:
    match piece:
        case Entry(place=place):
            return place.offset if place else 0
        case Beside(place=place) | Lost(place=place):
            return place.offset
        case _:
            return 0


def _beside_step(piece: Element | Lost) -> Piece:
    return Beside("trajectory", piece.place) if isinstance(piece, Element) else piece


def _with_steps(
    history: Iterable[Element | Lost], steps: Iterable[dict[str, Any]]
) -> Iterator[Piece]:
    """Give the messages, each answer of the model with what its step says of the environment."""
    left = iter(steps)
    for piece in history:
        made = _message(piece)
        is_answer = (
            isinstance(made, Entry)
            and made.body.get("role") == "assistant"
            and not made.body.get("is_demo")
        )
        if isinstance(made, Entry) and is_answer:
            puts = _environment(next(left, dict[str, Any]()))
            told = msgspec.structs.replace(made.told, puts={**made.told.puts, **puts})
            made = msgspec.structs.replace(made, told=told)
        yield made


def _with_end(pieces: list[Piece], info: Any) -> list[Piece]:
    """Let the last entry say how the run ended."""
    last = max(
        (place for place, each in enumerate(pieces) if isinstance(each, Entry)), default=None
    )
    end = as_map(info)
    if last is None or not end:
        return pieces
    entry = pieces[last]
    if isinstance(entry, Entry):
        told = msgspec.structs.replace(entry.told, puts={**entry.told.puts, "info": end})
        pieces[last] = msgspec.structs.replace(entry, told=told)
    return pieces


def _message(piece: Element | Lost) -> Piece:
    if isinstance(piece, Lost):
        return piece
    record = piece.value
    if not isinstance(record.get("role"), str):
        return other_entry(record, piece.place)
    message = _as_sent(record)
    head = head_of(message)[0]
    extra = as_map(record.get("extra"))
    usage = usage_of(as_map(extra.get("response")).get("usage")) or head.usage
    head = msgspec.structs.replace(head, usage=usage)
    entry = message_entry(message, piece.place, body=record, head=head)
    if entry.time is None and isinstance(extra.get("timestamp"), (int, float)):
        time = extra["timestamp"]
        entry = msgspec.structs.replace(entry, time=None if isinstance(time, bool) else time)
    return entry


def _as_sent(record: dict[str, Any]) -> dict[str, Any]:
    """Give a message as the agent sends it: a result names the one call that it answers."""
    called = as_list(record.get("tool_call_ids"))
    is_result = record.get("role") == "tool" and "tool_call_id" not in record
    if is_result and called and isinstance(called[0], str):
        return {**record, "tool_call_id": called[0]}
    return record


def _step(piece: Element | Lost) -> Piece:
    """Give a step of a run without a history: what the model said, and what came of it."""
    if isinstance(piece, Lost):
        return piece
    step = piece.value
    said = text_or_none(step.get("response")) or text_or_none(step.get("thought")) or ""
    action = text_or_none(step.get("action")) or ""
    messages: list[Any] = [{"role": "assistant", "content": said or action}]
    if isinstance(step.get("observation"), str):
        messages.append({"role": "user", "content": step["observation"]})
    head = Head(Kind.TURN, None, "step", summary_line(action or said))
    told = Told(tuple(messages), _environment(step))
    return Entry(head=head, body=step, told=told, place=piece.place)


def _environment(step: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a step says of the environment after it; old versions have it as JSON text."""
    state = step.get("state")
    if isinstance(state, str):
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            state = msgspec.json.decode(state)
    seen = as_map(state)
    puts: dict[str, Any] = {"environment": seen} if seen else {}
    if isinstance(seen.get("working_dir"), str):
        puts["cwd"] = seen["working_dir"]
    return puts


def _settings(members: Mapping[str, Any]) -> dict[str, Any]:
    """Give what holds from the beginning: the model, as the configuration names it."""
    config = members.get("replay_config")
    if isinstance(config, str):
        with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            config = msgspec.json.decode(config)
    agent = as_map(as_map(config).get("agent"))
    model = text_or_none(as_map(agent.get("model")).get("name"))
    mini = as_map(as_map(members.get("info")).get("config"))
    model = model or text_or_none(as_map(mini.get("model")).get("model_name"))
    cwd = text_or_none(as_map(mini.get("environment")).get("cwd"))
    settings: dict[str, Any] = {}
    settings |= {} if model is None else {"model": model}
    return settings | ({} if cwd is None else {"cwd": cwd})


STORE = SweAgent
