"""Discovery: which sessions lie at a location, and what each of them is about.

A location is a folder or a file. First come the entries that a look at each file gives; what
their indexes tell is read afterwards, one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tt_debugger.core.listing import Entry, facts_of
from tt_debugger.core.model import Session, SessionId
from tt_debugger.errors import CannotReadError, TtdbgError, outside_errors
from tt_debugger.formats import best_match, installed_formats, own_formats
from tt_debugger.storage.folders import FileFound, PassedBy, Why, files_under
from tt_debugger.storage.probe import probe
from tt_debugger.store import Progress, Remembers, Store, unheard

READ_AT_ONCE = 32 << 20
"""Bytes of a file up to which its index is read without being asked for."""


class Left(msgspec.Struct, frozen=True):
    """How much at a location is not listed, by the reason for it."""

    counts: Mapping[Why, int] = msgspec.field(default_factory=dict[Why, int])

    def __getitem__(self, why: Why) -> int:
        return self.counts.get(why, 0)


class Discovery:
    """The sessions at a location, found while one goes over it; `left` counts what is not one."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._left: Counter[Why] = Counter()

    @property
    def left(self) -> Left:
        """What was passed by so far."""
        return Left(dict(self._left))

    def __iter__(self) -> Iterator[Entry | None]:
        """Go over the sessions; None stands for something that is not one.

        Raises CannotReadError where the location is not there or cannot be read.
        """
        for each in files_under(self.location):
            entry = self._entry(each) if isinstance(each, FileFound) else None
            if isinstance(each, PassedBy):
                self._left[each.why] += 1
            yield entry

    def _entry(self, file: FileFound) -> Entry | None:
        try:
            claim = best_match(probe(file.path))
        except TtdbgError:
            # A named file is all that was asked for; in a folder one of many is counted.
            if file.path == self.location:
                raise
            self._left[Why.UNREADABLE] += 1
            return None
        if claim is None:
            self._left[Why.OTHER] += 1
            return None
        return Entry(file.path, claim[0].format, file.size, file.modified)


class Read(msgspec.Struct, frozen=True):
    """The sessions that the file of an entry turned out to hold, the newest first."""

    of: Entry
    entries: tuple[Entry, ...]


def read(entry: Entry, progress: Progress = unheard) -> Read:
    """Read the indexes of all sessions in the file of an entry; what fails is said in it."""
    return read_with_newest(entry, progress)[0]


def read_with_newest(entry: Entry, progress: Progress = unheard) -> tuple[Read, Session | None]:
    """Read the indexes of all sessions in the file of an entry, and give the newest one too."""
    try:
        store = _opened(entry)
    except TtdbgError as error:
        return Read(entry, (_failed(entry, error),)), None
    try:
        with outside_errors(entry.format):
            ids = _ids_in(store)[::-1]
        found = [
            _read_one(_named(entry, name, place, len(ids)), store, name, progress)
            for place, name in enumerate(ids)
        ]
        return Read(entry, tuple(each for each, _ in found)), found[0][1]
    except CannotReadError as error:
        return Read(entry, (_failed(entry, error),)), None
    finally:
        store.close()


def session_of(entry: Entry, progress: Progress = unheard) -> Session:
    """Give the session of an entry, the newest where it names none. Raises CannotReadError."""
    store = _opened(entry)
    try:
        with outside_errors(entry.format):
            name = _ids_in(store)[-1] if entry.session is None else SessionId(entry.session)
            session = store.load(name, progress).session
            session.take_in()
            return session
    finally:
        store.close()


def _ids_in(store: Store) -> Sequence[SessionId]:
    ids = store.sessions()
    if not ids:
        raise CannotReadError(f"there are no sessions in {store.location}")
    return ids


def _named(entry: Entry, name: SessionId, place: int, of: int) -> Entry:
    """Give an entry its session's id, which the only one of a file can do without."""
    return msgspec.structs.replace(entry, session=name if of > 1 else None, place=place)


def _opened(entry: Entry) -> Store:
    for stores in (own_formats, installed_formats):
        for store in stores():
            if store.format == entry.format:
                with outside_errors(entry.format):
                    return store.open(entry.location)
    raise CannotReadError(f"cannot read {entry.location}: the format {entry.format} is gone")


def _read_one(
    entry: Entry, store: Store, name: SessionId, progress: Progress
) -> tuple[Entry, Session | None]:
    try:
        with outside_errors(entry.format):
            loaded = store.load(name, progress)
            loaded.session.heads.describe_all()
            if isinstance(store, Remembers):
                store.remember(loaded)
            loaded.session.take_in()
    except CannotReadError as error:
        return _failed(entry, error), None
    return msgspec.structs.replace(entry, facts=facts_of(loaded.session)), loaded.session


def _failed(entry: Entry, error: TtdbgError) -> Entry:
    hint = f" ({error.hint})" if error.hint else ""
    return msgspec.structs.replace(entry, failed=f"{error.message}{hint}")
