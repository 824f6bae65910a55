"""The contract of a format: what it must give to be opened, and what it may give to be followed.

A store is one opened location. `Store` is required; the other protocols are abilities that a
store has or has not (`isinstance(store, Follows)`). All calls are synchronous. Bad data becomes
findings; what goes wrong outside (a file that vanished, a driver that is missing) is raised as an
error from `tt_debugger.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Replay, Rules

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.fork.talk import Talk
    from tt_debugger.core.messages import Part
    from tt_debugger.core.recording.entries import Entry, Header


class Inside(msgspec.Struct, frozen=True):
    """A file in a folder: its name, its size, and of the first few files the first bytes."""

    name: str
    size: int
    head: bytes | None = None


class Probe(msgspec.Struct, frozen=True):
    """What a format may know of a location before it is opened.

    `location` is the text it was asked by; `head` the first bytes of a file (at least 64 KiB and
    the first line that is not blank), `size` its length in bytes. Of a folder `inside` has the
    files that may hold sessions, which are None for a file; its head is empty, and its size that
    of these files together.
    """

    location: str
    name: str
    head: bytes
    size: int
    inside: tuple[Inside, ...] | None = None


class Match(msgspec.Struct, frozen=True):
    """A format's claim to a location: a score from 1 to 100 and the reason for it."""

    score: int
    reason: str


class Cursor(msgspec.Struct, frozen=True):
    """How far a session was read. What it holds is its format's own business."""

    position: Any


class Loaded(msgspec.Struct, frozen=True):
    """A session as read, with the cursor from which `follow` goes on."""

    session: Session
    cursor: Cursor
    kept: int | None = None
    """Rows of the session before, from the first, that surely stand; None: those that look so.

    `follow` says 0 where a file was cut or replaced.
    """


Progress = Callable[[int, int], None]
"""Is told now and then how much is done, of how much: bytes for a file."""


def unheard(_done: int, _of: int) -> None:
    """Progress that nobody watches."""


@runtime_checkable
class Store(Protocol):
    """One opened location."""

    format: ClassVar[str]
    about: ClassVar[str]
    """One sentence for `ttdbg formats`: what this format is."""
    verified: ClassVar[str]
    """How it was made sure that the format is read as its agent reads it, in a short phrase."""
    location: str

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether this format reads the location. Pure: the probe is all it sees."""
        ...

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location for reading. Raises CannotReadError."""
        ...

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, newest last."""
        ...

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the index of a session. Raises CannotReadError."""
        ...

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules by which the bodies of this session replay.

        With `uncompacted` compactions drop nothing, so that all that was said is in the state.
        """
        ...

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode the records of some rows, in the order asked for."""
        ...

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record as they are stored."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


@runtime_checkable
class Follows(Protocol):
    """A store whose sessions can be watched as they grow."""

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor: the session as it is now, and where it was read to.

        The answer is what loading anew would give. A file that was cut or replaced is read from
        its beginning; of one that was replaced, what it still got is given first, once. Nothing
        new gives the same session.
        """
        ...


@runtime_checkable
class Forks(Protocol):
    """A store whose sessions can be forked: it says what to write, and `storage` writes it."""

    keeps_calls_whole: ClassVar[bool]
    """Whether a fork may not end between a tool call and its result."""

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says to a state, in the form of the format.

        Raises UnsupportedError where the state has no messages.
        """
        ...

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give all that a fork would write. Nothing is written; the original is read.

        Raises UnsupportedError for an edit that the format cannot hold or a way that it does not
        allow (`in_place`), UsageError for one that is wrong.
        """
        ...


@runtime_checkable
class Composes(Protocol):
    """A format in which a session can be written that another agent began."""

    @classmethod
    def fit(cls, part: Part) -> tuple[Part | None, str]:
        """Give a part of a talk as the format can hold it, and what is lost of it in a word.

        None for a part that it cannot hold.
        """
        ...

    @classmethod
    def composed(cls, talk: Talk, plan: Plan, home: Path) -> Draft:
        """Give all that a session with the talk would be written by.

        `home` is the first of the places where the agent keeps sessions.
        """
        ...


@runtime_checkable
class Records(Protocol):
    """A log of one session that a recorder appends to; whoever opens it may write.

    What is in it stays as it is. A second writer is refused, at the latest when it appends.
    """

    location: str
    """What `ttdbg open` shows it by, a ref included where the location has several sessions."""
    header: Header | None
    """What stands at its head; None for a log that was not begun yet."""
    durability: str
    """What is promised of an entry whose append has returned, in a sentence."""

    def begin(self, header: Header) -> None:
        """Begin a log that has no header yet. Raises CannotWriteError."""
        ...

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries, the last one first; no more are read than are asked for.

        What a crash left unfinished at the end is none. Raises CannotReadError.
        """
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """Add entries, all or none; they are as durable as promised when it returns.

        Raises CannotWriteError. The same entries may be given again then: those that are there
        after all, by their ids, are not added twice.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


@runtime_checkable
class HasWatched(Protocol):
    """A store whose sessions are written elsewhere than to the location alone."""

    def watched(self) -> Sequence[str]:
        """Give the paths whose change may mean news, whether they are there yet or not.

        Of a folder all that is in it is meant. Without a path the store is asked every now and
        then, as a server must be.
        """
        ...


@runtime_checkable
class Contiguous(Protocol):
    """A store whose records are JSON text that stands in one run of bytes, in storage order."""

    def run(self, session: Session, first: int, last: int) -> bytes:
        """Give the bytes from the record of one row to the end of that of a later one.

        Raises CannotReadError where the file no longer holds them.
        """
        ...


@runtime_checkable
class Tails(Protocol):
    """A store that can show its newest records before it has read the others."""

    def tail(self) -> Session | None:
        """Give the newest records as a session of their own, None where all are read as soon.

        What its first records hang on is not in it; its rows are not those of the whole session.
        """
        ...


@runtime_checkable
class Remembers(Protocol):
    """A store that can keep what it has read, so that it need not be read again."""

    def remember(self, loaded: Loaded) -> bool:
        """Keep the index of a session that was just read; tell whether that was of any use."""
        ...


@runtime_checkable
class HasMany(Protocol):
    """A store that may have more sessions than `sessions` gives: those are the newest ones."""

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the ids that are or begin with a text, a few of them, the one that is it first.

        Also those of sessions that only another leads to, as a part of it.
        """
        ...


@runtime_checkable
class HasSubsessions(Protocol):
    """A store whose checkpoints may have started sessions of their own."""

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location, with its ref where it needs one, of what a checkpoint started.

        The name is one of `Session.subsessions`. None where that session is not there.
        """
        ...


@runtime_checkable
class Examines(Protocol):
    """A store that knows what is wrong in its records which an index of them does not tell."""

    def examined(self, session: Session) -> Iterator[Finding]:
        """Read all records of a session, and give what is wrong that its findings do not say."""
        ...


@runtime_checkable
class Consults(Protocol):
    """A format that tells of a session what other files say of it."""

    @classmethod
    def consulted(cls, location: str) -> str:
        """Give what other files say of the session, or a text that is another when they change.

        It is asked of each session that is listed: nothing long is read for it.
        """
        ...


@runtime_checkable
class HasPlaces(Protocol):
    """A format whose agent keeps its sessions in places of its own."""

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folders and files where sessions are kept, whether they are there or not."""
        ...
