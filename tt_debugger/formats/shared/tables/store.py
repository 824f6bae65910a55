"""Stores of tables: the sessions in all tables of a database that hold checkpoints."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import SessionId
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted, summary_line
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.bad_texts import bad_texts_told
from tt_debugger.formats.shared.tables.documents import document_of, values_at
from tt_debugger.formats.shared.tables.index import Index, index_of
from tt_debugger.formats.shared.tables.layouts import (
    PERHAPS,
    Layout,
    layouts_of,
    told_by_columns,
)
from tt_debugger.formats.shared.tables.maps import MAPPED, map_of, mapped
from tt_debugger.formats.shared.tables.naming import Names, last_stored
from tt_debugger.formats.shared.tables.sessions import DocumentStore, index_held
from tt_debugger.formats.shared.transcript import no_session
from tt_debugger.storage.tables import Tables, Value
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan

MOST_TABLES = 32
"""Tables that are read of those which may hold checkpoints."""
_LOOKED_AT = 8
"""Rows that say whether a table holds documents."""


class TableStore(DocumentStore):
    """A database with tables of checkpoints; a format says how it is reached."""

    keeps_calls_whole: ClassVar[bool] = False

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._layouts: list[Layout] | None = None
        self._names = Names()
        self._unread: Sequence[Layout] = ()
        """Those of tables that may hold checkpoints as well, beyond the most that are read."""

    @classmethod
    @abstractmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether the location has such tables."""

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location. Raises CannotReadError."""
        store = cls(location)
        try:
            store.layouts()
        except BaseException:
            store.close()
            raise
        return store

    @abstractmethod
    def tables(self) -> Tables:
        """Give the tables as they were looked at last."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def layouts(self) -> Sequence[Layout]:
        """Give the layouts of the tables that hold checkpoints. Raises CannotReadError."""
        if self._layouts is None:
            self._layouts = self._told_layouts()
        return self._layouts

    def _told_layouts(self) -> list[Layout]:
        tables = self.tables()
        table_map = map_of(self.location)
        if table_map is not None and table_map.names_table:
            return [mapped(table_map, tables.tables)]
        found = layouts_of(tables.tables.values())
        sure = [each for each in found if each.score > PERHAPS]
        self._unread = (sure or found)[MOST_TABLES:]
        if sure:
            return sure[:MOST_TABLES]
        found = found[:MOST_TABLES]
        kept = [each for each in found if _holds_documents(tables, each)]
        if kept:
            return kept
        names = ", ".join(summary_line(f"{each.table}.{each.state}", 60) for each in found)
        raise CannotReadError(
            f"cannot read {self.location}: no table holds checkpoints"
            + (f"; no JSON objects are in {names}" if names else ""),
            "a map names the table and its columns: --map FILE.toml, see `ttdbg formats`",
        )

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of the sessions that were written last, newest last."""
        self.look()
        return self._names.newest(self.tables(), self.layouts())

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the ids that are or begin with a text, a few of them."""
        return self._names.beginning(self.tables(), self.layouts(), beginning)

    def index(self, session: SessionId) -> Index:
        """Read the index of a session. Raises CannotReadError where there is none."""
        tables = self.tables()
        # To look for one that was met is to go over a table twice, where it has no order.
        place = self._names.known(self.layouts(), session)
        index = None if place is None else index_of(tables, *place)
        if not index:
            place = self._names.place(tables, self.layouts(), session)
            if place is None:
                raise no_session(self.location, session)
            index = index_of(tables, *place)
        return index

    def damage(self) -> Iterator[Finding]:
        """Say what is wrong with the database, as far as it was read."""
        tables = self.tables()
        for each in tables.damage:
            yield finding(Code.UNREADABLE, each)
        if self._unread:
            count, first = counted(len(self._unread), "table"), self._unread[0].table
            what = (
                f"{count} that may hold checkpoints: not read, the first {summary_line(first, 40)}"
            )
            hint = "a map names the one that is wanted: --map FILE.toml"
            yield finding(Code.UNREADABLE, what, severity=Severity.WARNING, hint=hint)
        yield from bad_texts_told(tables)

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says. Raises UnsupportedError."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give the rows that a fork would add, under a name of its own.

        Raises UnsupportedError where the table names no sessions.
        """
        from tt_debugger.formats.shared.tables.forking import draft

        return draft(self.tables(), index_held(replay.session), replay, plan)

    def values(self, index: Index, rows: Sequence[int]) -> list[Value | LookupError]:
        """Give what the column of the state holds in some rows, an error for one that is gone."""
        return values_at(self.tables(), index, rows)


def match_of(location: str, tables: Mapping[str, Sequence[str]]) -> Match | None:
    """Give the claim to a database by the columns of its tables, or by the map for it."""
    table_map = map_of(location)
    if table_map is not None and table_map.names_table:
        return Match(MAPPED, f"the map {table_map.path} says what its tables hold")
    return told_by_columns(tables)


def _holds_documents(tables: Tables, layout: Layout) -> bool:
    """Tell whether the rows that were stored last hold JSON objects."""
    found = last_stored(tables, layout, (layout.state,), _LOOKED_AT)
    return any(not document_of(value).why for (value,) in found)
