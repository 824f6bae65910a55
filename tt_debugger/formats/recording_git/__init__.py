"""Recordings in git, as `tt_debugger.Recorder` writes them: a commit an entry, below refs/agents/.

`git:PATH` means those of a repository; PATH alone means its commits, these among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.model import Session, SessionId
from tt_debugger.formats.recording_git.commits import (
    ENTRY,
    HEADER,
    STATE,
    Turn,
    recordings_in,
    session_of,
)
from tt_debugger.formats.shared.recording.entries import (
    RecordedEntries,
    entries_of,
    entry_in,
    header_in,
    transcript_of,
)
from tt_debugger.formats.shared.tables.documents import Document, document_of
from tt_debugger.formats.shared.transcript import Entry, Look, Transcript, no_session
from tt_debugger.storage.probe import SCHEME, RefsProbe
from tt_debugger.storage.repository import Refs, must_be_repository, refs_of
from tt_debugger.store import Match, Probe, Progress

if TYPE_CHECKING:
    from tt_debugger.formats.recording_git.turns import Turns

_AT_ONCE = 64
"""Commits whose entries are read at once."""
_GONE = "its commit is missing, damaged or too large"


class RecordingGit(RecordedEntries):
    """The recordings of a repository."""

    format: ClassVar[str] = "recording_git"
    about: ClassVar[str] = "recordings of ttdbg's own Recorder (commits of a git repository)"
    verified: ClassVar[str] = "its own recorder: the state that it goes on from"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._repository = must_be_repository(location.removeprefix(SCHEME))
        self._opened: Turns | None = None
        self._known: dict[str, Entry] = {}
        """The entries that were read, by their commits: none of these ever changes."""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell recordings by the names of their refs."""
        if isinstance(probe, RefsProbe) and recordings_in(probe.refs):
            return Match(97, "refs below refs/agents/")
        return None

    def look(self) -> Look:
        """See where the refs lead."""
        refs = self._refs()
        return Look(tuple((name, refs.names[name]) for name in recordings_in(refs.names)))

    def watched(self) -> Sequence[str]:
        """Give what is written when a ref leads elsewhere."""
        return self._repository.watched

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        refs = self._refs()
        return [SessionId(session_of(each)) for each in self._by_time(refs)]

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the entries of a session that are not known yet."""
        refs = self._refs()
        names = {session_of(each): each for each in self._by_time(refs)}
        name = wanted or next(reversed(names), None)
        if name not in names:
            raise no_session(self.location, name)
        reading = self._reading()
        begin, *turns = reading.newest_first(names[name], refs)[::-1]
        new = [each for each in turns if each.commit not in self._known]
        for place in range(0, len(new), _AT_ONCE):
            some = new[place : place + _AT_ONCE]
            files = reading.found([each.commit for each in some], ENTRY)
            self._known |= {
                turn.commit: _entry(turn, data) for turn, data in zip(some, files, strict=True)
            }
            progress(place, len(new))
        (data,) = reading.found([(turns or [begin])[-1].commit], HEADER)
        header, told = header_in(data, HEADER)
        return transcript_of(name, [self._known[each.commit] for each in turns], header, told)

    def state(self, session: Session, row: int) -> Document:
        """Read the state of a commit."""
        (data,) = self._files(session, row, STATE)
        read = Document({}, _GONE) if data is None else document_of(data)
        if not read.why:
            return read
        return Document({}, f"{STATE} of {session.ids[row]}: {read.why}")

    def raw(self, session: Session, row: int) -> bytes:
        """Give the file of an entry, and behind it that of a state which belongs to it."""
        files = [each for name in (ENTRY, STATE) for each in self._files(session, row, name)]
        is_whole = self._entry_of(session, row).body.get("type") == "snapshot"
        return b"".join(each or b"" for each in files[: 2 if is_whole else 1])

    def close(self) -> None:
        """End git."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _files(self, session: Session, row: int, name: str) -> list[bytes | None]:
        return self._reading().found([self._entry_of(session, row).name], name)

    def _entry_of(self, session: Session, row: int) -> Entry:
        entry = entries_of(session)[row]
        assert isinstance(entry, Entry)  # noqa: S101 - there are no gaps among commits
        return entry

    def _refs(self) -> Refs:
        return refs_of(self._repository, with_logs=False)

    def _reading(self) -> Turns:
        if self._opened is None:
            # Only who reads a recording pays for what that takes.
            from tt_debugger.formats.recording_git.turns import Turns

            self._opened = Turns(self._repository)
        return self._opened

    def _by_time(self, refs: Refs) -> list[str]:
        """Give the refs of recordings, the one that was written to last at the end."""
        names = recordings_in(refs.names)
        if len(names) < 2:  # noqa: PLR2004 - the only one is the last
            return names
        times = self._reading().times([refs.names[each] for each in names])
        return [name for _, name in sorted(zip(times, names, strict=True))]


def _entry(turn: Turn, data: bytes | None) -> Entry:
    """Give the entry of a commit, which is called by its hash."""
    where = f"{ENTRY} of {turn.commit[:12]}"
    # A file that is not there holds nothing.
    return entry_in(data, where, turn.commit, turn.number, own_id=turn.entry)


STORE = RecordingGit
