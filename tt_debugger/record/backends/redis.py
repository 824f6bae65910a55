"""The log in Redis: a list of entries, added to by a script that the server runs as a whole.

The script adds nothing where the list is not as long as its writer knows it to be, so that of two
writers the second one is refused. `core.recording.keys` has the names of the keys; that of the
session itself holds the state of its newest snapshot, which is where others look for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import msgspec

from tt_debugger.core.recording.entries import (
    Entry,
    Header,
    Snapshotted,
    decoded,
    decoded_header,
    encoded,
    encoded_header,
)
from tt_debugger.core.recording.keys import Named
from tt_debugger.core.refs import quoted
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.redis_promises import promise_of
from tt_debugger.record.backends.thinning import (
    REFUSED,
    effects_known,
    must_hold_together,
    written_since,
)
from tt_debugger.storage.redis_scripts import Command, RedisServer

PAGE = 64
"""Entries that are asked for at once."""
_SHORTLY = 3_600
"""Seconds after which what an unfinished thinning has left behind is forgotten."""

_KEEP = """
for _, key in ipairs(KEYS) do
  if ARGV[1] == '' then redis.call('PERSIST', key) else redis.call('EXPIRE', key, ARGV[1]) end
end
"""
_BEGIN = f"""
if redis.call('EXISTS', unpack(KEYS)) > 0 then
  if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return 0 end
  if redis.call('GET', KEYS[1]) ~= ARGV[2] or redis.call('EXISTS', KEYS[2]) > 0 then return 0 end
end
redis.call('SET', KEYS[1], ARGV[2])
{_KEEP}
return 1
"""
# A script is no transaction: what was done before an error stays. The first command that writes
# is refused by a server that has no room or is no primary, and those after it are not.
_APPEND = f"""
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return -1 end
local length = redis.call('LLEN', KEYS[2])
if length ~= tonumber(ARGV[3]) then return length end
for first = 5, #ARGV, 1000 do
  redis.call('RPUSH', KEYS[2], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if #ARGV == 4 then redis.call('SET', KEYS[1], ARGV[2]) end
if ARGV[4] ~= '' then redis.call('SET', KEYS[3], ARGV[4]) end
{_KEEP}
return 'added'
"""
_RENAME = f"""
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return -1 end
local length = redis.call('LLEN', KEYS[2])
if length ~= tonumber(ARGV[3]) then return length end
redis.call('RENAME', KEYS[4], KEYS[2])
if ARGV[4] ~= '' then redis.call('SET', KEYS[3], ARGV[4]) end
{_KEEP}
return 'added'
"""
_DONE = b"added"
_GONE = (
    "entries are gone: they were deleted or thinned, their time has ended, or another server took"
    " over without them"
)
_AGAIN = "open it again to read what is there"


class _Own(msgspec.Struct):
    id: str


class RedisLog:
    """The log of one session in a database of a server."""

    def __init__(self, server: RedisServer, options: Options) -> None:
        named = Named(options.tenant, options.session)
        self.location = f"{server.location}#{quoted(named.shown)}:"
        self.header: Header | None = None
        self._server = server
        self._named = named
        self._keys = (named.header, named.turns, named.state)
        self._ttl = "" if options.ttl is None else str(options.ttl)
        self._head = b""
        self._promise = promise_of(server, options)
        self.durability = self._promise.text
        self._length = 0
        """How many entries the log has that are known to be written."""
        self._last: tuple[str, ...] | None = None
        """The ids of the entries that were written last; None where that is not sure."""

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open the log of a session, which need not be there yet.

        Raises CannotReadError for one that cannot be read, or whose header is none, StoreError
        where the driver is missing or no server answers, CannotWriteError where the server cannot
        promise what is asked for, and UsageError for a time to live that is none.
        """
        if options.ttl is not None and options.ttl < 1:
            raise UsageError(
                f"a session cannot be kept for {options.ttl} seconds", "give one or more, or None"
            )
        server = RedisServer(location)
        try:
            log = cls(server, options)
            log._take_up()
        except BaseException:
            server.close()
            raise
        return log

    def begin(self, header: Header) -> None:
        """Set the header. Raises CannotWriteError where keys of these names are there."""
        if self.header is not None:
            raise CannotWriteError(
                f"cannot begin {self.location}: it was begun already", "append to it"
            )
        head = encoded_header(header)
        if not self._script(_BEGIN, self._keys, head)[0]:
            raise CannotWriteError(
                f"cannot begin {self._named.shown!r} at {self._server.location}: a key"
                f" {self._named.state} or one of its parts is there already",
                "name another session, or open it again if another recorder has begun it",
            )
        self.header, self._head = header, head

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries, a page at a time. Raises CannotReadError for what is none."""
        end = self._length
        while end > 0:
            begin = max(0, end - PAGE)
            page = self._items(begin, end - 1)
            if len(page) < end - begin:
                raise CannotReadError(f"cannot read {self.location}: {_GONE}", _AGAIN)
            for place, data in zip(range(end, begin, -1), reversed(page), strict=True):
                yield self._entry(place, data)
            end = begin

    def append(self, entries: Sequence[Entry]) -> None:
        """Add the entries, in one step for everybody who reads.

        Raises CannotWriteError, also where as many replicas as were asked for did not say in
        time that they have them; UnsupportedError where the server has no scripts or is a part of
        a cluster.
        """
        if not entries:
            return
        last, self._last = self._last, None
        is_looked_up = last is None
        if last is None:
            left, length = self._left_of(entries)
        else:
            left, length = [each for each in entries if each.id not in last], self._length
        while True:
            added, *waited = self._script(
                _APPEND,
                self._keys,
                self._head,
                length,
                _state_of(left),
                *map(encoded, left),
                then=self._promise.waiting,
            )
            if added == _DONE:
                break
            if added == -1:
                raise self._lost()
            if is_looked_up:
                raise written_since(self._server.location)
            is_looked_up = True
            left, length = self._left_of(entries)
        self._promise.must_hold(self._server.location, waited)
        self._length = length + len(left)
        self._last = tuple(each.id for each in entries)

    def thin(self, kept: Mapping[str, Entry]) -> int:
        """Keep some entries alone; see `Thins`."""
        newest_first = list(self.newest_first())
        names = [each.id for each in reversed(newest_first)]
        must_hold_together(names, kept, effects_known(newest_first))
        stay = [kept[name] for name in names if name in kept]
        if not stay:
            return 0
        made = f"{self._named.state}:thinned:{secrets.token_hex(8)}"
        for begin in range(0, len(stay), PAGE):
            page = map(encoded, stay[begin : begin + PAGE])
            self._server.written(("RPUSH", made, *page), ("EXPIRE", made, _SHORTLY))
        renamed, *waited = self._script(
            _RENAME,
            (*self._keys, made),
            self._head,
            self._length,
            _state_of(stay),
            then=self._promise.waiting,
        )
        if renamed != _DONE:
            with suppress(CannotWriteError):
                self._server.written(("DEL", made))
            raise self._lost() if renamed == -1 else written_since(self._server.location)
        self._length, self._last = len(stay), None
        self._promise.must_hold(self._server.location, waited)
        return len(names) - len(stay)

    def close(self) -> None:
        """Let go of the connection."""
        self._server.close()

    def _take_up(self) -> None:
        head, length = self._server.answers(("GET", self._keys[0]), ("LLEN", self._keys[1]))
        if head is None:
            return
        try:
            self.header = decoded_header(head)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CannotReadError(
                f"{self.location} is no recording: what {self._keys[0]} holds is no header",
                "name another session",
            ) from error
        self._head, self._length = head, length

    def _left_of(self, entries: Sequence[Entry]) -> tuple[list[Entry], int]:
        """Give what of some entries is not in the log, and how long it is with the others.

        Raises CannotWriteError where there are those of another writer.
        """
        begin = max(0, self._length - len(entries))
        # One more than there can be tells that there is somebody else.
        asked = ("LRANGE", self._keys[1], begin, self._length + len(entries))
        (items,) = self._server.written(asked)
        names = [self._name(data) for data in items]
        if len(names) < self._length - begin:
            raise self._lost()
        known, since = names[: self._length - begin], names[self._length - begin :]
        left = [each for each in entries if each.id not in known]
        if since != [each.id for each in left[: len(since)]]:
            raise written_since(self._server.location)
        return left[len(since) :], self._length + len(since)

    def _items(self, first: int, last: int) -> list[bytes]:
        (items,) = self._server.answers(("LRANGE", self._keys[1], first, last))
        return items

    def _entry(self, place: int, data: bytes) -> Entry:
        try:
            return decoded(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CannotReadError(
                f"cannot read {self.location}: item {place} of {self._keys[1]} is no entry",
                "look at it with `ttdbg doctor`, or fork to a session of its own",
            ) from error

    def _name(self, data: bytes) -> str | None:
        try:
            return msgspec.json.decode(data, type=_Own).id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _script(
        self,
        script: str,
        keys: Sequence[str],
        *arguments: str | bytes | int,
        then: Sequence[Command] = (),
    ) -> list[Any]:
        """Run a script; give its answer and those to what is sent behind it.

        It is the same connection: a server waits for what that one has written.
        """
        run = ("EVAL", script, len(keys), *keys, self._ttl, *arguments)
        return self._server.written(run, *then)

    def _lost(self) -> CannotWriteError:
        return CannotWriteError(f"cannot write to {self.location}: {_GONE}", REFUSED)


def _state_of(entries: Sequence[Entry]) -> bytes:
    """Give the state of the newest snapshot among some entries as JSON; nothing without one."""
    found = (each.state for each in reversed(entries) if isinstance(each, Snapshotted))
    return next((msgspec.json.encode(state) for state in found), b"")
