"""LangGraph's checkpoints in PostgreSQL: of PostgresSaver since 1.0, and of its shallow twin.

Three tables: `checkpoints` with bodies of JSON that hold small values alone, `checkpoint_blobs`
with all others, which rows and branches share, and `checkpoint_writes`.
"""

from __future__ import annotations

from typing import ClassVar

from tt_debugger.formats.langgraph_postgres.threads import PostgresThreads, schemas_of
from tt_debugger.formats.shared.langgraph import LangGraphStore, Serde, Threads
from tt_debugger.storage.probe import PostgresProbe
from tt_debugger.store import Match, Probe


class LangGraphPostgres(LangGraphStore):
    """The threads in a database of a server."""

    format: ClassVar[str] = "langgraph_postgres"
    about: ClassVar[str] = "LangGraph threads in PostgreSQL"
    verified: ClassVar[str] = "every state compared with LangGraph's own get_state_history()"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its tables."""
        if isinstance(probe, PostgresProbe) and schemas_of(dict(probe.tables)):
            return Match(95, "tables of LangGraph checkpoints")
        return None

    @classmethod
    def threads_at(cls, location: str, serde: Serde) -> Threads:
        """Connect to the server. Raises CannotReadError."""
        return PostgresThreads(location, serde)


STORE = LangGraphPostgres
