"""Letta: agents in an agent file, each with its messages and the blocks of its memory.

A file is one moment: of the messages some are in the context of the agent still, and those before
them were put away when it grew too long. Each agent in it is a session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import SessionId
from tt_debugger.formats.shared.document import Element, Lost, findings_on
from tt_debugger.formats.shared.message_heads import head_of, is_message, time_in
from tt_debugger.formats.shared.reading import Place
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entry,
    Piece,
    Told,
    Transcript,
    no_session,
    other_entry,
    with_entries,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import ObjectRead, keys_seen, read_object
from tt_debugger.store import Match, Probe

_AGENTS = "agents"
_MESSAGES = "messages"
_TELLING = frozenset((_AGENTS, "blocks", "tools"))
_BESIDE = frozenset(("groups", "files", "sources", "mcp_servers"))


class Letta(TranscriptFile):
    """The agents in one file."""

    format: ClassVar[str] = "letta"
    about: ClassVar[str] = "agent files of Letta (.af, JSON)"
    verified: ClassVar[str] = "published agent files; no agent was run"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its keys; of one that is cut only the first may be there."""
        keys = keys_seen(probe) if probe.inside is None else ()
        if keys == (_AGENTS,) and b'"in_context_message_ids"' in probe.head:
            return Match(90, "agents with the messages in their contexts, as Letta writes them")
        if set(keys) >= _TELLING and _BESIDE & set(keys):
            return Match(92, "agents, blocks and tools of Letta")
        return None

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all agents, in the order of the file."""
        self.look()
        return [SessionId(name) for name in _names(read_object(self._whole(), (_AGENTS,)))]

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the messages of an agent, of the last one where none is named."""
        read = read_object(data, (_AGENTS,))
        names = _names(read)
        if wanted is not None and wanted not in names:
            raise no_session(self.location, wanted)
        chosen = wanted or names[-1]
        pieces: list[Piece] = [Beside(key, place) for key, place in read.places.items()]
        start: dict[str, Any] = {}
        agents = (each for each in read.pieces(_AGENTS) if isinstance(each, Element))
        for name, agent in zip(names, agents, strict=False):
            if name == chosen:
                pieces += _messages(data, agent)
                start = _start(agent.value, as_list(read.members.get("blocks")))
            else:
                pieces.append(Beside(name, agent.place))
        lost = (each for each in read.pieces(_AGENTS) if isinstance(each, Lost))
        pieces += (*lost, *read.lost)
        return Transcript(
            id=chosen,
            pieces=sorted(pieces, key=_offset),
            size=len(data),
            start=start,
            title=start.get("title"),
            findings=read.findings,
        )


def _names(read: ObjectRead) -> list[str]:
    """Give the ids of all agents; without one there is still the file."""
    agents = [each.value for each in read.pieces(_AGENTS) if isinstance(each, Element)]
    found: dict[str, None] = {}
    for place, each in enumerate(agents):
        name = text_or_none(each.get("id"))
        found[name if name and name not in found else f"agent {place + 1}"] = None
    return list(found) or [_AGENTS]


def _start(agent: Mapping[str, Any], blocks: Iterable[Any]) -> dict[str, Any]:
    """Give what is known of an agent: its model, and what its memory holds."""
    config = as_map(agent.get("llm_config"))
    own = set(map(str, as_list(agent.get("block_ids"))))
    held = [each for each in map(as_map, blocks) if str(each.get("id")) in own]
    return {
        "title": text_or_none(agent.get("name")),
        "model": text_or_none(config.get("model")),
        "provider": text_or_none(config.get("model_endpoint_type")),
        "blocks": {str(each.get("label", each.get("id"))): each.get("value") for each in held},
    }


def _messages(data: bytes, agent: Element) -> Iterator[Piece]:
    """Give what stands in an agent: its messages, and all else that is said of it."""
    begin, length = agent.place.offset, agent.place.length
    inner = read_object(data[begin : begin + length], (_MESSAGES,))
    for key, place in inner.places.items():
        yield Beside(key, _within(agent.place, place))
    known = set(map(str, as_list(agent.value.get("in_context_message_ids"))))
    read = [_message(_moved(agent.place, each)) for each in inner.pieces(_MESSAGES)]
    yield from with_entries(read, _told([e for e in read if isinstance(e, Entry)], known))
    for each in inner.lost:
        yield msgspec.structs.replace(each, place=_within(agent.place, each.place))


def _within(outer: Place, place: Place) -> Place:
    return msgspec.structs.replace(
        place, line=outer.line + place.line - 1, offset=outer.offset + place.offset
    )


def _moved(outer: Place, piece: Element | Lost) -> Element | Lost:
    return msgspec.structs.replace(piece, place=_within(outer, piece.place))


def _message(piece: Element | Lost) -> Entry | Lost:
    if isinstance(piece, Lost):
        return piece
    record = piece.value
    told = tuple(findings_on(piece))
    if not is_message(record):
        entry = other_entry(record, piece.place, name=piece.place.name)
        return msgspec.structs.replace(entry, findings=told)
    message = {**record, "content": [_block(each) for each in as_list(record.get("content"))]}
    model = text_or_none(record.get("model"))
    return Entry(
        head=head_of(message)[0],
        body=record,
        told=Told((message,), puts={"model": model} if model else {}),
        own_id=record.get("id"),
        name=piece.place.name,
        time=time_in(record),
        place=piece.place,
        findings=told,
    )


def _block(content: Any) -> Any:
    """Give a content as a block that everybody knows."""
    own = as_map(content)
    match own.get("type"):
        case "reasoning":
            return {"type": "thinking", "thinking": own.get("reasoning")}
        case "redacted_reasoning" | "omitted_reasoning":
            return {"type": "redacted_thinking"}
        case _:
            return content


def _told(entries: Sequence[Entry], known: set[str]) -> Iterator[Entry]:
    """Let what is no longer in the context give way to the first message behind it that is."""
    kept: list[Any] = []
    was_known = True
    for entry in entries:
        is_known = not known or str(entry.own_id) in known
        if is_known and not was_known and entry.told.messages:
            told = msgspec.structs.replace(
                entry.told,
                messages=(*kept, *entry.told.messages),
                clears=True,
                added=entry.told.messages,
            )
            yield msgspec.structs.replace(entry, told=told)
        else:
            yield entry
        if is_known:
            kept += entry.told.messages
        was_known = is_known


def _offset(piece: Piece) -> int:
    place = None if not isinstance(piece, (Entry, Beside, Lost)) else piece.place
    return place.offset if place else 0


STORE = Letta
