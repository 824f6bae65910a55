"""Redis: keys and values of a server that is only ever asked for what a closed list allows.

No command on the list writes, blocks, or runs a script; each is asked for a page at a time, and a
value is fetched only once its size is known. What the server or its driver says never gets into
an error: it may repeat the address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from tt_debugger.errors import StoreError
from tt_debugger.storage.keys import DOCUMENT, HASH, LIST, STRING, ZSET
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.refusals import PATIENCE, no_driver, refused_by_redis
from tt_debugger.storage.servers import REDIS, REDIS_TLS, SOCKET, address_of, admitted

if TYPE_CHECKING:
    import redis

CONNECT_WITHIN = 10

_READING = frozenset(
    (
        "HLEN",
        "HSCAN",
        "JSON.GET",
        "LLEN",
        "LRANGE",
        "GET",
        "MEMORY USAGE",
        "PTTL",
        "SCAN",
        "STRLEN",
        "TYPE",
        "ZCARD",
        "ZRANGE",
    )
)
"""All that a server is ever asked for."""
_PAGE = 512
"""Keys, or parts of a value, that are asked for at once."""
_SCANNED = 4_096
"""Keys that a server looks at for one page of those that match."""
_NOWHERE = "__ttdbg__"
"""A field that no document has."""
_PARTS = 64
"""Values that are asked for at once."""
_LENGTHS = {LIST: "LLEN", HASH: "HLEN", ZSET: "ZCARD"}
_OVERHEAD = 4
"""How many times its own text a document takes in the memory of a server, at most."""


class RedisKeys:
    """A database of a server; see `storage.keys.Keys`.

    Raises StoreError where no server answers, or it does not let us in.
    """

    def __init__(self, location: str) -> None:
        self.location = admitted(location)
        self.too_long: set[str] = set()
        # The driver's own types are not complete.
        self._client: Any = client_of(self.location)
        try:
            # Nothing is sent before something is asked.
            self._ask([("SCAN", "0", "COUNT", "1")])
        except BaseException:
            self.close()
            raise

    def keys(self, pattern: str = "*", *, most: int | None = None) -> Iterator[str]:
        """Go over the keys that match a pattern, each once, in no order."""
        given: set[bytes] = set()
        cursor = b"0"
        while True:
            asked = ("SCAN", cursor, "MATCH", _bytes(pattern), "COUNT", str(_SCANNED))
            cursor, page = cast("tuple[bytes, list[bytes]]", self._ask([asked])[0])
            for key in page:
                if key in given:
                    continue
                if most is not None and len(given) >= most:
                    return
                given.add(key)
                yield _text(key)
            if cursor == b"0":
                return

    def kinds(self, keys: Sequence[str]) -> list[str | None]:
        """Tell of which kind the values of keys are; None for a key that is gone."""
        told = self._of_each(keys, "TYPE")
        return [None if each == b"none" else _text(each) for each in told]

    def expiries(self, keys: Sequence[str]) -> list[int | None]:
        """Tell how many milliseconds keys still have; None for those without an end."""
        return [int(each) if each >= 0 else None for each in self._of_each(keys, "PTTL")]

    def strings(self, keys: Sequence[str]) -> list[bytes | None]:
        """Give the values of keys that hold a string."""
        return self._values(keys, STRING, "GET", "STRLEN", LONGEST)

    def documents(self, keys: Sequence[str], fields: Sequence[str] = ()) -> list[bytes | None]:
        """Give the JSON text of keys that hold a document, or of an object of some fields.

        Raises StoreError where the server lacks the module for it.
        """
        most = _OVERHEAD * LONGEST
        # A lone path would give its value without its name.
        paths = [f"$.{each}" for each in (*fields, _NOWHERE)] if fields else []
        found = self._values(keys, DOCUMENT, "JSON.GET", "MEMORY USAGE", most, paths)
        return [_of_paths(each) for each in found] if fields else found

    def length(self, key: str) -> int:
        """Tell how many parts a list, hash or sorted set has; 0 for any other key."""
        kind = self.kinds([key])[0]
        return int(self._of_each([key], _LENGTHS[kind])[0]) if kind in _LENGTHS else 0

    def items(self, key: str, first: int = 0, last: int = -1) -> list[bytes]:
        """Give some items of a list, both ends included; -1 is the last."""
        return [item for page in self._pages(key, LIST, first, last) for item in page]

    def last_items(self, keys: Sequence[str]) -> list[bytes | None]:
        """Give the last item of each of several keys that hold a list."""
        most = _OVERHEAD * LONGEST
        found: list[Any] = self._values(keys, LIST, "LRANGE", "MEMORY USAGE", most, ("-1", "-1"))
        return [each[0] if each else None for each in found]

    def members(self, key: str, first: int = 0, last: int = -1) -> list[tuple[bytes, float]]:
        """Give some members of a sorted set with their scores, the least first."""
        found: list[tuple[bytes, float]] = []
        for page in self._pages(key, ZSET, first, last):
            found += zip(page[::2], map(float, page[1::2]), strict=True)
        return found

    def fields(self, key: str) -> list[tuple[bytes, bytes]]:
        """Give the fields of a hash with their values, in no order."""
        if not self._may_be_read(key, HASH):
            return []
        found: dict[bytes, bytes] = {}
        cursor = b"0"
        while True:
            asked = ("HSCAN", _bytes(key), cursor, "COUNT", str(_PAGE))
            cursor, page = cast("tuple[bytes, list[bytes]]", self._ask([asked])[0])
            found |= zip(page[::2], page[1::2], strict=True)
            if cursor == b"0":
                return list(found.items())

    def close(self) -> None:
        """Let go of the connections: closing a client alone leaves those of its pool open."""
        self._client.close()
        self._client.connection_pool.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pages(self, key: str, kind: str, first: int, last: int) -> Iterator[list[bytes]]:
        if not self._may_be_read(key, kind):
            return
        size = self.length(key)
        begin = max(0, first + size if first < 0 else first)
        end = min(size - 1, last + size if last < 0 else last)
        command = "LRANGE" if kind == LIST else "ZRANGE"
        more = () if kind == LIST else ("WITHSCORES",)
        for start in range(begin, end + 1, _PAGE):
            stop = min(start + _PAGE - 1, end)
            yield self._ask([(command, _bytes(key), str(start), str(stop), *more)])[0]

    def _may_be_read(self, key: str, kind: str) -> bool:
        """Tell whether a key is of a kind; one that is too large as a whole is noted."""
        if self.kinds([key])[0] != kind:
            return False
        size = self._of_each([key], "MEMORY USAGE")[0]
        if size is not None and size > _OVERHEAD * LONGEST:
            self.too_long.add(key)
            return False
        return True

    def _values(
        self,
        keys: Sequence[str],
        kind: str,
        command: str,
        measure: str,
        most: int,
        more: Sequence[str] = (),
    ) -> list[bytes | None]:
        values: list[bytes | None] = []
        for begin in range(0, len(keys), _PARTS):
            part = keys[begin : begin + _PARTS]
            are_so = [found == kind for found in self.kinds(part)]
            mine = [key for key, is_so in zip(part, are_so, strict=True) if is_so]
            sizes = dict(zip(mine, self._of_each(mine, measure), strict=True))
            long = {key for key, size in sizes.items() if size is not None and size > most}
            self.too_long |= long
            asked = [key for key in mine if key not in long]
            found = dict(zip(asked, self._of_each(asked, command, more), strict=True))
            values += [found.get(key) for key in part]
        return values

    def _of_each(self, keys: Sequence[str], command: str, more: Sequence[str] = ()) -> list[Any]:
        """Ask one thing of many keys."""
        found: list[Any] = []
        for begin in range(0, len(keys), _PAGE):
            part = keys[begin : begin + _PAGE]
            found += self._ask([(*command.split(" "), _bytes(key), *more) for key in part])
        return found

    def _ask(self, commands: Sequence[tuple[str | bytes, ...]]) -> list[Any]:
        """Ask several things at once: the one place from which anything is sent."""
        import redis

        if not commands:
            return []
        for first, second, *_ in commands:
            if not {first, f"{first!s} {second!s}"} & _READING:
                raise AssertionError(first)
        problem: StoreError
        try:
            pipeline = self._client.pipeline(transaction=False)
            for each in commands:
                pipeline.execute_command(*each)
            found: list[Any] = pipeline.execute(raise_on_error=False)
            for place, (first, *_) in enumerate(commands):
                if isinstance(found[place], redis.RedisError):
                    found[place] = _unless_worse(first, found[place])
        except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
            problem = refused_by_redis(self.location, error)
        else:
            return found
        raise problem


def client_of(location: str) -> Any:
    """Give a client for an admitted address, of the driver as it is without its own types.

    It answers in bytes, as the server does. Raises StoreError where the driver is missing.
    """
    address = address_of(location, REDIS, REDIS_TLS, SOCKET)
    try:
        import redis
        from redis import connection
    except ImportError as error:
        raise no_driver(location, "redis") from error
    problem: StoreError
    try:
        # Whatever the address says: answers are those of the older protocol, as bytes.
        mine = {"protocol": 2, "decode_responses": False}
        patience = {"socket_timeout": PATIENCE, "socket_connect_timeout": CONNECT_WITHIN}
        said: dict[str, Any] = cast("Any", connection).parse_url(address.reveal())
        pool = cast("Any", redis.ConnectionPool)(**{**patience, **said, **mine})
        client: Any = redis.Redis(connection_pool=pool)
        client.response_callbacks.clear()
    except Exception as error:  # noqa: BLE001 - an option of the address may break the driver
        problem = refused_by_redis(location, error)
    else:
        return client
    raise problem


def _unless_worse(command: str | bytes, error: redis.RedisError) -> None:
    """Take for nothing what only one key, or a server that tells no sizes, is to blame for."""
    said = str(error)
    if "WRONGTYPE" not in said and command != "MEMORY":
        raise error


def _of_paths(told: bytes | None) -> bytes | None:
    """Give an object of what was found at some paths, each of which gives a list."""
    if told is None:
        return None
    found = msgspec.json.decode(told, type=dict[str, list[msgspec.Raw]])
    return msgspec.json.encode({path[2:]: each[0] for path, each in found.items() if each})


def _text(key: bytes) -> str:
    return key.decode(errors="surrogateescape")


def _bytes(key: str) -> bytes:
    return key.encode(errors="surrogateescape")
