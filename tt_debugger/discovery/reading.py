"""Reading: what the index of a session tells for a listing, and the session itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec

from tt_debugger.core.listing import Entry, facts_of
from tt_debugger.core.model import Session, SessionId
from tt_debugger.discovery.beside import Beside, beside, store_of
from tt_debugger.discovery.sieve import made_words
from tt_debugger.errors import CannotReadError, TtdbgError, outside_errors
from tt_debugger.formats import installed_formats
from tt_debugger.storage.compressed import at_most
from tt_debugger.store import HasSubsessions, Progress, Remembers, Store, unheard

MOST_UNPACKED = 256 << 20
"""Bytes that may come out of a compressed file which nobody asked for by its name."""


class Read(msgspec.Struct, frozen=True):
    """The sessions that the file of an entry turned out to hold, the newest first.

    `beside` is what stood beside them before they were read.
    """

    of: Entry
    entries: tuple[Entry, ...]
    beside: Beside = Beside()


def read(entry: Entry, progress: Progress = unheard) -> Read:
    """Read the indexes of all sessions in the file of an entry; what fails is said in it."""
    return read_with_newest(entry, progress)[0]


def read_with_newest(entry: Entry, progress: Progress = unheard) -> tuple[Read, Session | None]:
    """Read the indexes of all sessions in the file of an entry, and give the newest one too."""
    around = beside(entry.location, store_of(entry.format))
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
        if not any(each.misses for each in found):
            around = msgspec.structs.replace(around, folder=0)
        return Read(entry, tuple(each.entry for each in found), around), found[0].session
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
    store = store_of(entry.format) or _installed(entry.format)
    if store is None:
        raise CannotReadError(f"cannot read {entry.location}: the format {entry.format} is gone")
    with outside_errors(entry.format), at_most(MOST_UNPACKED):
        return store.open(entry.location)


def _installed(format_name: str) -> type[Store] | None:
    return next((each for each in installed_formats() if each.format == format_name), None)


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


class _One(msgspec.Struct, frozen=True):
    """A session that was read; `misses` says that one which it started is not there."""

    entry: Entry
    session: Session | None = None
    misses: bool = False


def _read_one(entry: Entry, store: Store, name: SessionId, progress: Progress) -> _One:
    try:
        with outside_errors(entry.format):
            loaded = store.load(name, progress)
            loaded.session.heads.describe_all()
            if isinstance(store, Remembers):
                store.remember(loaded)
            loaded.session.take_in()
            started = _started(store, loaded.session)
            facts = facts_of(
                loaded.session,
                (each for each in started if each and not is_in(each, entry.location)),
                made_words(store, loaded.session),
            )
    except CannotReadError as error:
        return _One(failed(entry, error))
    known = msgspec.structs.replace(entry, facts=facts)
    return _One(known, loaded.session, misses=None in started)


def _started(store: Store, session: Session) -> list[str | None]:
    """Give the locations of the sessions that one has started, None for one that is not there."""
    if not isinstance(store, HasSubsessions):
        return []
    names = dict.fromkeys(chain.from_iterable(session.subsessions.values()))
    return [store.subsession(session, name) for name in names]


def is_in(location: str, file: str) -> bool:
    """Tell whether the location of a session leads into a file."""
    return location == file or location.startswith(f"{file}#")
