"""Microsoft Agent Framework: a folder with a JSON file for each checkpoint of a workflow.

A checkpoint names the one before it, so that a folder is a tree. What JSON has no form for is
pickled inside of it: that stays closed, and is told by its size and digest. The location is the
folder; each file in it leads to it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, ClassVar, cast

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.formats.shared.transcript import Entry, Piece, Transcript
from tt_debugger.formats.shared.transcript_files import (
    FileRead,
    TranscriptFolder,
    no_entry,
    of_file,
)
from tt_debugger.formats.shared.transcript_json import keys_seen, one_record
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.store import Inside, Match, Probe

_KEYS = ("checkpoint_id", "previous_checkpoint_id", "graph_signature_hash")
_PICKLED = "__pickled__"
_MOST_STEPS = 1 << 31


class _Parsed(msgspec.Struct, frozen=True):
    """The object that a file is, and what was forgiven in it."""

    state: dict[str, Any]
    told: tuple[Finding, ...] = ()


_NOTHING = _Parsed({})


class AgentFramework(TranscriptFolder):
    """The folder of checkpoints."""

    format: ClassVar[str] = "agent_framework"
    about: ClassVar[str] = "checkpoints of Microsoft Agent Framework (folders of JSON files)"
    verified: ClassVar[str] = "checkpoints that its file storage wrote"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a file by its keys, and a folder by those of the files that are seen in it."""
        if probe.inside is None:
            is_one = set(_KEYS) <= set(keys_seen(probe))
            return Match(95, f"a checkpoint with {_KEYS[1]} and {_KEYS[2]}") if is_one else None
        seen = [each for each in probe.inside if each.head and each.name.endswith(".json")]
        found = sum(map(_is_checkpoint, seen))
        if not found or 2 * found <= len(seen):
            return None
        return Match(95, f"a folder of checkpoints with {_KEYS[1]} and {_KEYS[2]}")

    def is_part(self, name: str) -> bool:
        """Tell a checkpoint by how its name ends."""
        return name.endswith(".json")

    def parse(self, name: str, data: bytes) -> _Parsed:
        """Give the object that a file is, and what was forgiven in it."""
        value, why, told = one_record(data)
        if value is None:
            raise ValueError(why)
        return _Parsed(value, told)

    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the checkpoints in the order of their times."""
        pieces: list[Piece] = []
        found: list[tuple[float, Entry]] = []
        for file in files.values():
            read = _NOTHING if file.value is None else cast("_Parsed", file.value)
            if not isinstance(read.state.get("checkpoint_id"), str):
                pieces.append(no_entry(file))
                continue
            entry = of_file(file, _entry(read.state))
            told = (*read.told, *_told_of(read.state))
            found.append((entry.time or 0, msgspec.structs.replace(entry, findings=told)))
        found.sort(key=lambda each: each[0])
        title = text_or_none(found[-1][1].body.get("workflow_name")) if found else None
        return Transcript(
            id=PurePath(self.location).name,
            pieces=[*pieces, *(entry for _, entry in found)],
            title=title,
        )

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each file has a state that is whole."""
        return WholeStates(_held)


def _is_checkpoint(file: Inside) -> bool:
    head = file.head or b""
    return all(f'"{key}"'.encode() in head for key in _KEYS)


def _entry(state: dict[str, Any]) -> Entry:
    count = state.get("iteration_count")
    is_count = isinstance(count, int) and 0 <= count < _MOST_STEPS
    asked = as_map(state.get("pending_request_info_events"))
    own = [key for key in as_map(state.get("state")) if not key.startswith("_")]
    waiting = [key for key, each in as_map(state.get("messages")).items() if as_list(each)]
    parts = [f"asks {len(asked)}"] if asked else []
    parts += [f"messages for {', '.join(waiting)}"] if waiting else []
    parts += [f"state {', '.join(own)}"] if own else []
    return Entry(
        head=Head(
            Kind.INTERRUPT if asked else Kind.SUPER_STEP,
            None,
            "request" if asked else "step",
            summary_line(" · ".join(parts) or "nothing is waiting"),
            None,
            count if is_count else None,
        ),
        body=state,
        own_id=state["checkpoint_id"],
        parent=state.get("previous_checkpoint_id"),
        time=time_in(state),
    )


def _told_of(state: dict[str, Any]) -> Iterator[Finding]:
    """Say how much of a checkpoint is not read."""
    count = sum(1 for _ in _pickles(state))
    if count:
        what = f"{count} value{'' if count == 1 else 's'} pickled in it: not read"
        yield finding(Code.OPAQUE, what, hint="size and digest are shown")


def _held(body: Body) -> dict[str, Any]:
    """Give a checkpoint with what is pickled in it told by its size and digest."""
    return as_map(_sealed(as_map(body)))


def _sealed(value: Any) -> Any:
    if isinstance(value, list):
        return [_sealed(each) for each in as_list(value)]
    if not isinstance(value, dict):
        return value
    return {
        key: opaque("pickle", _bytes(each)) if _is_pickle(key, each) else _sealed(each)
        for key, each in as_map(value).items()
    }


def _pickles(value: Any) -> Iterator[str]:
    """Give all that is pickled in a value."""
    if isinstance(value, list):
        for each in as_list(value):
            yield from _pickles(each)
    for key, each in as_map(value).items():
        if _is_pickle(key, each):
            yield each
        else:
            yield from _pickles(each)


def _is_pickle(key: str, value: Any) -> bool:
    return key == _PICKLED and isinstance(value, str)


def _bytes(text: str) -> bytes:
    data = text.encode(errors="replace")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return data


STORE = AgentFramework
