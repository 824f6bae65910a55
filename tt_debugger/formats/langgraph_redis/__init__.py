"""LangGraph's checkpoints in Redis: of RedisSaver, and of its shallow twin.

Each checkpoint is a JSON document with all its values, and so is each write. What a key says of a
thread is ambiguous, as both may have colons: only the documents tell.
"""

from __future__ import annotations

from typing import ClassVar

from tt_debugger.formats.langgraph_redis.threads import CHECKPOINT, RedisThreads
from tt_debugger.formats.shared.langgraph import LangGraphStore, Serde, Threads
from tt_debugger.storage.keys import DOCUMENT
from tt_debugger.storage.probe import RedisProbe
from tt_debugger.storage.redis import RedisKeys
from tt_debugger.store import Match, Probe


class LangGraphRedis(LangGraphStore):
    """The threads in a database of a server."""

    format: ClassVar[str] = "langgraph_redis"
    about: ClassVar[str] = "LangGraph threads in Redis"
    verified: ClassVar[str] = "states compared with LangGraph's own get_state_history()"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the kind of its keys: others have the same names for theirs."""
        if isinstance(probe, RedisProbe) and any(
            key.startswith(CHECKPOINT) and kind == DOCUMENT for key, kind in probe.keys
        ):
            return Match(95, "documents that are LangGraph checkpoints")
        return None

    @classmethod
    def threads_at(cls, location: str, serde: Serde) -> Threads:
        """Connect to the server. Raises CannotReadError."""
        return RedisThreads(RedisKeys(location), serde)


STORE = LangGraphRedis
