"""The storage folder of opencode before its database: a small JSON file for each record.

`session/PROJECT/SESSION.json`, `message/SESSION/MESSAGE.json` and `part/MESSAGE/PART.json`. The
location is the folder, with all its sessions, or the file of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import time_ns
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.refs import quoted
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.opencode.conversation import (
    Child,
    Message,
    created_of,
    transcript_of,
)
from tt_debugger.formats.shared.transcript import (
    Look,
    LostFile,
    Transcript,
    TranscriptStore,
    no_session,
)
from tt_debugger.formats.shared.transcript_json import keys_seen, one_record
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.folders import FileFound, files_under
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.probe import has_folders
from tt_debugger.storage.settling import has_settled
from tt_debugger.store import Match, Probe, Progress

_SESSION_KEYS = frozenset(("id", "projectID", "directory", "time"))


class _Read(msgspec.Struct, frozen=True):
    """What a file says, or why it says nothing."""

    value: dict[str, Any] | None
    size: int = 0
    why: str = ""
    findings: tuple[Finding, ...] = ()


class OpencodeFiles(TranscriptStore):
    """The sessions in a storage folder of opencode."""

    format: ClassVar[str] = "opencode"
    about: ClassVar[str] = "sessions of opencode (a folder of JSON files)"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        path = Path(location)
        self._only = None if path.is_dir() else path
        self._storage = path if self._only is None else path.parent.parent.parent
        self._known: dict[FileFound, _Read] = {}
        if self._only is not None:
            RegularFile(location).close()

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell the folder by the folders in it, and the file of a session by its keys."""
        if has_folders(probe, "session", "message"):
            return Match(90, "a folder with sessions and messages of opencode")
        if probe.inside is not None or probe.head.lstrip()[:1] != b"{":
            return None
        keys = set(keys_seen(probe))
        if not keys >= _SESSION_KEYS or "messages" in keys:
            return None
        return Match(92, "a session of opencode: its project, folder and times")

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, the one that was written to last at the end."""
        found = [(each, self._record(each)) for each in self._session_files()]
        newest = sorted(found, key=lambda each: (_updated(each[1].value), each[0].path))
        return [SessionId(Path(each.path).stem) for each, _ in newest]

    def look(self) -> Look:
        """See the files of all sessions, messages and parts, and how they look."""
        session = self._session_files()
        rest = [each for kind in ("message", "part") for each in self._files(kind)]
        changed = (time for each in (*session, *rest) for time in each.stamp[-2:])
        return Look((*session, *rest), has_settled(time_ns(), *changed))

    def watched(self) -> Sequence[str]:
        """Give the storage folder: what is said stands in other files than the session."""
        return (str(self._storage),)

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the files of a session."""
        name = wanted or next(iter(self.sessions()[::-1]), None)
        every = {Path(each.path).stem: each for each in self._session_files()}
        if name is None or name not in every:
            raise no_session(self.location, name)
        own = self._record(every[name])
        # Ids grow with time, and files come in the order of their names.
        messages = [each for file in self._files("message", name) for each in self._message(file)]
        session = {**(own.value or {}), "id": name}
        made = transcript_of(session, messages, list(self._children(name)))
        lost = LostFile(f"session/{name}", own.size, own.why)
        pieces = made.pieces if own.value is not None else (lost, *made.pieces)
        size = sum(each.size for each in self._counted(every[name], name))
        return msgspec.structs.replace(made, pieces=pieces, size=size)

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of a session that this one started."""
        found = [each for each in self._siblings() if Path(each.path).stem == name]
        if not found:
            return None
        return found[0].path if self._only else f"{self.location}#{quoted(name)}:"

    def _session_files(self) -> list[FileFound]:
        """Give the files of the sessions that are asked for."""
        if self._only is None:
            return self._files("session")
        return [each for each in files_under(str(self._only)) if isinstance(each, FileFound)]

    def _counted(self, session: FileFound, name: str) -> Iterator[FileFound]:
        """Give the files that are accounted for: all of the folder, or those of one session."""
        if self._only is None:
            found = files_under(str(self._storage), most_deep=2)
            yield from (each for each in found if isinstance(each, FileFound))
            return
        yield session
        for message in self._files("message", name):
            yield message
            yield from self._files("part", Path(message.path).stem)

    def _siblings(self) -> list[FileFound]:
        return self._files("session")

    def _files(self, *names: str) -> list[FileFound]:
        folder = self._storage.joinpath(*names)
        if not folder.is_dir():
            return []
        found = files_under(str(folder), most_deep=1)
        return [
            each for each in found if isinstance(each, FileFound) and each.path.endswith(".json")
        ]

    def _children(self, name: str) -> Iterator[Child]:
        for each in self._siblings():
            record = self._record(each).value or {}
            if record.get("parentID") == name:
                yield Child(Path(each.path).stem, created_of(record))

    def _message(self, file: FileFound) -> Iterator[Message | LostFile]:
        name, read = Path(file.path).stem, self._record(file)
        if read.value is None:
            yield LostFile(f"message/{name}", read.size, read.why)
            return
        parts: list[dict[str, Any]] = []
        told = read.findings
        for part in self._files("part", name):
            said = self._record(part)
            if said.value is None:
                yield LostFile(f"part/{Path(part.path).stem}", said.size, said.why)
            else:
                parts.append(said.value)
                told += said.findings
        yield Message(text_or_none(read.value.get("id")) or name, read.value, parts, told)

    def _record(self, found: FileFound) -> _Read:
        """Give what a file says; it is read once for as long as it stays as it is."""
        known = self._known.get(found)
        if known is not None:
            return known
        try:
            file = RegularFile(found.path)
            try:
                data = file.read(0, LONGEST)
            finally:
                file.close()
        except CannotReadError as error:
            return _Read(None, found.size, error.message)
        value, why, told = one_record(data)
        read = _Read(value, len(data), why, told)
        if has_settled(time_ns(), *found.stamp[-2:]):
            self._known[found] = read
        return read


def _updated(record: Mapping[str, Any] | None) -> float:
    updated = as_map((record or {}).get("time")).get("updated")
    return float(updated) if isinstance(updated, (int, float)) else 0.0
