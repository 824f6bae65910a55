"""Places: where sessions are looked for, each once, and whose sessions are kept there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tt_debugger.formats import each_own_format
from tt_debugger.formats.shared.jsonl import JsonlFile
from tt_debugger.formats.shared.transcript_files import TranscriptFolder
from tt_debugger.storage.folders import AGENT_HOMES, COMPRESSED
from tt_debugger.store import HasPlaces, Store

EVERYWHERE = ""
"""The location that stands for all places in which agents keep sessions, and this folder."""
_HERE = "."


class Place(msgspec.Struct, frozen=True):
    """A folder or file that is looked through.

    Of an agent's place `store` reads what is kept there, None anywhere else. The real paths
    `without` lie in it and are places of their own.
    """

    path: str
    store: type[Store] | None = None
    without: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """The format of what is kept here, empty where anybody may keep something."""
        return "" if self.store is None else self.store.format

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from other places."""
        return self.path, self.kind

    @property
    def is_of_folders(self) -> bool:
        """Whether each session that is kept here is a folder of its own."""
        return self.store is not None and issubclass(self.store, TranscriptFolder)

    def may_keep(self, name: str) -> bool:
        """Tell whether the name of a file says that it may be a session that is kept here."""
        if self.store is None or not issubclass(self.store, JsonlFile):
            return True
        return name.endswith((".jsonl", COMPRESSED))


def places_of(location: str) -> Iterator[Place]:
    """Give the places of a location: itself, or those of all agents and then this folder."""
    if location != EVERYWHERE:
        yield Place(location)
        return
    here = os.path.realpath(_HERE)
    real: set[str] = set()
    homes: set[str] = set()
    for each in _agents_own():
        own = os.path.realpath(each.path)
        homes |= _agent_home_in(here, own)
        if Path(each.path).exists():
            real.add(own)
            yield each
    if not any(f"{here}{os.sep}".startswith(f"{each}{os.sep}") for each in real):
        yield Place(_HERE, None, frozenset(real | homes))


def _agents_own() -> Iterator[Place]:
    """Give the places of agents, each once, also those that are not there.

    Each comes as soon as its format is imported: the first sessions need not wait for all.
    """
    home = Path.home()
    for store in each_own_format():
        if issubclass(store, HasPlaces):
            seen: set[str] = set()
            for path in store.places(os.environ, home):
                real = os.path.realpath(path)
                if real not in seen:
                    yield Place(str(path), store, frozenset(seen))
                seen.add(real)


def _agent_home_in(folder: str, place: str) -> set[str]:
    """Give the hidden folder in a folder in which an agent has a place, if it is there.

    What else lies there are the agent's own books: names and histories that look like sessions.
    """
    inside = place.removeprefix(f"{folder.rstrip(os.sep)}{os.sep}")
    name = inside.partition(os.sep)[0]
    return {os.path.join(folder, name)} if inside != place and name in AGENT_HOMES else set()  # noqa: PTH118 - a text is asked for
