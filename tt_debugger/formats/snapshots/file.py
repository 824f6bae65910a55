"""A file of states: one JSON state, a list of them, or one on each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Rules
from tt_debugger.formats.shared.document import document
from tt_debugger.formats.shared.document_file import DocumentFile
from tt_debugger.formats.shared.jsonl import first_records, may_be_named
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Reading
from tt_debugger.formats.shared.spread import is_spread
from tt_debugger.formats.shared.states import keys_of_objects, match_of, own_id_of, session_of
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.formats.snapshots.reading import FORMAT, SnapshotReading
from tt_debugger.storage.files import HEAD
from tt_debugger.storage.index_cache import look_at
from tt_debugger.storage.lines import Block, blocks, lines
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

SURE = 70
"""The score of a claim that needs no name of a file to support it."""


class _Named(msgspec.Struct):
    """What a state says of its session, and no more."""

    session_id: Any = None
    sessionId: Any = None  # noqa: N815 - a key of the state
    thread_id: Any = None
    threadId: Any = None  # noqa: N815 - a key of the state


_decode_named = msgspec.json.Decoder(_Named).decode


class SnapshotFile(DocumentFile):
    """The states in one file."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = ""
    reading: ClassVar[type[Reading]] = SnapshotReading

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._wanted: SessionId | None = None
        self._known: tuple[object, tuple[SessionId, ...]] | None = None

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by the keys of its states."""
        head = probe.head.removeprefix(BYTE_ORDER_MARK)
        if is_document(head, probe.name):
            return _match_of_document(head)
        found = first_records(probe)
        matches = [match for match in map(match_of, found) if match and match.score >= SURE]
        return matches[0] if 2 * len(matches) > len(found) else None

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, the one that was written to last at the end."""
        seen = look_at(self._file)
        key = seen.stamp, self._fingerprint(seen.size)
        if self._known is None or self._known[0] != key:
            self._known = key, self._named_quickly() or self._named()
        return self._known[1]

    def _named_quickly(self) -> tuple[SessionId, ...]:
        """Give the sessions of whole lines that are nothing but objects; else none."""
        if self.is_document():
            return ()
        current = SnapshotReading(self.location).session_id
        names: dict[SessionId, None] = {}
        for part in blocks(self._file):
            try:
                texts = part.lines if isinstance(part, Block) else [part.data]
                for state in map(_decode_named, filter(bytes.strip, texts)):
                    current = SessionId(session_of(msgspec.structs.asdict(state)) or current)
                    names.pop(current, None)
                    names[current] = None
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                return ()
        return tuple(names)

    def _named(self) -> tuple[SessionId, ...]:
        reading = SnapshotReading(self.location)
        if self.is_document():
            reading.read_document(document(self._file))
        else:
            for line in lines(self._file):
                if line.is_whole:
                    reading.read(line)
                else:
                    reading.read_tail(line)
        return tuple(reading.names) or (reading.session_id,)

    def form(self) -> tuple[str, bytes | None]:
        """Tell whether the file is `one` state, a `list` of them, or has them on `lines`.

        Of a list also the white space before its first state is given.
        """
        if not self.is_document():
            return "lines", None
        head = self._file.read(0, HEAD).removeprefix(BYTE_ORDER_MARK).lstrip()
        if head[:1] != b"[":
            return "one", None
        return "list", head[1 : len(head) - len(head[1:].lstrip())]

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return WholeStates(as_map)

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the states of a session."""
        self._wanted = session
        return super().load(session, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read on; where no state of the session is left, the newest session there is now."""
        seen: Session = since.position.session
        self._wanted = seen.id
        loaded = super().follow(since)
        if loaded.session is seen or loaded.session.active is not None:
            return loaded
        newest = self.sessions()[-1]
        return loaded if newest == loaded.session.id else self.load(newest)

    def _is_of(self, session: Session, row: int, record: dict[str, Any]) -> bool:
        name, own = session.ids[row], own_id_of(record)
        # An id that all states have is that of something else, and names none of them.
        return may_be_named(name, own) or may_be_named(name, None)

    def _new_reading(self) -> SnapshotReading:
        reading = SnapshotReading(self.location)
        reading.wanted = self._wanted
        return reading

    def _begins_document(self, head: bytes) -> bool:
        return is_document(head.removeprefix(BYTE_ORDER_MARK), PurePath(self.location).name)


def is_document(head: bytes, name: str) -> bool:
    """Tell whether a file that begins so is one JSON value: else it has one on each line."""
    if is_spread(head):
        return True
    line = head.strip()
    if b"\n" in line:
        return False
    is_list = line[:1] == b"[" and line[1:].lstrip()[:1] == b"{"
    return is_list or (line[:1] in (b"{", b"\0") and is_json_file(name))


def is_json_file(name: str) -> bool:
    """Tell whether a file is by its name one JSON value."""
    return PurePath(name).suffix.lower() == ".json"


def _match_of_document(head: bytes) -> Match | None:
    is_list = head.lstrip()[:1] == b"["
    found = keys_of_objects(head, in_list=is_list)
    if not found:
        is_lost = bool(head) and not head.strip(b"\0")
        return Match(1, "NUL bytes where a JSON document was") if is_lost else None
    matches = [match for match in map(match_of, found) if match is not None]
    if 2 * len(matches) > len(found):
        return max(matches, key=lambda match: match.score)
    return Match(6, "a JSON list of objects") if is_list else Match(8, "a JSON object")
