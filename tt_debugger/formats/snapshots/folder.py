"""A folder of states: each JSON file in it is one, and a damaged one is a gap that hides no other.

Links are not followed, folders in it are not looked into, and what is no file is passed by.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Extent, Head, Kind, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.tree import Linked
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.document import Element, document, findings_on
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.formats.shared.states import StateSaid, keys_of_objects, match_of, said_of
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.formats.snapshots.reading import SnapshotReading
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.folders import SUFFIXES, FileFound, PassedBy, Why, files_under
from tt_debugger.storage.lines import LONGEST
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

MOST_FILES = 10_000
"""Names in a folder that are looked at."""

_DIGITS = re.compile(r"([0-9]+)")
_SAID = {
    Why.LINK: "it is a link, and links are not followed",
    Why.OTHER: "it is no regular file",
    Why.UNREADABLE: "it cannot be read",
}


class _File(msgspec.Struct, frozen=True):
    """The file of a row, as it was read."""

    name: str
    digest: bytes | None = None
    """Of what was in it; None where that is no state."""


class _State(msgspec.Struct, frozen=True):
    """A file that holds a state, as it was read; `said` is None where it is damaged."""

    file: _File
    size: int
    said: StateSaid | None
    why: str = ""
    told: tuple[tuple[Code, str], ...] = ()
    """What else is wrong with it."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.name


class _Position(msgspec.Struct, frozen=True):
    """A cursor of a folder: how its files looked, and what was read of them."""

    seen: tuple[FileFound | PassedBy, ...]
    session: Session


class SnapshotFolder:
    """The states in one folder."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._found = self._look()
        self._states: dict[FileFound, _State] = {}
        """The sound states that were read, by how their files looked then."""
        if not _json_files(self._found):
            raise CannotReadError(f"cannot read {location}: there is no JSON file in it")

    @staticmethod
    def sniff(probe: Probe) -> Match | None:
        """Tell such a folder by the keys of its first files, of which none may be JSONL."""
        inside = probe.inside or ()
        if any(not each.name.lower().endswith(".json") for each in inside):
            return None
        heads = [each.head for each in inside if each.head and each.head.strip(b"\0 \t\r\n")]
        keys = [found[0] if found else [] for found in map(_keys_of_first, heads)]
        matches = [match for match in map(match_of, keys) if match is not None]
        if not matches or 2 * len(matches) <= len(heads):
            return None
        best = max(matches, key=lambda match: match.score)
        count = f"{len(inside)} JSON file{'' if len(inside) == 1 else 's'}"
        return Match(best.score, f"{count}: {best.reason}")

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, the one that was written to last at the end."""
        self._found = self._look()
        reading = self._read(self._read_files(unheard), None)
        return tuple(reading.names) or (reading.session_id,)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return WholeStates(as_map)

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the states of a session."""
        self._found = found = self._look()
        states = self._read_files(progress)
        size = sum(each.size for each in states)
        made = self._read(states, session).finished(size)
        progress(size, size)
        return Loaded(made, Cursor(_Position(found, made)))

    def follow(self, since: Cursor) -> Loaded:
        """Read the folder again if anything in it looks otherwise."""
        position: _Position = since.position
        try:
            is_old = self._look() == position.seen
        except CannotReadError:
            is_old = True
        if is_old:
            return Loaded(position.session, since)
        loaded = self.load(position.session.id)
        if loaded.session.active is None:
            return self.load(self.sessions()[-1])
        return loaded

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode some states; a damaged file has the body None."""
        is_gap = session.heads.is_gap
        return [None if is_gap(row) else self._body(session, row) for row in rows]

    def _body(self, session: Session, row: int) -> dict[str, Any]:
        wanted: _File = session.own[row]
        data = self._bytes(session, row)
        if _digest(data) == wanted.digest:
            first = records(data.removeprefix(BYTE_ORDER_MARK))[0]
            if isinstance(first, Record):
                return first.value
        raise _changed(wanted.name)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a file; of a long one that is a gap the first ones.

        Raises CannotReadError where it has another length than when it was read.
        """
        return self._bytes(session, row)

    def _bytes(self, session: Session, row: int) -> bytes:
        name, size = session.own[row].name, session.heads.length(row) or 0
        file = RegularFile(self._path(name))
        try:
            if file.size() != size:
                raise _changed(name)
            return file.read(0, min(size, LONGEST))
        finally:
            file.close()

    def close(self) -> None:
        """Do nothing: files are opened only while they are read."""

    def _path(self, name: str) -> str:
        return str(PurePath(self.location) / name)

    def _look(self) -> tuple[FileFound | PassedBy, ...]:
        return tuple(files_under(self.location, most_deep=0, most_names=MOST_FILES))

    def _read_files(self, progress: Progress) -> list[_State]:
        """Read all files, in the order in which they follow each other."""
        files = _json_files(self._found)
        size, done = sum(each.size for each in files), 0
        states: dict[FileFound, _State] = {}
        for each in files:
            states[each] = self._states.get(each) or _state(each.path)
            done += each.size
            progress(min(done, size), size)
        # What could not be read may be readable the next time, and look the same.
        self._states = {each: state for each, state in states.items() if state.said is not None}
        return _in_order(list(states.values()))

    def _read(self, states: Sequence[_State], wanted: SessionId | None) -> FolderReading:
        reading = FolderReading(self.location)
        reading.wanted = wanted
        reading.passed_by = list(map(_passed_by, self._found))
        for state in states:
            reading.read_state(state)
        return reading


class FolderReading(SnapshotReading):
    """The states of one session in a folder, file by file."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.files: list[_File] = []
        """The file of each row."""
        self.passed_by: list[Finding | None] = []
        self.told: list[tuple[int, Code, str]] = []
        """What is wrong with a state, by its row."""

    def read_state(self, state: _State) -> None:
        """Take the state of a file, or what is lost with it as a gap."""
        row = len(self.heads)
        place = Place(0, 1, 0, state.size)
        if state.said is None:
            said = f"{state.name}: {state.why}"
            gap = Head(Kind.GAP, summary=said, failed=True)
            self.add(gap, None, None, place, name=f"gap@{PurePath(state.name).stem}")
            self.schemas.append(None)
            self.lose(state.size)
            self.told.append((row, Code.UNREADABLE, said))
        else:
            self.take_said(state.said, place, PurePath(state.name).stem)
            self.told += [(row, code, f"{state.name}: {said}") for code, said in state.told]
        self.files += [state.file] * (len(self.heads) - row)

    def add(
        self,
        head: Head,
        own_id: object,
        parent: object,
        place: Place,
        time: float | None = None,
        name: str | None = None,
    ) -> None:
        """Add a checkpoint that is a whole file: it stands on no line of another."""
        self.heads.append(msgspec.structs.replace(head, time=time, length=place.length))
        self.links.append(own_id, parent, name or place.name)

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session, which keeps what its files were."""
        return msgspec.structs.replace(super().session(linked, extent), own=self.files)

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what is wrong with the states, and what is none."""
        told = [
            finding(code, said, checkpoint=session.ids[row])
            for row, code, said in self.told
            if row < len(session)
        ]
        passed_by = [each for each in self.passed_by if each is not None]
        return [*told, *super().findings_of(session), *passed_by]


def _json_files(found: Sequence[FileFound | PassedBy]) -> list[FileFound]:
    return [
        each
        for each in found
        if isinstance(each, FileFound) and PurePath(each.path).suffix.lower() == ".json"
    ]


def _keys_of_first(head: bytes) -> list[list[str]]:
    return keys_of_objects(head.removeprefix(BYTE_ORDER_MARK), in_list=False)


def _passed_by(each: FileFound | PassedBy) -> Finding | None:
    """Say what was not looked at, of what could have been a state."""
    if isinstance(each, FileFound):
        return None
    name = PurePath(each.path)
    if each.why is Why.TOO_MANY:
        said = f"only {MOST_FILES:,} names of the folder were looked at; there are more"
    elif name.suffix.lower() in SUFFIXES and each.why in _SAID:
        said = f"{name.name} was passed by: {_SAID[each.why]}"
    else:
        return None
    is_harmless = each.why in {Why.LINK, Why.OTHER}
    severity = Severity.NOTE if is_harmless else Severity.WARNING
    return finding(Code.UNREADABLE, said, severity=severity)


def _state(path: str) -> _State:
    """Read a file as one state."""
    name, size = PurePath(path).name, 0
    try:
        file = RegularFile(path)
        try:
            size = file.size()
            whole = document(file)
        finally:
            file.close()
    except CannotReadError as error:
        return _damaged(name, size, error.message.removeprefix(f"cannot read {path}: "))
    if whole.is_array:
        return _damaged(name, whole.size, "it holds a list, not one state")
    pieces = list(whole.pieces())
    if not pieces:
        return _damaged(name, whole.size, "it is empty")
    first = pieces[0]
    if not isinstance(first, Element):
        return _damaged(name, whole.size, first.why)
    wrong = [*whole.findings, *(each for piece in pieces for each in findings_on(piece))]
    return _State(
        _File(name, _digest(whole.data)),
        whole.size,
        said_of(first.value),
        told=tuple((each.code, each.message) for each in wrong),
    )


def _damaged(name: str, size: int, why: str) -> _State:
    return _State(_File(name), size, None, why)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _changed(name: str) -> CannotReadError:
    return CannotReadError(f"{name} changed since it was read", "open the folder again")


def _in_order(states: Sequence[_State]) -> list[_State]:
    """Order states by their own time if all have one, else by name; a gap by its name."""
    by_name = sorted(states, key=_natural)
    sound = [each for each in by_name if each.said is not None]
    times = {
        each.name: each.said.time for each in sound if each.said and each.said.time is not None
    }
    if len(times) < len(sound):
        return by_name
    behind: dict[str, list[_State]] = {}
    before = ""
    for each in by_name:
        if each.said is None:
            behind.setdefault(before, []).append(each)
        else:
            before = each.name
    ordered = list(behind.get("", ()))
    for each in sorted(sound, key=lambda state: times[state.name]):
        ordered += [each, *behind.get(each.name, ())]
    return ordered


def _natural(state: _State) -> tuple[list[str | int], str]:
    """Give what sorts numbers in names by their value: 2 before 10."""
    parts = _DIGITS.split(state.name.lower())
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], state.name
