"""Keys of checkpoints in Redis that people made themselves, such as `checkpoint:<thread>`.

The key of a thread holds its state as JSON, as a string or in a field of a hash. Its past is in
keys that are named after it, with a time, which a sorted set may list; or it is a list.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import SessionId
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.redis_keys.names import shown
from tt_debugger.formats.shared.states import head_of, time_of
from tt_debugger.formats.shared.tables import (
    HISTORY,
    MAPPED,
    DocumentStore,
    Form,
    Index,
    Layout,
    document_of,
    index_held,
    map_of,
    split_history,
)
from tt_debugger.formats.shared.transcript import no_session
from tt_debugger.storage.keys import DOCUMENT, HASH, LIST, STRING, ZSET, Keys
from tt_debugger.storage.probe import RedisProbe
from tt_debugger.storage.servers import must_be_server
from tt_debugger.storage.tables import Value
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan

PREFIX = "checkpoint:"
"""With what keys begin where nobody says otherwise."""
KEYS = 20_000
"""Keys that are gone over to find sessions."""
NEWEST = 200
"""Sessions that are named."""
A_FEW = 20

_HOLDING = frozenset((STRING, HASH, DOCUMENT))
"""The kinds of keys that may hold a state by themselves."""
_PAST = HISTORY[:-1]
"""What stands behind the name of a thread in the key that lists its past."""
_STATES = ("state", "state_json", "data", "payload", "snapshot", "checkpoint", "body")
_VERSIONS = ("schema_version", "version")
_TIMES = ("updated_at", "written_at", "saved_at", "timestamp", "ts", "created_at")
_NEVER = float("-inf")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_GLOB = re.compile(r"[*?[]")


class _Place(msgspec.Struct, frozen=True):
    """Where a state is: in a key, and of a list in which item, counted from the end."""

    key: str
    kind: str
    item: int = 0


class RedisStore(DocumentStore):
    """The checkpoints in the keys of a database of Redis."""

    format: ClassVar[str] = "redis_keys"
    about: ClassVar[str] = "keys of checkpoints of one's own (Redis)"
    keeps_calls_whole: ClassVar[bool] = False
    short: ClassVar[int] = 128

    def __init__(self, location: str, keys: Keys) -> None:
        super().__init__(location)
        self._keys = keys
        table_map = map_of(location)
        self._prefix = (table_map and table_map.prefix) or PREFIX
        self._named: dict[str, str] = {}
        """The names of threads as they are in keys, where they are no text."""
        self._expiries: dict[str, str] = {}
        """How long keys still have, in words, as they were last asked for."""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such keys by their beginning and their kind, and any by a map."""
        if not isinstance(probe, RedisProbe):
            return None
        table_map = map_of(probe.location)
        if table_map is not None and table_map.prefix is not None:
            return Match(MAPPED, f"the map {table_map.path} says how its keys begin")
        kinds = {kind for key, kind in probe.keys if key.startswith(PREFIX)}
        if kinds & {STRING, HASH}:
            return Match(60, f"keys that begin with {PREFIX}, each with the state of a thread")
        if DOCUMENT in kinds:
            return Match(20, f"documents of which the keys begin with {PREFIX}")
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

    def look(self) -> object:
        """Tell nothing: only the keys tell whether there is news."""
        return None

    def watched(self) -> Sequence[str]:
        """Give no path: it is asked again."""
        return ()

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of threads, as far as is known the one written last at the end."""
        threads = self._threads(self._keys.keys(f"{_escaped(self._prefix)}*", most=KEYS))
        names = list(threads)
        # Keys that get the same time to live were written in the order in which they end.
        ends = self._keys.expiries(list(map(self._key, names)))
        left = dict(zip(names, (-1 if each is None else each for each in ends), strict=True))
        names.sort(key=lambda name: (threads[name], left[name], name))
        return [SessionId(name) for name in names[-NEWEST:]]

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the ids that are or begin with a text, a few of them."""
        key = self._key(beginning)
        is_there = any(self._keys.kinds([key, f"{key}{_PAST}"]))
        pattern = f"{_escaped(self._prefix + beginning)}*"
        found = self._threads(self._keys.keys(pattern, most=KEYS))
        exact = [beginning] if is_there or beginning in found else []
        return [SessionId(each) for each in dict.fromkeys((*exact, *found))][:A_FEW]

    def _key(self, session: str) -> str:
        return f"{self._prefix}{self._named.get(session, session)}"

    def _threads(self, keys: Iterable[str]) -> Mapping[str, float]:
        """Give the threads that keys belong to, with the time of the last of their past states."""
        threads: dict[str, float] = {}
        for key in keys:
            name, time = split_history(key.removeprefix(self._prefix))
            name = name.removesuffix(_PAST) if time is None else name
            text = shown(name)
            self._named[text] = name
            latest = threads.get(text, _NEVER)
            threads[text] = latest if time is None else max(latest, time)
        return threads

    def index(self, session: SessionId) -> Index:
        """Find the states of a thread: those of its past by time, then the one that it has."""
        current = self._key(session)
        (kind,) = self._keys.kinds([current])
        told: list[Finding] = []
        places = self._past(current, told)
        places += self._holding([(current, kind)], told)
        if not places:
            raise no_session(self.location, session)
        fields = self._fields(current) if kind == HASH else {}
        times = [split_history(each.key)[1] for each in places]
        if kind == HASH:
            times[-1] = time_of(fields)
        versions: list[Value] = [None] * len(places)
        versions[-1] = next((fields[each] for each in _VERSIONS if each in fields), None)
        told += self._ends({each.key for each in places})
        layout = Layout("keys", Form.STATES, "value", key=("key", "kind", "item"))
        return Index(
            layout,
            session,
            tuple(zip(*((each.key, each.kind, each.item) for each in places), strict=True)),
            [_id_of(each) for each in places],
            array("q", range(NO_ROW, len(places) - 1)),
            times=(times,),
            versions=versions if any(versions) else (),
            findings=tuple(told),
        )

    def _past(self, current: str, told: list[Finding]) -> list[_Place]:
        """Give where the past states of a thread are, the first one first."""
        listing = f"{current}{_PAST}"
        (kind,) = self._keys.kinds([listing])
        if kind == LIST:
            return self._items(listing)
        if kind == ZSET:
            named = [_named_by(member, current) for member, _ in self._keys.members(listing)]
        else:
            found = self._keys.keys(f"{_escaped(current + HISTORY)}*")
            named = [each for each in found if split_history(each)[0] == current]
        kinds = self._keys.kinds(named)
        gone = kinds.count(None)
        if gone:
            what = f"{counted(gone, 'past state')} that {listing} names: gone"
            told.append(finding(Code.EXPIRES, what, hint="their time to live has ended"))
        there = self._holding(zip(named, kinds, strict=True), told)
        return sorted(there, key=lambda each: (split_history(each.key)[1] or 0, each.key))

    def _holding(
        self, keys: Iterable[tuple[str, str | None]], told: list[Finding]
    ) -> list[_Place]:
        """Give those keys that can hold a state, by their kinds; of others, say so."""
        there = [_Place(key, kind) for key, kind in keys if kind is not None]
        places = [each for each in there if each.kind in _HOLDING]
        others = [each for each in there if each.kind not in _HOLDING]
        if others:
            first = others[0]
            what = f"{counted(len(others), 'key')} with no state, the first a {first.kind}"
            told.append(finding(Code.UNREADABLE, f"{what}: {shown(first.key)}"))
        return places

    def _items(self, listing: str) -> list[_Place]:
        """Give the items of a list, the first state first, whichever end is written to."""
        count = self._keys.length(listing)
        ends = [*self._keys.items(listing, 0, 0), *self._keys.items(listing, -1, -1)]
        first, last = map(_rank, ends) if len(ends) > 1 else ((), ())
        # An item keeps its number as others are added: it is counted from the end that stands.
        numbers = range(-1, -count - 1, -1) if first > last else range(count)
        return [_Place(listing, LIST, number) for number in numbers]

    def values(self, index: Index, rows: Sequence[int]) -> list[Value | LookupError]:
        """Give what rows hold."""
        places = {row: _Place(*index.key_of(row)) for row in rows}  # pyright: ignore[reportArgumentType] - as `index` made them
        found: dict[int, Value | LookupError] = {}
        for kind, ask in ((STRING, self._keys.strings), (DOCUMENT, self._keys.documents)):
            mine = [row for row, each in places.items() if each.kind == kind]
            values = ask([places[row].key for row in mine])
            for row, value in zip(mine, values, strict=True):
                found[row] = self._gone(places[row].key) if value is None else value
        for row, place in places.items():
            if place.kind == HASH:
                found[row] = _state_in(self._fields(place.key)) or self._gone(place.key)
        listed = sorted((each.item, row) for row, each in places.items() if each.kind == LIST)
        for _, run in groupby(enumerate(listed), lambda each: each[1][0] - each[0]):
            found |= self._listed(places, [row for _, (_, row) in run])
        return [found[row] for row in rows]

    def _listed(
        self, places: Mapping[int, _Place], rows: Sequence[int]
    ) -> Iterator[tuple[int, Value | LookupError]]:
        """Give what rows hold that are neighbours in a list, asked for at once."""
        key, first, last = places[rows[0]].key, places[rows[0]].item, places[rows[-1]].item
        items = self._keys.items(key, first, last)
        # Of a list that was cut those are there that are nearest to the end it is counted from.
        missing = [self._gone(key)] * (len(rows) - len(items))
        values = (*missing, *items) if first < 0 else (*items, *missing)
        return zip(rows, values, strict=True)

    def _gone(self, key: str) -> LookupError:
        is_long = key in self._keys.too_long
        return LookupError("it is too large" if is_long else "the key is no longer there")

    def _fields(self, key: str) -> dict[str, str]:
        return {
            name.decode(errors="replace"): value.decode(errors="replace")
            for name, value in self._keys.fields(key)
        }

    def told_of_row(self, index: Index, row: int) -> str:
        """Say how long the key of a row still has."""
        return self._expiries.get(str(index.key[0][row]), "")

    def _ends(self, keys: set[str]) -> Iterator[Finding]:
        """Say how long keys still have; keep it for the rows."""
        named = sorted(keys)
        left = dict(zip(named, self._keys.expiries(named), strict=True))
        ends = {key: each for key, each in left.items() if each is not None}
        self._expiries |= {key: f"expires in {_span(each)}" for key, each in ends.items()}
        if ends:
            first = _span(min(ends.values()))
            what = f"{counted(len(ends), 'key')} of {len(keys)} will expire, the first in {first}"
            yield finding(Code.EXPIRES, what, hint="PERSIST keeps a key; a fork keeps its time")

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says. Raises UnsupportedError."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give the keys that a fork would set: those of a thread of its own.

        Raises UnsupportedError for what a hash cannot hold.
        """
        from tt_debugger.formats.redis_keys.fork import Thread, draft

        session = replay.session
        key = self._key(session.id)
        name = key.removeprefix(self._prefix)
        thread = Thread(self._prefix, name, f"{key}{_PAST}", _STATES, _TIMES)
        return draft(self._keys, thread, index_held(session), replay, plan)

    def close(self) -> None:
        """Let go of the connection."""
        self._keys.close()


def _id_of(place: _Place) -> str:
    """Give the id of a state: its key, of a list with the number of the item, from 1."""
    key = shown(place.key)
    if place.kind != LIST:
        return key
    number = place.item + 1 if place.item >= 0 else -place.item
    return f"{key}/{number}"


def _named_by(member: bytes, current: str) -> str:
    """Give the key that a member of a sorted set names: itself, or the time in it."""
    text = _text(member)
    return text if text.startswith(current) else f"{current}{HISTORY}{text}"


def _rank(item: bytes) -> tuple[float, float]:
    """Give what tells of two states which one is the later."""
    state = document_of(item).value
    step, time = head_of(state).step, time_of(state)
    return (time or 0, step or 0)


def _state_in(fields: Mapping[str, str]) -> bytes | None:
    """Give the state that a hash holds in a field of its own, else all its fields as JSON."""
    for name in _STATES:
        if name in fields and not document_of(fields[name]).why:
            return fields[name].encode()
    return msgspec.json.encode(fields) if fields else None


def _span(milliseconds: int) -> str:
    """Say how long a time is, in its largest unit: 7 days, 23 hours, 5 minutes."""
    seconds = milliseconds / 1000
    for size, noun in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return counted(round(seconds / size), noun)
    return counted(round(seconds), "second")


def _escaped(text: str) -> str:
    """Give a text as it stands for itself in a pattern."""
    return _GLOB.sub(r"[\g<0>]", text.replace("\\", r"\\"))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


STORE = RedisStore
