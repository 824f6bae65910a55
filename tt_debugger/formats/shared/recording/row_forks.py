"""Forks of recordings in tables: rows of a new session, or a branch in the session itself.

A new session begins with a snapshot of the state that is wanted and of all that is known of
effects, and its header says which session it goes on from: nothing is copied. A branch is a
`fork` entry that hangs on the point, and a change where something was edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec

from tt_debugger.core.between import changes_between, is_same
from tt_debugger.core.fork.minting import stamp
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, Insert, NewRows
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    Changed,
    Continues,
    EffectNoted,
    Entry,
    Forked,
    Header,
    Snapshotted,
    encoded,
    encoded_header,
)
from tt_debugger.core.recording.naming import session_name
from tt_debugger.core.recording.restoring import Restored, effect_noted, restored
from tt_debugger.core.refs import quoted
from tt_debugger.core.replay import Body, Replay
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.fork_rows import copy_for
from tt_debugger.formats.shared.fork_states import name_of_fork
from tt_debugger.formats.shared.recording.rules import Memo
from tt_debugger.storage.servers import is_server
from tt_debugger.storage.tables import Tables

_SESSION = ("tenant", "session_id")
_TURN = (*_SESSION, "checkpoint_id")
_STATE = ("tenant", "thread_id", "checkpoint_id")


class Original(msgspec.Struct, frozen=True):
    """The session that is forked: where it is, and all its entries without their states."""

    tables: Tables
    tenant: str
    session: str
    stateless: Sequence[Mapping[str, Any]]


def draft(original: Original, newest_first: Iterator[Body], replay: Replay, plan: Plan) -> Draft:
    """Give all that a fork would write. Raises UnsupportedError, UsageError.

    `newest_first` gives all entries of the original with their states, as far as it is asked.
    """
    if not isinstance(plan.wanted, dict):
        raise UsageError("the state of a recording is an object", "edit what is in it")
    location = original.tables.location
    copy = copy_for(location, plan)
    making = _Making(original, replay, plan)
    inserts = tuple(making.branch(newest_first) if plan.in_place else making.anew())
    location = copy or location
    return Draft(
        (NewRows(original.tables.location, inserts, copy),),
        location,
        session_name(original.tenant, making.session),
        making.entries[-1].id,
        _resumed(location, original.tenant, making.session),
        tuple(making.notes()),
    )


class _Making:
    """The rows of a fork."""

    def __init__(self, original: Original, replay: Replay, plan: Plan) -> None:
        self.session = original.session
        self.entries: list[Entry] = []
        self._original = original
        self._replay = replay
        self._plan = plan
        readable = list(_readable(original.stateless))
        self._effects = _effects(readable)
        self._unread = len(original.stateless) - len(readable)
        self._time = stamp(plan.time)

    def anew(self) -> Iterator[Insert]:
        """Give the rows of a session of its own."""
        session, plan = self._replay.session, self._plan
        after = session.ids[plan.row]
        location = f"{self._original.tables.location}#{quoted(session.id)}:"
        self.session = name_of_fork(self.session, plan.fresh)
        header = Header(
            self.session, self._time, title=session.title, continues=Continues(location, after)
        )
        values = {
            "header": encoded_header(header).decode(),
            "schema_version": header.schema_version,
            "created_at": self._time,
        }
        yield Insert("agent_sessions", {**self._named("session_id"), **values}, _SESSION)
        self._add(self._whole(None))
        yield from self._rows(0, _SESSION, ("tenant", "thread_id"))

    def branch(self, newest_first: Iterator[Body]) -> Iterator[Insert]:
        """Give the rows of a branch in the session itself."""
        plan, point = self._plan, self._replay.session.ids[self._plan.row]
        self._add(Forked(self._fresh_id(), point, self._time, note=plan.note))
        changes = changes_between(plan.state, plan.wanted)
        if changes:
            parent = self.entries[-1].id
            self._add(Changed(self._fresh_id(), parent, self._time, "edit", changes=changes))
        if not self._goes_on(newest_first):
            self._add(self._whole(self.entries[-1].id))
        yield from self._rows(self._last(), _TURN, _STATE)

    def notes(self) -> Iterator[str]:
        """Say what one may not expect."""
        if not self._plan.in_place:
            yield "what came before stays in the session that it goes on from"
        if self._unread:
            what = counted(self._unread, "entry", "entries")
            yield f"{what} cannot be read: what is said there of effects is not known"
        unknown = sum(each.status is Status.UNKNOWN for each in self._effects.values())
        if unknown:
            what = counted(unknown, "effect")
            yield f"of {what} nobody knows whether they happened: the recorder says so"

    def _whole(self, parent: str | None) -> Snapshotted:
        memo: Memo = self._replay.memo(self._plan.row)
        return Snapshotted(
            self._fresh_id(),
            parent,
            self._time,
            "fork",
            state=self._plan.wanted,
            version=memo.version,
            effects=tuple(self._effects.values()),
            why="moved",
        )

    def _goes_on(self, newest_first: Iterator[Body]) -> bool:
        """Tell whether the recorder restores what is wanted, and knows all effects."""
        try:
            found = restored(chain(reversed(self.entries), map(_read, newest_first)))
        except (LookupError, TypeError, AttributeError, msgspec.ValidationError):
            # What cannot be read or made is left out here, but stops the recorder.
            return False
        return (
            isinstance(found, Restored)
            and is_same(found.state, self._plan.wanted)
            and dict(found.effects) == self._effects
        )

    def _rows(
        self, last: int, turn_key: tuple[str, ...], state_key: tuple[str, ...]
    ) -> Iterator[Insert]:
        for number, entry in enumerate(self.entries, last + 1):
            plain = entry
            if isinstance(entry, Snapshotted):
                plain = msgspec.structs.replace(entry, state=None)
                state = {
                    "checkpoint_id": entry.id,
                    "parent_id": entry.parent,
                    "state_json": msgspec.json.encode(entry.state).decode(),
                    "schema_version": entry.version,
                    "created_at": entry.time,
                    "updated_at": entry.time,
                }
                yield Insert("checkpoints", {**self._named("thread_id"), **state}, state_key)
            turn = {
                "turn_number": number,
                "checkpoint_id": entry.id,
                "parent_id": entry.parent,
                "kind": str(entry.__struct_config__.tag),
                "payload": encoded(plain).decode(),
                "written_at": entry.time,
            }
            yield Insert("agent_turns", {**self._named("session_id"), **turn}, turn_key, How.ADDED)

    def _named(self, column: str) -> dict[str, str]:
        return {"tenant": self._original.tenant, column: self.session}

    def _last(self) -> int:
        """Give the number of the last turn of the session."""
        where = self._named("session_id")
        asked = self._original.tables.rows(
            "agent_turns",
            ("turn_number",),
            order=("turn_number",),
            where=where,
            most=1,
            descending=True,
        )
        number = next((value for (value,) in asked), 0)
        if isinstance(number, int):
            return number
        raise UnsupportedError("the turns of the session are not numbered")

    def _add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def _fresh_id(self) -> str:
        known = {each.id for each in self.entries}
        session = self._replay.session
        while (name := self._plan.fresh(8).hex()) in known or session.row_of(name) is not None:
            pass
        return name


def _read(body: Body) -> Entry:
    """Give an entry as the recorder reads it. Raises msgspec.ValidationError."""
    return msgspec.convert(body, Entry)


def _readable(bodies: Iterable[Body]) -> Iterator[Entry]:
    for body in bodies:
        with suppress(msgspec.ValidationError):
            yield _read(body)


def _effects(oldest_first: Iterable[Entry]) -> dict[str, Effect]:
    """Give what is known of effects, on whatever branch; what is done stays done."""
    known: dict[str, Effect] = {}
    for entry in oldest_first:
        if isinstance(entry, EffectNoted):
            known[entry.key] = effect_noted(known.get(entry.key), entry)
        elif isinstance(entry, Snapshotted):
            known |= {each.key: each for each in entry.effects}
    return known


def _resumed(location: str, tenant: str, session: str) -> str:
    """Give the lines of a program that goes on from a recording."""
    url = location if is_server(location) else f"sqlite:///{location}"
    words = f"{url!a}, session={session!a}" + (f", tenant={tenant!a}" if tenant else "")
    return f"from tt_debugger import Recorder\nrecorder = Recorder.open({words})"
