"""Reading: what the index of a session tells for a listing, and the session itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from tt_debugger.core.listing import Entry, facts_of
from tt_debugger.core.model import Session, SessionId
from tt_debugger.errors import CannotReadError, TtdbgError, outside_errors
from tt_debugger.formats import installed_formats, own_formats
from tt_debugger.store import HasSubsessions, Progress, Remembers, Store, unheard


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
        store = opened(entry)
    except TtdbgError as error:
        return Read(entry, (failed(entry, error),)), None
    try:
        with outside_errors(entry.format):
            ids = _ids_in(store)[::-1]
        found = [
            _read_one(_named(entry, name, place, len(ids)), store, name, progress)
            for place, name in enumerate(ids)
        ]
        return Read(entry, tuple(each for each, _ in found)), found[0][1]
    except CannotReadError as error:
        return Read(entry, (failed(entry, error),)), None
    finally:
        store.close()


def session_of(entry: Entry, progress: Progress = unheard) -> Session:
    """Give the session of an entry, the newest where it names none. Raises CannotReadError."""
    store = opened(entry)
    try:
        with outside_errors(entry.format):
            name = _ids_in(store)[-1] if entry.session is None else SessionId(entry.session)
            session = store.load(name, progress).session
            session.take_in()
            return session
    finally:
        store.close()


def ids_in(entry: Entry) -> Sequence[SessionId]:
    """Give the ids of all sessions in the file of an entry, none where it cannot be read."""
    try:
        store = opened(entry)
    except TtdbgError:
        return ()
    try:
        with outside_errors(entry.format):
            return store.sessions()
    except CannotReadError:
        return ()
    finally:
        store.close()


def opened(entry: Entry) -> Store:
    """Open the store of an entry. Raises CannotReadError."""
    for stores in (own_formats, installed_formats):
        for store in stores():
            if store.format == entry.format:
                with outside_errors(entry.format):
                    return store.open(entry.location)
    raise CannotReadError(f"cannot read {entry.location}: the format {entry.format} is gone")


def failed(entry: Entry, error: TtdbgError) -> Entry:
    """Give an entry that says why it cannot be read."""
    hint = f" ({error.hint})" if error.hint else ""
    return msgspec.structs.replace(entry, failed=f"{error.message}{hint}")


def _ids_in(store: Store) -> Sequence[SessionId]:
    ids = store.sessions()
    if not ids:
        raise CannotReadError(f"there are no sessions in {store.location}")
    return ids


def _named(entry: Entry, name: SessionId, place: int, of: int) -> Entry:
    """Give an entry its session's id, which the only one of a file can do without."""
    return msgspec.structs.replace(entry, session=name if of > 1 else None, place=place)


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
            facts = facts_of(loaded.session, _started(entry, store, loaded.session))
    except CannotReadError as error:
        return failed(entry, error), None
    return msgspec.structs.replace(entry, facts=facts), loaded.session


def _started(entry: Entry, store: Store, session: Session) -> Iterator[str]:
    """Give the locations of the sessions that one has started, but for those in its own file."""
    if isinstance(store, HasSubsessions):
        for name in dict.fromkeys(chain.from_iterable(session.subsessions.values())):
            location = store.subsession(session, name)
            if location is not None and not location.startswith(entry.location):
                yield location
