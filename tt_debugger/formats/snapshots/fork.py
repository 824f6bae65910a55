"""Forks of states: the states up to a point, and behind them the one that is wanted.

A fork is a session of its own: all its states name it, and nothing else in them is other than it
was. Where a file is one state, so is the fork, whether that file stood in a folder or alone.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.between import is_same, keys_between
from tt_debugger.core.fork.minting import uuid4
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, NewFile, Record
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_documents import fork_name, lost_told, read_back
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    Holds,
    as_line,
    place_for,
    refuse_target,
)
from tt_debugger.formats.shared.fork_states import (
    chosen_session,
    is_uuid,
    name_of_fork,
    renamed,
    told_session,
)
from tt_debugger.formats.shared.forked_entries import more_lines
from tt_debugger.formats.shared.json_text import with_value
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.states import own_id_of, said_of, session_of
from tt_debugger.formats.snapshots.reading import SnapshotReading
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import CHUNK

_ONE_OF_MANY = ("the fork is one file with one state; those before it stay where they are",)


class Form(enum.Enum):
    """How states stand at a location."""

    ONE = "one"
    """One in a file, of which a folder has several."""
    LIST = "list"
    LINES = "lines"


def draft(store: Holds, form: Form, lead: bytes | None, replay: Replay, plan: Plan) -> Draft:
    """Give what a fork of states would write. Raises UnsupportedError.

    `lead` is the white space before the first state of a list, None where there is no list.
    """
    if plan.in_place:
        return _in_place(store, form, replay.session, plan)
    making = _Making(store, replay.session, plan)
    kept = [] if form is Form.ONE else making.kept()
    if form is Form.ONE or plan.edits:
        kept.append(making.wanted(is_behind=form is not Form.ONE))
    is_alone = form is Form.ONE and len(replay.session) > 1
    suffix = ".json" if form is Form.ONE else None
    path = place_for(store.location, fork_name(store.location, plan.fresh, suffix), plan.target)
    records = _lined(kept) if lead is None else _listed(kept, lead)
    reading = SnapshotReading(path)
    if making.is_named and (form is not Form.ONE or session_of(plan.wanted)):
        reading.wanted = SessionId(making.name)
    data = b"".join(each.data for each in records)
    session = read_back(reading, data, is_document=form is not Form.LINES)
    if session.active is None:
        raise UnsupportedError(
            "with that edit the states would be read as those of another session",
            "leave what names the session as it is",
        )
    return Draft(
        writes=(NewFile(path, tuple(records)),),
        location=path,
        session=session.id,
        point=session.ids[session.active],
        resume_command=_READ[form].format(path),
        notes=_ONE_OF_MANY if is_alone else lost_told(replay.session, plan.row),
        own=making.own,
    )


class _Making:
    """The states of a fork: those on the way to its point, and the one that is wanted."""

    def __init__(self, store: Holds, session: Session, plan: Plan) -> None:
        self._store, self._session, self._plan = store, session, plan
        self._path = session.tree.path_to(plan.row)
        self._bodies = [as_map(each) for each in store.bodies(session, self._path)]
        self.is_named = any(session_of(each) == session.id for each in self._bodies)
        """Whether a state says which session it is of: else the name of the file does."""
        self.before = session.id if self.is_named else told_session(plan.state) or ""
        self.name = self.before
        if self.before and not plan.in_place:
            self.name = chosen_session(plan) or name_of_fork(self.before, plan.fresh)
        self.own: tuple[str, ...] = ()
        self.own_id: str | None = None
        """The id that the wanted state was given, None where states have none."""

    def kept(self) -> list[Record]:
        """Give the states up to the point."""
        return [self._kept(*each) for each in zip(self._path, self._bodies, strict=True)]

    def _kept(self, row: int, state: dict[str, Any]) -> Record:
        data = with_value(self._raw(row), state, self._renamed(state))
        if row == self._plan.row and not self._plan.edits:
            self.own = keys_between(state, self._renamed(state))
        return Record(data, How.KEPT, row)

    def wanted(self, *, is_behind: bool) -> Record:
        """Give the wanted state; one that stands behind the point has an id of its own."""
        plan = self._plan
        state = self._renamed(as_map(plan.wanted))
        if is_behind:
            state = self._behind(state)
        self.own = keys_between(plan.wanted, state)
        how = How.CHANGED if plan.edits else How.KEPT
        data = with_value(self._raw(plan.row), as_map(plan.state), state)
        return Record(data, how, plan.row)

    def _behind(self, state: dict[str, Any]) -> dict[str, Any]:
        """Give the wanted state with an id of its own, hanging on the point, if states do so."""
        plan = self._plan
        before: dict[str, Any] = as_map(plan.state)
        own, keys = own_id_of(before), _keys(before, _is_own_id)
        parents = _keys(before, _is_parent)
        above = own_id_of(self._bodies[-2]) if len(self._bodies) > 1 else None
        # What other states have too, or may have, is the id of something else.
        has_id = isinstance(own, str) and own != above
        has_id = has_id and bool(above or parents or keys != ["id"])
        for key in (*parents, *(keys if has_id else ())):
            if key not in state or not is_same(state[key], before[key]):
                raise UnsupportedError(
                    f"{key} cannot be edited: it is told by where the fork goes on from",
                    "name the checkpoint to fork from by its ref",
                )
        if not has_id:
            return state
        self.own_id = uuid4(plan.fresh) if is_uuid(str(own)) else plan.fresh(4).hex()
        news = dict.fromkeys((key for key in keys if before[key] == own), self.own_id)
        return {**state, **news, **dict.fromkeys(parents, own)}

    def _renamed(self, state: dict[str, Any]) -> dict[str, Any]:
        return renamed(state, self.before, self.name)

    def _raw(self, row: int) -> bytes:
        return self._store.raw(self._session, row).removeprefix(BYTE_ORDER_MARK).strip()


def _keys(state: dict[str, Any], tells: Callable[[str], bool]) -> list[str]:
    return [key for key in state if tells(key)]


def _is_own_id(key: str) -> bool:
    return own_id_of({key: True}) is not None


def _is_parent(key: str) -> bool:
    return said_of({key: None}).has_parent_key


def _in_place(store: Holds, form: Form, session: Session, plan: Plan) -> Draft:
    """Give a draft that adds the wanted state to the file itself."""
    refuse_target(plan)
    if form is not Form.LINES:
        raise UnsupportedError(
            "only a file with a state on each line can have one added to it",
            WITHOUT_IN_PLACE,
        )
    has_parent = any(_keys(as_map(plan.state), _is_parent))
    if not has_parent and plan.row != session.active:
        raise UnsupportedError(
            "a state at the end of the file would hang on the last one: it names no parent",
            WITHOUT_IN_PLACE,
        )
    if chosen_session(plan) is not None:
        raise UnsupportedError(
            "a state that names another session is no branch of this one",
            WITHOUT_IN_PLACE,
        )
    making = _Making(store, session, plan)
    record = making.wanted(is_behind=True)
    line = msgspec.structs.replace(record, data=as_line(record.data))
    more = more_lines(store.location, (line,), "the agent")
    return Draft(
        writes=(more,),
        location=store.location,
        session=session.id,
        point=making.own_id or f"L{_lines_in(store.location) + 1}",
        resume_command=_READ[form].format(store.location),
        own=making.own,
    )


def _lines_in(location: str) -> int:
    file, place, count = RegularFile(location), 0, 0
    try:
        while data := file.read(place, CHUNK):
            place, count = place + len(data), count + data.count(b"\n")
    finally:
        file.close()
    return count


def _listed(records: Sequence[Record], lead: bytes) -> list[Record]:
    """Give states as the items of a list, with some white space before each."""
    last = len(records) - 1
    framed: list[Record] = []
    for place, each in enumerate(records):
        before = (b"," if place else b"[") + lead
        after = b"" if place < last else b"\n]\n" if b"\n" in lead else b"]\n"
        framed.append(msgspec.structs.replace(each, data=before + each.data + after))
    return framed


def _lined(records: Sequence[Record]) -> list[Record]:
    return [msgspec.structs.replace(each, data=as_line(each.data)) for each in records]


_READ = {
    Form.ONE: "state = json.load(open({!r}))",
    Form.LIST: "state = json.load(open({!r}))[-1]",
    Form.LINES: "state = json.loads(open({!r}).readlines()[-1])",
}
"""How a program takes the state from the fork: no agent is known that does."""
