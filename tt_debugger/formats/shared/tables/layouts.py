"""Layouts: which table holds checkpoints, and which of its columns says what.

Two layouts are well known: a row for each thread, with its past in rows that are named after it,
and a row for each turn. Others are told by the names that such columns have everywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from tt_debugger.core.text import summary_line
from tt_debugger.storage.tables import Table
from tt_debugger.store import Match

WELL_KNOWN = 88
"""The score of a table that has the columns of one of the two."""
PERHAPS = 21
"""The score of a table that is told by the names of its columns; its rows may say otherwise."""

_SESSIONS = ("session_id", "thread_id", "conversation_id", "run_id", "chat_id")
_STATES = (
    *("state_json", "state", "snapshot", "checkpoint", "state_data", "checkpoint_data"),
    *("payload", "data", "body"),
)
_ORDERS = (
    *("step", "turn", "turn_number", "step_number", "seq", "sequence", "sequence_number"),
    *("index", "idx", "turn_index", "step_index"),
)
_TIMES = ("written_at", "updated_at", "saved_at", "timestamp", "ts", "created_at")
_IDS = ("checkpoint_id", "snapshot_id", "state_id", "turn_id", "id")
_PARENTS = ("parent_checkpoint_id", "parent_id", "parent")
_VERSIONS = ("schema_version", "state_version")
_TOOLS = ("tool_name", "tool")
_PAYLOADS = ("payload", "data", "body")
_VERSION = "version"
_HASHES = ("input_hash", "output_hash")
_HISTORY_COLUMNS = frozenset(("threadid", "statejson", "schemaversion"))
_TURN_COLUMNS = frozenset(("sessionid", "turnnumber", "payload"))


class Form(enum.Enum):
    """What a row of a table is."""

    STATES = "states"
    """A state of a session, of which there may be many."""
    HISTORY = "history"
    """The state of a thread as it is, or, with a time behind its name, as it was."""
    TURNS = "turns"
    """A turn of a session, with what went in and came out."""


class Layout(msgspec.Struct, frozen=True):
    """Which columns of a table say what; None for what none says."""

    table: str
    form: Form
    state: str
    session: str | None = None
    id: str | None = None
    parent: str | None = None
    order: str | None = None
    times: tuple[str, ...] = ()
    """Of these, the first that has a value says when a row was written."""
    version: str | None = None
    tool: str | None = None
    hashes: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    """The columns by whose values a row is found again."""
    is_keyed: bool = False
    """Whether the table itself promises that no two rows have the same."""
    is_in_order: bool = False
    """Whether rows come as they were stored where no order is asked for."""
    score: int = PERHAPS

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the index: all but the states, each once."""
        own = (self.session, self.id, self.parent, self.order, *self.times, self.version)
        named = (*self.key, *own, self.tool, *self.hashes)
        return tuple(dict.fromkeys(each for each in named if each is not None))


def layouts_of(tables: Iterable[Table]) -> list[Layout]:
    """Give the layouts of all tables that look like checkpoints, those that surely are first."""
    found = (layout_of(each) for each in tables)
    return sorted((each for each in found if each is not None), key=lambda each: -each.score)


def layout_of(table: Table) -> Layout | None:
    """Give the layout of a table by the names of its columns, None for any other table."""
    names = _Names(table.columns)
    session, state = names.first(_SESSIONS), names.first(_STATES)
    if session is None or state is None:
        return None
    order, version = names.first(_ORDERS), names.first(_VERSIONS)
    # A version counts states, unless something else does.
    plain = names.first((_VERSION,))
    if order is None and plain is not None and version is not None:
        order = plain
    elif version is None:
        version = plain
    parent, tool = names.first(_PARENTS), names.first(_TOOLS)
    times = tuple(filter(None, (names.first((each,)) for each in _TIMES)))
    is_history = names.has(_HISTORY_COLUMNS) or (
        table.key == (session,) and order is None and parent is None
    )
    hashes = tuple(filter(None, (names.first((each,)) for each in _HASHES)))
    is_turns = order is not None and names.first(_PAYLOADS) == state and bool(tool or hashes)
    if is_turns or (names.has(_TURN_COLUMNS) and names.first(("turn_id",))):
        form = Form.TURNS
    else:
        form = Form.HISTORY if is_history else Form.STATES
    known = _TURN_COLUMNS if form is Form.TURNS else _HISTORY_COLUMNS
    score = WELL_KNOWN if names.has(known) else PERHAPS
    if score == PERHAPS and not (order or times or parent or is_history):
        return None
    layout = Layout(
        table=table.name,
        form=form,
        state=state,
        session=session,
        id=names.first(_IDS),
        parent=parent,
        order=order,
        times=times,
        version=version,
        tool=tool,
        hashes=hashes if form is Form.TURNS else (),
        score=score,
    )
    return keyed(layout, table)


def keyed(layout: Layout, table: Table) -> Layout:
    """Say how a row of the table is found again: by its key, or else by what is known of it."""
    own = (layout.id,) if layout.id else (layout.order, *layout.times)
    if layout.form is Form.HISTORY:
        # There the name of the session says which of its states a row holds.
        key = (layout.session, *(each for each in table.key if each != layout.session))
    else:
        key = table.key or (layout.session, *own)
    return msgspec.structs.replace(
        layout,
        key=tuple(filter(None, key)),
        is_keyed=bool(table.key),
        is_in_order=table.row_id is not None,
    )


def told_by_columns(tables: Mapping[str, Sequence[str]]) -> Match | None:
    """Give how surely there are checkpoints in tables, of which the columns are known."""
    found = layouts_of(Table(name, tuple(columns)) for name, columns in tables.items())
    if not found:
        return None
    best = found[0]
    name = summary_line(best.table, 40)
    if best.score == WELL_KNOWN:
        what = "a turn" if best.form is Form.TURNS else "the state of a thread"
        return Match(WELL_KNOWN, f"the table {name} has {what} in each row")
    columns = ", ".join(summary_line(each, 40) for each in (best.session, best.state) if each)
    return Match(PERHAPS, f"perhaps checkpoints, by the columns {columns} of {name}")


class _Names:
    """The names of columns, which people write in several ways."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._names = {_plain(each): each for each in columns}

    def first(self, wanted: Iterable[str]) -> str | None:
        """Give the first of some names that there is, as it is written here."""
        return next(self._found(wanted), None)

    def _found(self, wanted: Iterable[str]) -> Iterator[str]:
        return (self._names[name] for name in map(_plain, wanted) if name in self._names)

    def has(self, names: frozenset[str]) -> bool:
        return names <= self._names.keys()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
