"""Keys of a server as somebody recorded them: a line of JSON a key, with kind, end and value.

It answers as `storage.redis.RedisKeys` does, also for the documents that no server at hand holds.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tt_debugger.storage.keys import DOCUMENT, HASH, LIST, STRING, ZSET


def records_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def fill(client: Any, records: Sequence[dict[str, Any]]) -> None:
    """Put what was recorded into a real server, with what is left of its time."""
    for each in records:
        name, value = each["key"], each["value"]
        match each["type"]:
            case "string":
                client.set(name, value)
            case "hash":
                client.hset(name, mapping=value)
            case "list":
                client.rpush(name, *value)
            case _:
                client.zadd(name, dict(value))
        if each["ttl"] > 0:
            client.expire(name, each["ttl"])


class RecordedKeys:
    """The keys of a record; `asked` counts the values that were given."""

    def __init__(self, records: Sequence[dict[str, Any]], location: str = "recorded") -> None:
        self.location = location
        self.too_long: set[str] = set()
        self.held = {each["key"]: each for each in records}
        self.asked = 0

    def keys(self, pattern: str = "*", *, most: int | None = None) -> Iterator[str]:
        matches = re.compile(_expression(pattern), re.DOTALL).fullmatch
        yield from [key for key in self.held if matches(key)][:most]

    def kinds(self, keys: Sequence[str]) -> list[str | None]:
        return [self.held[key]["type"] if key in self.held else None for key in keys]

    def expiries(self, keys: Sequence[str]) -> list[int | None]:
        ends = [self.held[key]["ttl"] if key in self.held else -1 for key in keys]
        return [end * 1_000 if end >= 0 else None for end in ends]

    def strings(self, keys: Sequence[str]) -> list[bytes | None]:
        found = [self._value(key, STRING) for key in keys]
        return [None if each is None else each.encode() for each in found]

    def documents(self, keys: Sequence[str], fields: Sequence[str] = ()) -> list[bytes | None]:
        found = [self._value(key, DOCUMENT) for key in keys]
        if fields:
            found = [
                each and {name: each[name] for name in fields if name in each} for each in found
            ]
        return [None if each is None else json.dumps(each).encode() for each in found]

    def length(self, key: str) -> int:
        held = self.held.get(key)
        return len(held["value"]) if held and held["type"] in (LIST, HASH, ZSET) else 0

    def items(self, key: str, first: int = 0, last: int = -1) -> list[bytes]:
        return [each.encode() for each in _between(self._value(key, LIST) or [], first, last)]

    def last_items(self, keys: Sequence[str]) -> list[bytes | None]:
        found = [self.items(key, -1) for key in keys]
        return [each[0] if each else None for each in found]

    def members(self, key: str, first: int = 0, last: int = -1) -> list[tuple[bytes, float]]:
        found = sorted(self._value(key, ZSET) or [], key=lambda each: (each[1], each[0]))
        return [(member.encode(), float(score)) for member, score in _between(found, first, last)]

    def fields(self, key: str) -> list[tuple[bytes, bytes]]:
        found = self._value(key, HASH) or {}
        return [(name.encode(), value.encode()) for name, value in found.items()]

    def close(self) -> None:
        pass

    def _value(self, key: str, kind: str) -> Any:
        held = self.held.get(key)
        if held is None or held["type"] != kind:
            return None
        self.asked += 1
        return held["value"]


def _expression(pattern: str) -> str:
    """Give a pattern of Redis, in which a backslash takes a sign for itself."""
    parts = re.findall(r"\\.|\[[^\]]*\]|.", pattern, re.DOTALL)
    return "".join(
        {"*": ".*", "?": "."}.get(each)
        or (each if each[0] == "[" and len(each) > 1 else re.escape(each[-1]))
        for each in parts
    )


def _between(parts: list[Any], first: int, last: int) -> list[Any]:
    begin = max(0, first + len(parts) if first < 0 else first)
    return parts[begin : (last + len(parts) if last < 0 else last) + 1]
