"""Recordings in files, as `tt_debugger.Recorder` writes them: documents with a whole state each.

They stand in a folder that is called after the file which an outsider reads: `state.json.history`
beside `state.json`. That file means the folder, and where there is none, the one document in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.text import counted
from tt_debugger.formats.shared.recording.entries import (
    RecordedEntries,
    entries_of,
    entry_in,
    header_in,
    transcript_of,
)
from tt_debugger.formats.shared.states import keys_of_objects
from tt_debugger.formats.shared.tables.documents import Document, document_of
from tt_debugger.formats.shared.transcript import Beside, Entry, Piece, Transcript, with_entries
from tt_debugger.formats.shared.transcript_files import (
    FileRead,
    TranscriptFolder,
    no_entry,
    of_file,
    whole_file,
)
from tt_debugger.formats.shared.transcript_json import object_in
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.store import Match, Probe

_HISTORY = ".history"
_KEYS = frozenset(("schema_version", "session_id", "checkpoint_id", "parent_id", "entry"))
"""Keys that no other program's states have together."""
_HEADER = "000000.json"
_NUMBERED = re.compile(r"([0-9]{6,15})-")


class _Document(msgspec.Struct, frozen=True):
    """What is kept of a document: the entry, and how many were to follow it at once."""

    entry: msgspec.Raw
    session_id: str = ""
    more: int = 0


class _WithState(msgspec.Struct):
    """The state of a document, and no more of it."""

    state: msgspec.Raw


_decode = msgspec.json.Decoder(_Document).decode
_decode_state = msgspec.json.Decoder(_WithState).decode


class RecordingSnapshots(RecordedEntries, TranscriptFolder):
    """The history of one recording, or one document of it alone."""

    format: ClassVar[str] = "recording_snapshots"
    about: ClassVar[str] = "recordings of ttdbg's own Recorder (JSON files, a whole state each)"
    verified: ClassVar[str] = "its own recorder: the state that it goes on from"

    def __init__(self, location: str) -> None:
        folder = self.folder_of(location)
        is_alone = folder == str(Path(location).parent)
        self._only = PurePath(location).name if is_alone else None
        super().__init__(location)

    @classmethod
    def folder_of(cls, location: str) -> str:
        """Give the history that a location means; of a document without one its folder."""
        beside = f"{location}{_HISTORY}"
        is_file = not Path(location).is_dir()
        return beside if is_file and Path(beside).is_dir() else super().folder_of(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell documents by the keys that they begin with."""
        heads = [probe.head] if probe.inside is None else [each.head for each in probe.inside]
        for head in heads:
            keys = keys_of_objects(head or b"", in_list=False)
            if keys and set(keys[0]) >= _KEYS:
                return Match(97, "a document of a recorder")
        return None

    def is_part(self, name: str) -> bool:
        """Tell by its name whether a file is a document of the history."""
        return name == self._only if self._only else PurePath(name).suffix == ".json"

    def parse(self, name: str, data: bytes) -> Any:
        """Give the header or the document that a file holds, without its state.

        Raises ValueError.
        """
        if name == _HEADER:
            return data
        try:
            return _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            held = object_in(data)
        if not isinstance(held.get("entry"), dict):
            raise ValueError("it holds no entry") from None  # noqa: TRY004 - as the caller says it
        return _Document(msgspec.Raw(msgspec.json.encode(held["entry"])))

    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the session: the documents in the order of their names."""
        documents = [each for each in files.values() if isinstance(each.value, _Document)]
        # One that stands alone has its history elsewhere, with what was to follow it.
        last = () if self._only else takewhile(_is_unfinished, reversed(documents))
        left = {each.name for each in last}
        pieces: list[Piece] = []
        for file in files.values():
            if not isinstance(file.value, _Document):
                pieces.append(no_entry(file))
            elif file.name in left:
                pieces.append(Beside(file.name, whole_file(file)))
            else:
                pieces.append(of_file(file, self._entry(file)))
        header, told = self._header(files)
        named = header.get("session_id") or (documents[-1].value.session_id if documents else "")
        if left:
            told.append(_unfinished(left))
        entries = [each for each in pieces if isinstance(each, Entry)]
        made = transcript_of(str(named) or self._name_of_folder(), entries, header, told)
        whole = with_entries(pieces, (each for each in made.pieces if isinstance(each, Entry)))
        return msgspec.structs.replace(made, pieces=whole)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each entry says what it does, but for one that stands alone."""
        if self._only:
            return WholeStates(lambda body: as_map(as_map(body).get("state")))
        return super().rules(session, uncompacted=uncompacted)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the entries of some rows, a snapshot or one that stands alone with its state."""
        bodies = super().bodies(session, rows)
        if self._only:
            states = (self.state(session, row).value for row in rows)
            pairs = zip(bodies, states, strict=True)
            return [{**as_map(body), "state": state} for body, state in pairs]
        return bodies

    def state(self, session: Session, row: int) -> Document:
        """Read the state of a document."""
        entry = entries_of(session)[row]
        name = entry.file if isinstance(entry, Entry) else ""
        data = self._bytes(name)
        try:
            state = bytes(_decode_state(data).state)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            try:
                state = msgspec.json.encode(object_in(data).get("state"))
            except ValueError as error:
                return Document({}, f"{name}: {error}")
        read = document_of(state)
        return (
            msgspec.structs.replace(read, why=f"{name}: state: {read.why}") if read.why else read
        )

    def _flaws(self, session: Session) -> Iterator[Finding]:
        # One that stands alone is shown by its state, whatever it did to get there.
        return iter(()) if self._only else super()._flaws(session)

    def _entry(self, file: FileRead) -> Entry:
        stem = PurePath(file.name).stem
        number = _NUMBERED.match(stem)
        step = None if number is None else int(number[1])
        entry = entry_in(bytes(file.value.entry), file.name, stem, step)
        return msgspec.structs.replace(entry, parent=None) if self._only else entry

    def _header(self, files: Mapping[str, FileRead]) -> tuple[Mapping[str, Any], list[Finding]]:
        file = files.get(_HEADER)
        if self._only:
            what = f"{self._only}{_HISTORY} is not there: one document alone is shown"
            return {}, [
                finding(Code.MISSING_PARENT, what, severity=Severity.NOTE, line=1, offset=0)
            ]
        if file is None or file.why:
            return {}, [finding(Code.HEADER, f"the history has no header ({_HEADER})")]
        return header_in(file.value, _HEADER)

    def _name_of_folder(self) -> str:
        return PurePath(self.location).name.removesuffix(_HISTORY)


def _is_unfinished(file: FileRead) -> bool:
    return file.value.more > 0


def _unfinished(left: Collection[str]) -> Finding:
    return finding(
        Code.TORN_TAIL,
        f"{counted(len(left), 'entry', 'entries')} at the end of what was to be more at once",
        hint="the recorder drops them when it goes on: they were never said to be written",
        severity=Severity.NOTE,
    )


STORE = RecordingSnapshots
