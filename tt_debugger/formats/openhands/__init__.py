"""OpenHands: the folder of a conversation, with one event in each file.

The agent's kit writes `base_state.json` and `events/event-<number>-<id>.json`; in its newest
version events name their parents, so that a conversation is a tree, and the state names its head.
The old server wrote `events/<number>.json`, in which an observation names the action that is its
cause. The location is the folder; the folder of events and each file lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.formats.openhands.events import Events
from tt_debugger.formats.shared.transcript import Piece, Transcript
from tt_debugger.formats.shared.transcript_files import FileRead, TranscriptFolder, no_entry
from tt_debugger.formats.shared.transcript_json import object_in
from tt_debugger.store import Inside, Match, Probe

_STATE = "base_state.json"
_METADATA = "metadata.json"
_EVENTS = "events"
_EVENT = re.compile(r"event-(\d+)-.+\.json\Z")
_OLD_EVENT = re.compile(r"(\d+)\.json\Z")
_SCORE = 90


class OpenHands(TranscriptFolder):
    """The folder of one conversation."""

    format: ClassVar[str] = "openhands"
    about: ClassVar[str] = "conversations of OpenHands (folders with one event in each file)"
    verified: ClassVar[str] = "its published source; no agent was run"
    most_deep: ClassVar[int] = 1

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a folder by the names in it, and old events by what they say."""
        if probe.inside is None:
            is_event = _EVENT.match(probe.name) or probe.name == _STATE
            return Match(_SCORE, f"a file that is called {probe.name}") if is_event else None
        names = [each.name for each in probe.inside]
        if _STATE in names or any(map(_EVENT.match, names)):
            return Match(_SCORE, f"a folder with {_STATE} or with files for events")
        if any(
            each.name == _METADATA and _has_keys(each, "conversation_id") for each in probe.inside
        ):
            return Match(80, f"a folder with the {_METADATA} of a conversation")
        seen = [each for each in probe.inside if _OLD_EVENT.match(each.name)]
        is_old = any(
            _has_keys(each, "source", "action") or _has_keys(each, "source", "observation")
            for each in seen
        )
        return Match(80, "a folder with numbered actions and observations") if is_old else None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folders of conversations, of the command line and of the old server."""
        bases = [home / ".openhands", home / ".openhands-state"]
        bases += [Path(environ["FILE_STORE_PATH"])] if environ.get("FILE_STORE_PATH") else []
        return tuple(base / name for base in bases for name in ("conversations", "sessions"))

    @classmethod
    def folder_of(cls, location: str) -> str:
        """Give the folder of the conversation, which holds that of its events."""
        folder = Path(super().folder_of(location))
        return str(folder.parent if folder.name == _EVENTS else folder)

    def is_part(self, name: str) -> bool:
        """Tell the files of a conversation from what others may keep beside them."""
        return name in {_STATE, _METADATA} or name.startswith(f"{_EVENTS}/")

    def parse(self, name: str, data: bytes) -> dict[str, Any]:
        """Give the object that a file is."""
        return object_in(data)

    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the events in their order, and what the state says of them."""
        state = as_map(files[_STATE].value) if _STATE in files else {}
        metadata = as_map(files[_METADATA].value) if _METADATA in files else {}
        reading = Events()
        pieces: list[Piece] = []
        events = {name: each for name, each in files.items() if name.startswith(f"{_EVENTS}/")}
        pieces += (no_entry(each) for name, each in files.items() if name not in events)
        for name in sorted(events, key=_number):
            file = events[name]
            pieces.append(reading.taken(file) if isinstance(file.value, dict) else no_entry(file))
        workspace = as_map(state.get("workspace"))
        cwd = text_or_none(workspace.get("working_dir"))
        title = text_or_none(metadata.get("title"))
        llm = as_map(as_map(state.get("agent")).get("llm"))
        start = {
            "model": text_or_none(llm.get("model")) or text_or_none(metadata.get("llm_model")),
            "title": title,
            "cwd": cwd,
        }
        leaf = state.get("leaf_event_id")
        own = text_or_none(state.get("id")) or text_or_none(metadata.get("conversation_id"))
        return Transcript(
            id=own or PurePath(self.location).name,
            pieces=pieces,
            start=start,
            title=title,
            cwd=cwd,
            active=reading.places.get(leaf) if isinstance(leaf, str) else None,
        )


def _has_keys(file: Inside, *keys: str) -> bool:
    head = file.head or b""
    return all(f'"{key}"'.encode() in head for key in keys)


def _number(name: str) -> tuple[int, str]:
    match = _EVENT.search(name) or _OLD_EVENT.search(name)
    return (int(match[1]) if match else -1), name


STORE = OpenHands
