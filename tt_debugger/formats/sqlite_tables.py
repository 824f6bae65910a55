"""Tables of checkpoints in SQLite that people made themselves, told by their columns or a map."""

from __future__ import annotations

from collections.abc import Sequence
from time import time_ns
from typing import ClassVar

from tt_debugger.formats.shared.tables import TableStore, match_of
from tt_debugger.storage.probe import DatabaseProbe
from tt_debugger.storage.settling import has_settled
from tt_debugger.storage.sqlite import Database, look_at, sides_of
from tt_debugger.storage.tables import Tables
from tt_debugger.store import Match, Probe


class SqliteTables(TableStore):
    """The checkpoints in the tables of a SQLite database."""

    format: ClassVar[str] = "sqlite_tables"
    about: ClassVar[str] = "tables of checkpoints or turns of one's own (SQLite)"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._is_sure = False
        """Whether whatever was written since it was opened shows in how the files look."""
        self._database = self._opened()

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such tables by their columns, and any by a map."""
        is_database = isinstance(probe, DatabaseProbe)
        return match_of(probe.location, dict(probe.tables)) if is_database else None

    def tables(self) -> Tables:
        """Give the database as it was looked at last."""
        return self._database

    def look(self) -> object:
        """Open the database anew where it has changed; give how it looks."""
        seen = look_at(self.location)
        is_due = not self._is_sure and has_settled(time_ns(), *seen.times)
        if seen != self._database.seen or is_due:
            old, self._database = self._database, self._opened()
            old.close()
            self._layouts = None
        return self._database.seen if self._is_sure else None

    def watched(self) -> Sequence[str]:
        """Give the database and the files beside it, to which is written first."""
        return (self.location, *map(str, sides_of(self.location)))

    def _opened(self) -> Database:
        begin = time_ns()
        database = Database(self.location)
        self._is_sure = has_settled(begin, *database.seen.times)
        return database

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()


STORE = SqliteTables
