"""Recordings in Redis, as `tt_debugger.Recorder` writes them: a list of entries and a header each.

Items of a list keep their numbers as others are added, so a list that has grown is read on from
where it was read to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar, Self

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.recording.keys import PATTERN, Named
from tt_debugger.core.recording.naming import tenant_and_session
from tt_debugger.core.text import counted
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.recording.entries import (
    RecordedEntries,
    entries_of,
    entry_in,
    header_in,
    transcript_of,
)
from tt_debugger.formats.shared.tables.documents import Document, document_of
from tt_debugger.formats.shared.transcript import Entry, Look, Transcript, no_session
from tt_debugger.storage.keys import LIST, STRING, Keys
from tt_debugger.storage.probe import MOST_KEYS, RedisProbe
from tt_debugger.storage.servers import must_be_server
from tt_debugger.store import Match, Probe, Progress

KEYS = 60_000
"""Keys that are gone over to find sessions; each has three."""
NEWEST = 200
"""Sessions that are named."""
A_FEW = 20
_PAGE = 512
"""Items that are asked for at once."""
_OTHERS = "checkpoint:"
"""How keys begin that hold checkpoints of another kind."""


class _Seen(msgspec.Struct, frozen=True):
    """How the keys of a session looked: the header, how many entries, and the last one."""

    header: bytes | None
    length: int
    last: bytes | None


class _Read(msgspec.Struct, frozen=True):
    """What was read of a session, and how it looked then."""

    seen: _Seen
    entries: tuple[Entry, ...]


class RecordingRedis(RecordedEntries):
    """The recordings in a database; one of a tenant is named as `core.recording.naming` says."""

    format: ClassVar[str] = "recording_redis"
    about: ClassVar[str] = "recordings of ttdbg's own Recorder (Redis)"
    verified: ClassVar[str] = "its own recorder: the state that it goes on from"

    def __init__(self, location: str, keys: Keys) -> None:
        super().__init__(location)
        self._keys = keys
        self._known: dict[Named, _Read] = {}
        self._others: tuple[Finding, ...] | None = None

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by a list of entries and the header beside it."""
        if not isinstance(probe, RedisProbe):
            return None
        kinds = dict(probe.keys)
        named = {Named.by_part(key) for key, kind in probe.keys if kind == LIST}
        lists = {each for each in named if each is not None and each.turns in kinds}
        # Of very many keys not all are seen: the header need not be among them.
        is_partial = len(probe.keys) >= MOST_KEYS
        if any(kinds.get(each.header) == STRING or is_partial for each in lists):
            return Match(97, "lists of entries of a recorder, each with a header")
        return None

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location. Raises CannotReadError."""
        must_be_server(location)
        # Its driver is slow to import.
        from tt_debugger.storage.redis import RedisKeys

        keys = RedisKeys(location)
        try:
            return cls(keys.location, keys)
        except BaseException:
            keys.close()
            raise

    def look(self) -> Look:
        """Look at what has been read so far."""
        return Look(tuple((each, self._seen(each)) for each in self._known))

    def watched(self) -> Sequence[str]:
        """Give no path: it is asked again."""
        return ()

    def sessions(self) -> Sequence[SessionId]:
        """Give the names of the sessions, the one that was written to last at the end."""
        named = self._found()
        entries = self._keys.last_items([each.turns for each in named])
        headers = self._keys.strings([each.header for each in named])
        times = {
            each: max(_time_in(entry, "time"), _time_in(header, "created_at"))
            for each, entry, header in zip(named, entries, headers, strict=True)
        }
        named.sort(key=lambda each: (times[each], each.shown))
        return [SessionId(each.shown) for each in named[-NEWEST:]]

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the names that are or begin with a text, a few of them."""
        named = _named(beginning)
        is_there = named is not None and any(self._keys.kinds([named.header, named.turns]))
        found = sorted(each.shown for each in self._found())
        exact = [beginning] if is_there else []
        begun = [each for each in found if each.startswith(beginning)]
        return [SessionId(each) for each in dict.fromkeys((*exact, *begun))][:A_FEW]

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the entries of a session, those that are new where it was read before."""
        if wanted is None:
            wanted = next(reversed(self.sessions()), None)
        named = None if wanted is None else _named(wanted)
        seen = None if named is None else self._seen(named)
        if wanted is None or named is None or seen is None or not (seen.header or seen.length):
            raise no_session(self.location, wanted)
        entries = self._entries(named, seen, progress)
        header, told = header_in(seen.header, named.header)
        told += self._lost(named, seen, entries)
        told += self._beside()
        return transcript_of(wanted, entries, header, told)

    def state(self, session: Session, row: int) -> Document:
        """Read the state of a snapshot from its entry."""
        entry = entries_of(session)[row]
        named = self._session(session)
        where = f"{named.turns}/{row + 1}: "
        read = document_of(next(iter(self._keys.items(named.turns, row, row)), None))
        if read.why or not isinstance(entry, Entry) or read.value.get("id") != entry.own_id:
            return Document({}, f"{where}{read.why or 'another entry stands there now'}")
        state = read.value.get("state")
        if not isinstance(state, dict):
            return Document({}, f"{where}its state is no object")
        return Document(read.value["state"])

    def raw(self, session: Session, row: int) -> bytes:
        """Give an entry as it is stored. Raises CannotReadError where it is gone."""
        items = self._keys.items(self._session(session).turns, row, row)
        if not items:
            raise CannotReadError(f"cannot read {self.location}: the entry is no longer there")
        return items[0]

    def close(self) -> None:
        """Let go of the connection."""
        self._keys.close()

    def _session(self, session: Session) -> Named:
        named = _named(session.id)
        if named is None:
            raise no_session(self.location, session.id)
        return named

    def _found(self) -> list[Named]:
        """Give the sessions of which there are keys; note what other checkpoints there are."""
        keys = list(self._keys.keys(PATTERN, most=KEYS))
        named = [each for each in map(Named.by_part, keys) if each is not None]
        found = list(dict.fromkeys(named))
        ours = {key for each in found for key in (each.state, each.header, each.turns)}
        others = [key for key in keys if key.startswith(_OTHERS) and key not in ours]
        self._others = tuple(_told_of(len(keys), others))
        return found

    def _beside(self) -> tuple[Finding, ...]:
        if self._others is None:
            self._found()
        return self._others or ()

    def _seen(self, named: Named) -> _Seen:
        (header,) = self._keys.strings([named.header])
        (last,) = self._keys.last_items([named.turns])
        is_list = self._keys.kinds([named.turns]) == [LIST]
        length = self._keys.length(named.turns) if is_list else 0
        return _Seen(header, length, None if last is None else hashlib.sha256(last).digest())

    def _entries(self, named: Named, seen: _Seen, progress: Progress) -> tuple[Entry, ...]:
        known = self._known.get(named)
        entries = list(known.entries) if known and self._goes_on(named, known, seen) else []
        first, count = len(entries), seen.length
        for begin in range(first, count, _PAGE):
            progress(begin, count)
            items = self._keys.items(named.turns, begin, min(begin + _PAGE, count) - 1)
            for number, data in enumerate(items, begin + 1):
                entries.append(_entry(data, f"{named.turns}/{number}", number))
        self._known[named] = _Read(seen, tuple(entries))
        return tuple(entries)

    def _goes_on(self, named: Named, known: _Read, seen: _Seen) -> bool:
        """Tell whether all that was read of a list still stands at its beginning."""
        count = len(known.entries)
        if known.seen.header != seen.header or not count or known.seen.length != count:
            return False
        items = self._keys.items(named.turns, count - 1, count - 1)
        return [hashlib.sha256(each).digest() for each in items] == [known.seen.last]

    def _lost(self, named: Named, seen: _Seen, entries: Sequence[Entry]) -> list[Finding]:
        told: list[Finding] = []
        if len(entries) < seen.length:
            what = f"{counted(seen.length - len(entries), 'entry', 'entries')} of {named.turns}"
            why = "too large a list" if named.turns in self._keys.too_long else "gone meanwhile"
            told.append(finding(Code.UNREADABLE, f"{what} cannot be read: {why}"))
        if any(each is not None for each in self._keys.expiries([named.header, named.turns])):
            what = "the server forgets this session some time after its last entry"
            told.append(finding(Code.EXPIRES, what, hint="PERSIST keeps a key"))
        return told


def _entry(data: bytes, where: str, number: int) -> Entry:
    """Give the entry of an item; what it holds of a whole state is not kept."""
    entry = entry_in(data, where, str(number), number)
    if entry.body.get("type") != "snapshot":
        return entry
    body = {key: value for key, value in entry.body.items() if key != "state"}
    return msgspec.structs.replace(entry, body=body)


def _named(name: str) -> Named | None:
    """Give the session of a name; None for what names none."""
    try:
        return Named(*tenant_and_session(name))
    except UnicodeError:
        return None


def _time_in(data: bytes | None, key: str) -> str:
    """Give the time that stands in some JSON, an empty text where there is none."""
    value = document_of(data).value.get(key)
    return value if isinstance(value, str) else ""


def _told_of(count: int, others: Sequence[str]) -> list[Finding]:
    """Say which keys of checkpoints are shown nowhere."""
    told: list[Finding] = []
    if others:
        is_one = len(others) == 1
        what = f"{counted(len(others), 'key')} that begin{'s' if is_one else ''} with {_OTHERS}"
        told.append(
            finding(
                Code.UNKNOWN_RECORD,
                f"{what} {'is' if is_one else 'are'} no part of a recording, and not shown here",
                severity=Severity.NOTE,
                hint="a map that says how they begin shows these: --map FILE",
            )
        )
    if count >= KEYS:
        what = f"the server has more keys than the {KEYS:,} that were looked at"
        hint = "a session can be named: the address, then #SESSION:"
        told.append(finding(Code.LOST_RECORD, what, hint=hint, severity=Severity.WARNING))
    return told


STORE = RecordingRedis
