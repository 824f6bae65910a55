"""What a server of Redis promises of what it has taken, and how its word is waited for.

Facts are from the documents of WAIT, WAITAOF and persistence at redis.io: WAIT counts the replicas
that have what the same connection wrote, in memory and not on a disk; WAITAOF, from Redis 7.2 on,
waits for the append-only file. Neither makes of several servers one that agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tt_debugger.errors import CannotWriteError
from tt_debugger.record.backends.options import Consistency, Options
from tt_debugger.storage.redis_scripts import Command, RedisServer, told_by

ANSWER_WITHIN = 5_000
"""Milliseconds in which others have to say that they have an entry."""
_AGAIN = "append the same again: nothing is added twice"
_SYNCED = {
    b"always": "its append-only file is synced to the disk before it answers",
    b"everysec": "its append-only file is synced every second: a crash of its machine may lose the"
    " last one or two seconds",
    b"no": "its append-only file is synced when its system sees fit: a crash of its machine may"
    " lose half a minute",
}
_IN_MEMORY = "it keeps no append-only file: whatever ends it may lose all since its last snapshot"
_UNTOLD = "whether and when it writes to a disk it does not say (CONFIG is not allowed)"
_FAILOVER = "a failover may lose what was acknowledged"


class Promise(msgspec.Struct, frozen=True):
    """What is promised of an entry, in a sentence, and what must be waited for.

    `waiting` is sent behind what writes; of `replicas` at least `needed` have to answer.
    """

    text: str
    waiting: tuple[Command, ...] = ()
    needed: int = 0
    replicas: int = 0

    def must_hold(self, location: str, waited: Sequence[Any]) -> None:
        """Judge the answers to `waiting`. Raises CannotWriteError where they are too few."""
        for told in waited:
            if isinstance(told, list):
                if told[0] < 1:
                    raise CannotWriteError(
                        f"written to {location}, but not synced to its disk in time", _AGAIN
                    )
            elif told < self.needed:
                raise CannotWriteError(
                    f"written to the primary {location}, but {told} of {self.replicas} replicas"
                    f" said that they have it, and {self.needed} were waited for",
                    _AGAIN,
                )


def promise_of(server: RedisServer, options: Options) -> Promise:
    """Ask a server what it can promise.

    Raises CannotWriteError where that is a quorum and it has no replicas to ask, StoreError where
    no server answers.
    """
    kept = _persistence(server)
    ends = "" if options.ttl is None else f"; {options.ttl} s after the last entry all is gone"
    more = f"; {kept}; {_FAILOVER}{ends}"
    match options.consistency:
        case Consistency.QUORUM:
            replicas = _replicas(server)
            if not replicas:
                raise CannotWriteError(
                    f"{server.location} has no replicas that could answer for a quorum",
                    "connect one, or record with the consistency sync or async",
                )
            needed = replicas // 2 + 1
            text = (
                f"an entry is in the memory of the primary and of {needed} of the {replicas}"
                " replicas that it had when the log was opened (WAIT), which syncs no disk"
            )
            waiting = (("WAIT", needed, ANSWER_WITHIN),)
            return Promise(f"{text}{more}", waiting, needed, replicas)
        case Consistency.SYNC:
            waiting = (("WAITAOF", 1, 0, ANSWER_WITHIN),)
            if server.answer_if_any(("WAITAOF", 1, 0, 1)) is None:
                text = "an entry is in the memory of the primary, which cannot be asked for more"
                return Promise(f"{text}{more}")
            text = "an entry is on the disk of the primary (WAITAOF)"
            return Promise(f"{text}; {_FAILOVER}{ends}", waiting)
        case Consistency.ASYNC | None:
            return Promise(f"an entry is in the memory of the primary{more}")


def _persistence(server: RedisServer) -> str:
    """Say when the primary writes to its disk."""
    settings = [
        server.answer_if_any(("CONFIG", "GET", name)) for name in ("appendonly", "appendfsync")
    ]
    if not all(settings):
        return _UNTOLD
    (_, is_kept), (_, policy) = settings
    return _SYNCED.get(policy, _UNTOLD) if is_kept == b"yes" else _IN_MEMORY


def _replicas(server: RedisServer) -> int:
    """Tell how many replicas are connected; 0 where the server does not say."""
    told = told_by(server.answer_if_any(("INFO", "replication")) or b"")
    count = told.get("connected_slaves", "")
    return int(count) if count.isdigit() else 0
