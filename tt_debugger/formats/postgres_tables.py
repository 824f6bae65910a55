"""Tables of checkpoints in PostgreSQL that people made themselves, told by columns or a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tt_debugger.formats.shared.tables import TableStore, match_of
from tt_debugger.storage.probe import PostgresProbe
from tt_debugger.storage.servers import must_be_server
from tt_debugger.storage.tables import Tables
from tt_debugger.store import Match, Probe


class PostgresTables(TableStore):
    """The checkpoints in the tables of a database of PostgreSQL.

    A server does not tell whether there is news: it is asked again.
    """

    format: ClassVar[str] = "postgres_tables"
    about: ClassVar[str] = "tables of checkpoints or turns of one's own (PostgreSQL)"
    short: ClassVar[int] = 128

    def __init__(self, location: str) -> None:
        # Its driver is slow to import.
        from tt_debugger.storage.postgres import PostgresDatabase

        super().__init__(location)
        must_be_server(location)
        self._database = PostgresDatabase(location)
        self.location = self._database.location

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such tables by their columns, and any by a map."""
        is_database = isinstance(probe, PostgresProbe)
        return match_of(probe.location, dict(probe.tables)) if is_database else None

    def tables(self) -> Tables:
        """Give the database."""
        return self._database

    def look(self) -> object:
        """Tell nothing: only the rows tell whether there is news."""
        return None

    def watched(self) -> Sequence[str]:
        """Give no path: it is asked again."""
        return ()

    def close(self) -> None:
        """Let go of the connections."""
        self._database.close()


STORE = PostgresTables
