"""Scopes: the sessions that a search goes through, opened one after the other, the newest first.

That is one session, those of its family, those in a folder, or all that are found.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tt_debugger.cli import output
from tt_debugger.cli.arguments import located, no_point
from tt_debugger.core.families import families
from tt_debugger.core.listing import Entry, Sort, ordered, short_ids
from tt_debugger.core.refs import Fragment, quoted
from tt_debugger.core.search import Query, Regex
from tt_debugger.debugger import Debugger
from tt_debugger.discovery import EVERYWHERE, Discovery
from tt_debugger.discovery.sieve import may_hold
from tt_debugger.errors import TtdbgError, UsageError
from tt_debugger.formats import is_session
from tt_debugger.opening import is_folder


class Opened(msgspec.Struct, frozen=True):
    """A session that is open until the next one is asked for; its refs begin with `scope`."""

    debugger: Debugger
    scope: str


class Failed(msgspec.Struct, frozen=True):
    """A session that cannot be read."""

    location: str
    error: TtdbgError


class Scope:
    """The sessions at a location, all that are found without one; `count` says how many so far.

    Those that cannot have a text which is looked for are counted without being opened.
    """

    def __init__(
        self, location: str | None, text: Query | Regex | None, *, is_family: bool
    ) -> None:
        self.count = 0
        self._location = location
        self._text = text
        self._is_family = is_family

    def __iter__(self) -> Generator[Opened | Failed]:
        """Open one session after the other."""
        path, fragment = located(self._location) if self._location else (EVERYWHERE, Fragment())
        is_one = path != EVERYWHERE and not (is_folder(path) and not is_session(path))
        if is_one:
            no_point(fragment)
        if self._is_family:
            if not is_one or not Path(path).exists():
                raise UsageError("only a session that is kept here has a family", "name its file")
            return self._family(path, fragment)
        return self._at(path, fragment) if is_one else self._found(path)

    def _at(self, path: str, fragment: Fragment) -> Generator[Opened]:
        with Debugger.open(path, fragment.session) as debugger:
            self.count += 1
            scope = f"{quoted(debugger.session.id)}:" if debugger.is_one_of_several else ""
            yield Opened(debugger, f"{path}#{scope}")
            others = debugger.others
        for name in reversed(others):
            with Debugger.open(path, name) as debugger:
                self.count += 1
                yield Opened(debugger, f"{path}#{quoted(name)}:")

    def _found(self, path: str) -> Generator[Opened | Failed]:
        discovery = Discovery(path)
        found = ordered((each for each in discovery if each is not None), Sort.NEWEST)
        short = short_ids(each.id for each in found)
        try:
            with output.progress("searching") as progress:
                for done, entry in enumerate(found, 1):
                    progress(done, len(found))
                    for each in self._sessions(discovery, entry):
                        yield from self._in_session(each, short)
        finally:
            discovery.save()

    def _sessions(self, discovery: Discovery, entry: Entry) -> Sequence[Entry]:
        """Give the sessions of an entry, with what is to be known of them for the sieve."""
        if entry.facts is None and isinstance(self._text, Query):
            return discovery.read(entry).entries
        return discovery.sessions_of(entry)

    def _in_session(self, entry: Entry, short: Mapping[str, str]) -> Iterator[Opened | Failed]:
        self.count += 1
        if self._text is not None and not may_hold(entry, self._text):
            return
        try:
            with Debugger.open(entry.location, entry.session) as debugger:
                own = f"{entry.location}#{entry.scope}"
                yield Opened(debugger, f"{entry.ref(short)}#" if entry.is_kept else own)
        except TtdbgError as error:
            yield Failed(entry.location, error)

    def _family(self, path: str, fragment: Fragment) -> Generator[Opened | Failed]:
        """Open a session and all that it was forked or copied from, or that came from it."""
        with Debugger.open(path, fragment.session) as debugger:
            own = debugger.session.id
        entries = self._read_around(path)
        short = short_ids(each.id for each in entries)
        for family in families(entries):
            if any(_is_at(one.entry, path, own) for one in family):
                for each in ordered((one.entry for one in family), Sort.NEWEST):
                    yield from self._in_session(each, short)
                return

    def _read_around(self, path: str) -> list[Entry]:
        """Read what is beside a session, and what agents keep: its family is among that."""
        beside = str(Path(path).parent)
        discoveries = [Discovery(EVERYWHERE), Discovery(beside)]
        entries: dict[tuple[str, int], Entry] = {}
        try:
            with output.progress("reading") as progress:
                found = [
                    (discovery, each)
                    for discovery in discoveries
                    for each in discovery
                    if each is not None
                ]
                for done, (discovery, each) in enumerate(found, 1):
                    progress(done, len(found))
                    read = (each,) if each.facts is not None else discovery.read(each).entries
                    for one in read:
                        entries.setdefault((os.path.realpath(one.location), one.place), one)
        finally:
            for discovery in discoveries:
                discovery.save()
        return ordered(entries.values(), Sort.NEWEST)


def _is_at(entry: Entry, path: str, session: str) -> bool:
    return os.path.realpath(entry.location) == os.path.realpath(path) and entry.session in {
        None,
        session,
    }
