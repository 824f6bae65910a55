"""One opened session with its caches: it answers every question that CLI, TUI and API ask.

There is no algorithm in here: the answers come from `core`, the bytes from a store.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import unquote

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Checkpoint, Extent, Heads, Kind, Session, SessionId
from tt_debugger.core.refs import Fragment, Point, Resolver, parse_fragment, quoted
from tt_debugger.core.replay import Body, Replay, Resumed
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError, UnknownRefError, outside_errors
from tt_debugger.formats import recognise
from tt_debugger.storage.probe import probe
from tt_debugger.store import Cursor, Follows, Loaded, Probe, Progress, Store, unheard

BODIES_KEPT = 256


class Inspection(msgspec.Struct, frozen=True):
    """All that is known of one checkpoint: what it did, what it holds, and the state after it."""

    checkpoint: Checkpoint
    changes: tuple[Change, ...]
    body: Body
    before: State
    """The state before the checkpoint: its parent's, or None at a root."""
    state: State
    raw: bytes
    findings: tuple[Finding, ...]


def split_location(text: str) -> tuple[str, Fragment]:
    """Split LOCATION[#FRAGMENT]. The whole is first tried as an existing path."""
    if _exists(text) or "#" not in text:
        return text, Fragment()
    places = [place for place, character in enumerate(text) if character == "#"]
    for place in reversed(places):
        if _exists(text[:place]):
            return text[:place], parse_fragment(text[place + 1 :])
    return text[: places[-1]], parse_fragment(text[places[-1] + 1 :])


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def format_of(seen: Probe) -> type[Store] | None:
    """Give the format of a location, None where it holds nothing at all.

    Raises CannotReadError where it holds what no format recognises.
    """
    if not seen.head.strip() and seen.size == len(seen.head):
        return None
    return recognise(seen)[0]


class Debugger:
    """An opened session. Its answers may be asked for from any thread, one at a time."""

    def __init__(self, store: Store | None, loaded: Loaded, location: str) -> None:
        self.location = location
        self.session = loaded.session
        self._store = store
        self._cursor = loaded.cursor
        self._lock = threading.RLock()
        self._bodies = _BodyCache(self._decode)
        self._replays: dict[bool, Replay] = {}
        self._resolver: Resolver | None = None

    @classmethod
    def open(
        cls, location: str, session: str | None = None, progress: Progress = unheard
    ) -> Debugger:
        """Open a location and load a session: the one named, else the newest.

        Raises CannotReadError, or UnknownRefError for a session that is not there.
        """
        seen = probe(location)
        found = format_of(seen)
        if found is None:
            return cls(None, _blank(seen.size), location)
        with outside_errors(found.format):
            store = found.open(location)
            return cls(store, store.load(_chosen(store, session), progress), location)

    def follow(self) -> bool:
        """Read what was added since; tell whether the session changed."""
        if not isinstance(self._store, Follows):
            return False
        with self._lock, outside_errors(self._store.format):
            loaded = self._store.follow(self._cursor)
            self._cursor = loaded.cursor
            if loaded.session is self.session:
                return False
            self._adopt(loaded.session)
            return True

    def _adopt(self, session: Session) -> None:
        self.session = session
        self._replays.clear()
        self._bodies.clear()
        self._resolver = None

    @property
    def resolver(self) -> Resolver:
        """Finds rows by refs."""
        if self._resolver is None:
            self._resolver = Resolver(self.session)
        return self._resolver

    def row(self, point: Point) -> int:
        """Give the row that a point names."""
        return self.resolver.row(point)

    def changes(self, row: int, *, uncompacted: bool = False) -> tuple[Change, ...]:
        """Give what a checkpoint did to the state."""
        with self._lock:
            return self._replay(uncompacted=uncompacted).changes(row)

    def state(self, row: int, *, uncompacted: bool = False) -> State:
        """Give the recorded state at a checkpoint; to be read only."""
        with self._lock:
            return self._replay(uncompacted=uncompacted).state(row)

    def resumed(self, row: int) -> Resumed:
        """Give what the agent would load and send if it went on from a checkpoint."""
        with self._lock:
            return self._replay().resumed(row)

    def body(self, row: int) -> Body:
        """Give the record of a checkpoint as decoded."""
        with self._lock:
            return self._bodies((row,))[0]

    def raw(self, row: int) -> bytes:
        """Give the bytes of a checkpoint's record."""
        if self._store is None:
            return b""
        with self._lock, outside_errors(self._store.format):
            return self._store.raw(self.session, row)

    def inspect(self, row: int, *, uncompacted: bool = False) -> Inspection:
        """Give all that is known of a checkpoint."""
        with self._lock:
            parent = self.session.parents[row]
            before = None if parent == NO_ROW else self.state(parent, uncompacted=uncompacted)
            return Inspection(
                self.session.checkpoint(row),
                self.changes(row, uncompacted=uncompacted),
                self.body(row),
                before,
                self.state(row, uncompacted=uncompacted),
                self.raw(row),
                self.findings_at(row),
            )

    def findings_at(self, row: int) -> tuple[Finding, ...]:
        """Give the findings about a checkpoint itself, those of its replay included."""
        with self._lock:
            own, line = self.session.ids[row], self.session.heads[row].line
            read = tuple(
                each
                for each in self.session.findings
                if each.checkpoint == own
                or (each.checkpoint is None and line is not None and each.line == line)
            )
            return read + self._replay().step(row).findings

    def findings_on_path(self, row: int) -> tuple[Finding, ...]:
        """Give the findings about a checkpoint or any of its ancestors."""
        with self._lock:
            session = self.session
            path = session.tree.path_to(row)
            ids = {session.ids[each] for each in path}
            lines = {session.heads[each].line for each in path} - {None}
            read = tuple(
                each
                for each in session.findings
                if each.checkpoint in ids or (each.checkpoint is None and each.line in lines)
            )
            compactions = (each for each in path if session.heads.kind(each) is Kind.COMPACTION)
            return read + tuple(
                found for each in compactions for found in self._replay().step(each).findings
            )

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _replay(self, *, uncompacted: bool = False) -> Replay:
        if uncompacted not in self._replays:
            if self._store is None:
                raise UnknownRefError("the session has no checkpoints")
            rules = self._store.rules(self.session, uncompacted=uncompacted)
            self._replays[uncompacted] = Replay(self.session, rules, self._bodies)
        return self._replays[uncompacted]

    def _decode(self, rows: Sequence[int]) -> list[Body]:
        if self._store is None:
            return []
        with outside_errors(self._store.format):
            return self._store.bodies(self.session, rows)


class _BodyCache:
    """Decoded bodies by row, the least recently used let go first; bounded by their bytes."""

    def __init__(self, decode: Callable[[Sequence[int]], list[Body]]) -> None:
        self._decode = decode
        self._kept: OrderedDict[int, Body] = OrderedDict()

    def __call__(self, rows: Sequence[int]) -> list[Body]:
        missing = [row for row in rows if row not in self._kept]
        self._kept.update(zip(missing, self._decode(missing), strict=True))
        found = [self._kept[row] for row in rows]
        for row in rows:
            self._kept.move_to_end(row)
        while len(self._kept) > BODIES_KEPT:
            self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        self._kept.clear()


def _chosen(store: Store, wanted: str | None) -> SessionId:
    """Give the session named, by its id or a unique prefix; without a name the newest.

    A name is tried as given, then percent-decoded.
    """
    ids = store.sessions()
    if not ids:
        raise CannotReadError(f"there are no sessions in {store.location}")
    if wanted is None:
        return ids[-1]
    names = (wanted, unquote(wanted))
    exact = [each for name in names for each in ids if each == name]
    if exact:
        return exact[0]
    matches = [each for each in ids if each.startswith(names)]
    if len(matches) != 1:
        raise UnknownRefError(
            f"{wanted!r} names {len(matches) or 'no'} sessions here",
            f"there are: {', '.join(map(quoted, ids))}",
        )
    return matches[0]


def _blank(size: int) -> Loaded:
    """Give the session of a file that holds nothing."""
    session = Session(SessionId(""), None, Heads(), [], array("q"), extent=Extent(size, 0))
    return Loaded(session, Cursor(None))
