"""Forks in keys: the states of a thread up to a point, under the name of a new thread.

Each key keeps the kind and the time to live of the one that it is made from. The past is listed
in the way in which that of the original is: by names alone, in a sorted set, or in a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tt_debugger.core.between import keys_between
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, Key, NewKeys
from tt_debugger.core.json import as_map
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.redis_keys.names import shown
from tt_debugger.formats.shared.fork_rows import refuse_target_at_server
from tt_debugger.formats.shared.fork_states import (
    chosen_session,
    name_of_fork,
    renamed,
)
from tt_debugger.formats.shared.json_text import with_value, written
from tt_debugger.formats.shared.states import SESSIONS
from tt_debugger.formats.shared.tables import Index, document_of
from tt_debugger.formats.shared.time_forms import time_like
from tt_debugger.storage.keys import DOCUMENT, HASH, LIST, STRING, ZSET, Keys

KINDS = {STRING: "string", HASH: "hash", DOCUMENT: "json"}
"""What is written for a key that holds a state, by its kind."""


class Thread(NamedTuple):
    """The thread that is forked: its key and what stands before its name, as texts of bytes."""

    prefix: str
    name: str
    listing: str
    """The key that lists its past."""
    states: Sequence[str]
    """The fields of a hash in which a state may be, the first one first."""
    times: Sequence[str]
    """The fields that say when it was written."""

    @property
    def key(self) -> str:
        """The key of the state that it has."""
        return self.prefix + self.name


def draft(keys: Keys, thread: Thread, index: Index, replay: Replay, plan: Plan) -> Draft:
    """Give the keys that a fork would set. Raises UnsupportedError, UsageError."""
    refuse_target_at_server(plan)
    if plan.in_place:
        raise UnsupportedError(
            "a thread has no branches: a fork is a thread of its own",
            "leave out --in-place: nothing of the thread is changed",
        )
    making = _Making(keys, thread, index, plan)
    path = replay.session.tree.path_to(plan.row)
    made = tuple(making.keys_for(path))
    session = shown(making.after)
    return Draft(
        writes=(NewKeys(keys.location, made),),
        location=keys.location,
        session=session,
        point=shown(made[0].name),
        resume_command=f"thread_id = {session!r}",
        notes=tuple(making.notes),
        own=making.own,
    )


class _Making:
    """The keys of a new thread."""

    def __init__(self, keys: Keys, thread: Thread, index: Index, plan: Plan) -> None:
        self._keys, self._thread, self._plan = keys, thread, plan
        self._places = list(zip(*index.key, strict=True))
        """The key, the kind and the number of the item of each row."""
        self._moment = max(plan.time, index.time(plan.row) or 0.0)
        chosen = chosen_session(plan)
        self.before = thread.name
        self.after = chosen or name_of_fork(thread.name, plan.fresh)
        self.own: tuple[str, ...] = ()
        self.notes: list[str] = []

    def keys_for(self, path: Sequence[int]) -> Iterator[Key]:
        """Give the key of the thread itself, then those of its past."""
        current, listing = self._thread.key, self._thread.listing
        past = [row for row in path if self._places[row][0] != current]
        named = [row for row in past if self._places[row][1] != LIST]
        ends = self._ends((current, listing, *(str(self._places[row][0]) for row in named)))
        yield self._wanted(ends)
        gone = 0
        for row in named:
            made = self._kept(row, ends)
            gone += made is None
            if made is not None:
                yield made
        if gone:
            self.notes.append(f"{counted(gone, 'past state')} ended meanwhile: not in the fork")
        yield from self._listed(past, named, ends.get(listing))

    def _ends(self, keys: Sequence[str]) -> Mapping[str, int | None]:
        return dict(zip(keys, self._keys.expiries(keys), strict=True))

    def _renamed_key(self, key: str) -> str:
        return self._thread.prefix + self.after + key[len(self._thread.key) :]

    def _wanted(self, ends: Mapping[str, int | None]) -> Key:
        """Give the key of the thread, with the wanted state."""
        plan, current = self._plan, self._thread.key
        state = renamed(as_map(plan.wanted), self.before, self.after)
        self.own = keys_between(plan.wanted, state)
        (kind,) = self._keys.kinds([current])
        if kind not in KINDS:
            # A thread of which only the past is left gets a state as that has.
            kind = str(self._places[plan.row][1])
            kind = kind if kind in KINDS else STRING
        value: Any = self._hash(plan.row, state) if kind == HASH else self._edited(plan.row, state)
        value = value.decode() if kind == DOCUMENT else value
        how = How.CHANGED if plan.edits else How.KEPT
        name, end = self._renamed_key(current), ends.get(current)
        return Key(name, KINDS[kind], value, end, how, plan.row)

    def _edited(self, row: int, after: dict[str, Any]) -> bytes:
        """Give a state as JSON, like that of a row."""
        text = self._text(row)
        return (
            written(after) if text is None else with_value(text, as_map(self._plan.state), after)
        )

    def _text(self, row: int) -> bytes | None:
        """Give the JSON text of a row, None where it has another form or is gone."""
        key, kind, item = self._places[row]
        match kind:
            case "string":
                return self._keys.strings([str(key)])[0]
            case "list":
                return self._item(str(key), int(item or 0))
            case _:
                return self._keys.documents([str(key)])[0] if kind == DOCUMENT else None

    def _hash(self, row: int, after: dict[str, Any]) -> dict[bytes, bytes]:
        """Give the fields of a hash with another state, at the time of the fork."""
        key, kind, _ = self._places[row]
        fields = self._own_fields(str(key) if kind == HASH else self._thread.key)
        for name in map(str.encode, self._thread.times):
            if name in fields:
                time = time_like(fields[name].decode(errors="surrogateescape"), self._moment)
                fields[name] = time.encode(errors="surrogateescape")
        for name in map(str.encode, self._thread.states):
            if name in fields and not document_of(fields[name]).why:
                held = document_of(fields[name]).value
                return {**fields, name: with_value(fields[name], held, after)}
        return self._each_field(after)

    def _own_fields(self, key: str) -> dict[bytes, bytes]:
        """Give the fields of a hash, those that name the thread with its new name."""
        before, after = (
            each.encode(errors="surrogateescape") for each in (self.before, self.after)
        )
        names = frozenset(map(str.encode, SESSIONS))
        return {
            name: after if name in names and value == before else value
            for name, value in self._keys.fields(key)
        }

    def _each_field(self, state: dict[str, Any]) -> dict[bytes, bytes]:
        """Give a state of which each key is a field of a hash."""
        for key, value in state.items():
            if not isinstance(value, str):
                raise UnsupportedError(
                    f"{key} can be nothing but a text: it is a field of a hash of Redis"
                )
        return {key.encode(): value.encode() for key, value in state.items()}

    def _kept(self, row: int, ends: Mapping[str, int | None]) -> Key | None:
        """Give the key of a past state, None where it is gone."""
        key, kind, _ = map(str, self._places[row])
        if kind == HASH:
            fields = self._own_fields(key).items()
            value: Any = {field: self._again(data) for field, data in fields}
        else:
            text = self._text(row)
            value = None if text is None else self._again(text)
            value = value.decode() if kind == DOCUMENT and value is not None else value
        return (
            Key(self._renamed_key(key), KINDS[kind], value, ends[key], how=How.KEPT, row=row)
            if value
            else None
        )

    def _again(self, data: bytes) -> bytes:
        """Give a state as one of the new thread; what is none as it is."""
        held = document_of(data)
        if held.why:
            return data
        return with_value(data, held.value, renamed(held.value, self.before, self.after))

    def _listed(self, past: Sequence[int], named: Sequence[int], end: int | None) -> Iterator[Key]:
        """Give the key that lists the past, where the original has one and something is past."""
        listing = self._thread.listing
        (kind,) = self._keys.kinds([listing])
        name = self._renamed_key(listing)
        if kind == ZSET and named:
            wanted = {str(self._places[row][0]) for row in named}
            members = [
                (self._member(member, wanted), score)
                for member, score in self._keys.members(listing)
            ]
            kept = [(member, score) for member, score in members if member is not None]
            yield Key(name, "zset", kept, end, How.KEPT)
        listed = sorted(int(self._places[row][2] or 0) for row in past if row not in named)
        if kind == LIST and listed:
            items = [self._again(self._item(listing, number)) for number in listed]
            yield Key(name, "list", items, end, How.KEPT)

    def _member(self, member: bytes, wanted: set[str]) -> bytes | None:
        """Give a member of the sorted set for the new thread, None for one that is left out."""
        text = member.decode(errors="surrogateescape")
        if text in wanted:
            return self._renamed_key(text).encode(errors="surrogateescape")
        # One may be nothing but the time.
        is_time = any(f"{self._thread.listing}:{text}" == key for key in wanted)
        return member if is_time else None

    def _item(self, listing: str, number: int) -> bytes:
        found = self._keys.items(listing, number, number)
        if not found:
            raise UsageError("the past of the thread has changed since", "open it again")
        return found[0]
