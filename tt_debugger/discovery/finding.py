"""Finding: which sessions lie in the places of a location, and what each of them is about.

First come the entries that a look at each file gives; what their indexes tell is read afterwards,
one by one. What was read before is known from the catalogue of the place, and comes at once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import msgspec

from tt_debugger.core.listing import Entry, Facts
from tt_debugger.core.text import counted
from tt_debugger.discovery.beside import Beside, beside, store_of
from tt_debugger.discovery.folders import (
    as_session,
    repository_as_one,
    session_folders,
    stamp_of,
)
from tt_debugger.discovery.places import EVERYWHERE, Place, places_of
from tt_debugger.discovery.reading import Read, ids_in, read
from tt_debugger.errors import CannotReadError, StoreError, TtdbgError, outside_errors
from tt_debugger.formats import best_match, own_formats, recognise
from tt_debugger.storage.catalogue import Catalogue, now
from tt_debugger.storage.folders import (
    MOST_DEEP,
    MOST_NAMES,
    FileFound,
    PassedBy,
    Why,
    files_under,
)
from tt_debugger.storage.probe import means_refs, probe
from tt_debugger.storage.servers import is_server
from tt_debugger.store import Progress, unheard

READ_AT_ONCE = 32 << 20
"""Bytes of a file up to which its index is read without being asked for."""
LAYOUT = 1
"""To be raised when formats tell other facts of the same files."""


class Left(msgspec.Struct, frozen=True):
    """How much at a location is not listed, by the reason for it."""

    counts: Mapping[Why, int] = msgspec.field(default_factory=dict[Why, int])

    def __getitem__(self, why: Why) -> int:
        return self.counts.get(why, 0)

    def texts(self) -> Iterator[str]:
        """Give what is not listed, each reason with its count."""
        if self[Why.TOO_MANY]:
            yield f"stopped after {MOST_NAMES:,} names: there is more"
        if self[Why.TOO_DEEP]:
            folders = counted(self[Why.TOO_DEEP], "folder")
            yield f"{folders} below {MOST_DEEP} others not looked into"
        if self[Why.UNREADABLE]:
            yield f"{self[Why.UNREADABLE]:,} cannot be read"
        if self[Why.OTHER]:
            yield counted(self[Why.OTHER], "other file")
        if self[Why.LINK]:
            yield f"{counted(self[Why.LINK], 'link')} not followed"
        if self[Why.LEFT_OUT]:
            yield f"{counted(self[Why.LEFT_OUT], 'hidden or tool folder')} left out"


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """What a catalogue has of a file: its format, None for no session, and its sessions.

    It is good as long as the same stands beside it.
    """

    format: str | None
    sessions: tuple[tuple[str | None, Facts], ...]
    beside: Beside = Beside()

    def is_good(self, location: str, place: Place) -> bool:
        """Tell whether other files still tell the same of it."""
        if self.format is None:
            return True
        # Not by its name where that is not needed: all formats would have to be imported.
        store = place.store or store_of(self.format)
        return self.beside == beside(location, store, misses=bool(self.beside.folder))


class _Whereabouts(msgspec.Struct, frozen=True):
    """Where a file was found, and when."""

    place: Place
    name: str
    stamp: tuple[int, ...]
    at: int


_decode = msgspec.msgpack.Decoder(_Known).decode


class Discovery:
    """The sessions of a location, found while one goes over it; `left` counts what is not one.

    What `read` gives is known the next time, once it is saved.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._left: Counter[Why] = Counter()
        self._catalogues: dict[tuple[str, str], Catalogue] = {}
        self._seen_at: dict[tuple[str, str], _Whereabouts] = {}
        self._is_whole = False

    @property
    def left(self) -> Left:
        """What was passed by so far."""
        return Left(dict(self._left))

    def __iter__(self) -> Iterator[Entry | None]:
        """Go over the sessions; None stands for something that is not one.

        Raises CannotReadError where the location is not there or cannot be read.
        """
        if is_server(self.location) or means_refs(self.location):
            # Nothing lies beside it, and what it holds is asked for each time.
            yield Entry(self.location, recognise(probe(self.location))[0].format, 0, 0.0)
            return
        for place in places_of(self.location):
            try:
                yield from self._in_place(place)
            except CannotReadError:
                if self.location != EVERYWHERE:
                    raise
                self._left[Why.UNREADABLE] += 1
        self._is_whole = True

    def read(self, entry: Entry, progress: Progress = unheard) -> Read:
        """Read the indexes of all sessions in the file of an entry; what fails is said in it.

        Nothing comes of what turns out to be no session.
        """
        if not self.is_session(entry):
            return Read(entry, ())
        answer = read(entry, progress)
        self.learn(answer)
        return answer

    def sessions_of(self, entry: Entry) -> tuple[Entry, ...]:
        """Give the sessions in the file of an entry without reading their indexes."""
        if entry.facts is not None:
            return (entry,)
        if not self.is_session(entry):
            return ()
        ids = ids_in(entry)[::-1]
        if len(ids) < 2:  # noqa: PLR2004 - the only one needs no name
            return (entry,)
        return tuple(
            msgspec.structs.replace(entry, session=name, place=place)
            for place, name in enumerate(ids)
        )

    def is_session(self, entry: Entry) -> bool:
        """Tell whether what stands in an agent's place is a session; what is not is counted."""
        where = self._seen_at.get(_named(entry))
        if where is None or not entry.is_kept or entry.facts is not None:
            return True
        if _claims(where.place, entry.location):
            return True
        self._left[Why.OTHER] += 1
        self._keep(where, _Known(None, ()))
        return False

    def learn(self, answer: Read) -> None:
        """Know what was read, unless it failed."""
        where = self._seen_at.get(_named(answer.of))
        facts = [(each.session, each.facts) for each in answer.entries if each.facts is not None]
        if where is not None and len(facts) == len(answer.entries):
            self._keep(where, _Known(answer.of.format, tuple(facts), answer.beside))

    def save(self) -> None:
        """Write down what was learnt, to be known the next time."""
        for key, catalogue in self._catalogues.items():
            every = (each.name for each in self._seen_at.values() if each.place.key == key)
            catalogue.save(set(every) if self._is_whole else None)

    def _in_place(self, place: Place) -> Iterator[Entry | None]:
        if place.is_of_folders:
            for each in session_folders(place.path, partial(_claims, place)):
                yield from self._at(each, place)
            return
        as_one = None if place.store else as_session
        whole = repository_as_one(place.path) if as_one else None
        if whole is not None:
            yield from self._at(whole, place)
            return
        found = files_under(place.path, without=place.without, as_one=as_one)
        for each in found:
            if isinstance(each, PassedBy):
                self._left[each.why] += 1
                yield None
            elif not place.may_keep(each.path):
                self._left[Why.OTHER] += 1
                yield None
            else:
                yield from self._at(each, place)

    def _at(self, file: FileFound, place: Place) -> Iterator[Entry | None]:
        path = file.path.removeprefix(f".{os.sep}")
        is_kept = place.store is not None
        if file.path == place.path and not is_kept:
            # Who names a file asks for this one alone: that is no folder to be known.
            yield self._seen(file, path, place, None)
            return
        name = file.path.removeprefix(place.path).lstrip(os.sep)
        where = _Whereabouts(place, name, stamp_of(file), now())
        self._seen_at[path, place.kind] = where
        known = _known(self._catalogue(place).recall(name, where.stamp))
        if known is None or not known.is_good(path, place):
            yield self._seen(file, path, place, where)
        elif known.format is None:
            self._left[Why.OTHER] += 1
            yield None
        else:
            for number, (session, facts) in enumerate(known.sessions):
                yield Entry(
                    path,
                    known.format,
                    file.size,
                    file.modified,
                    session,
                    number,
                    facts,
                    is_kept=is_kept,
                )

    def _seen(
        self, file: FileFound, path: str, place: Place, where: _Whereabouts | None
    ) -> Entry | None:
        """Give the entry of a file that is not known: in its agent's place without opening it."""
        if place.store is not None:
            return Entry(path, place.store.format, file.size, file.modified, is_kept=True)
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
            if where is not None:
                self._keep(where, _Known(None, ()))
            return None
        return Entry(path, claim[0].format, file.size, file.modified)

    def _catalogue(self, place: Place) -> Catalogue:
        known = self._catalogues.get(place.key)
        if known is None:
            known = self._catalogues[place.key] = Catalogue(*place.key, _layout(place.kind))
        return known

    def _keep(self, where: _Whereabouts, known: _Known) -> None:
        try:
            where.name.encode()
            value = msgspec.msgpack.encode(known)
        except UnicodeEncodeError:
            # A name that is no text cannot be kept: what has it is read each time.
            return
        self._catalogue(where.place).keep(where.name, where.stamp, where.at, value)


def _claims(place: Place, location: str) -> bool:
    """Tell whether something in an agent's place is a session."""
    if place.store is None:
        return True
    try:
        with outside_errors(place.store.format):
            return place.store.sniff(probe(location)) is not None
    except StoreError:
        # Reading says what is wrong.
        return True
    except TtdbgError:
        return not Path(location).is_dir()


def _named(entry: Entry) -> tuple[str, str]:
    return entry.location, entry.format if entry.is_kept else ""


@cache
def _layout(kind: str) -> str:
    """Tell how facts are laid out, and which formats there were to claim a file.

    What an agent keeps is its own, whichever others there are: they need not be imported for it.
    """
    formats = (kind,) if kind else (each.format for each in own_formats())
    return " ".join((str(LAYOUT), *Facts.__struct_fields__, *formats))


def _known(value: bytes | None) -> _Known | None:
    try:
        return None if value is None else _decode(value)
    except (msgspec.MsgspecError, UnicodeError):
        return None
