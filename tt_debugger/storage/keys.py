"""Keys: what a format may ask of a store of keys and values, such as Redis.

Keys and texts are told apart from each other by nothing but their bytes: a key is given as text
that can be turned back into them (`surrogateescape`), a value as bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

STRING = "string"
LIST = "list"
HASH = "hash"
ZSET = "zset"
DOCUMENT = "ReJSON-RL"
"""The kind of a key that holds a JSON document, as the server's module names it."""


class Keys(Protocol):
    """A store of keys that is open for reading.

    Many keys are asked about at once: what is gone, of another kind or `too_long` is None. Each
    raises StoreError where the server cannot answer.
    """

    location: str
    too_long: set[str]
    """The keys so far whose values were larger than `storage.lines.LONGEST` bytes."""

    def keys(self, pattern: str = "*", *, most: int | None = None) -> Iterator[str]:
        """Go over the keys that match a pattern, each once, in no order."""
        ...

    def kinds(self, keys: Sequence[str]) -> list[str | None]:
        """Tell of which kind the values of keys are."""
        ...

    def expiries(self, keys: Sequence[str]) -> list[int | None]:
        """Tell how many milliseconds keys still have; None for those without an end."""
        ...

    def strings(self, keys: Sequence[str]) -> list[bytes | None]:
        """Give the values of keys of the kind `STRING`."""
        ...

    def documents(self, keys: Sequence[str], fields: Sequence[str] = ()) -> list[bytes | None]:
        """Give the JSON text of keys of the kind `DOCUMENT`, or of an object of some fields."""
        ...

    def length(self, key: str) -> int:
        """Tell how many parts a list, hash or sorted set has; 0 for any other key."""
        ...

    def items(self, key: str, first: int = 0, last: int = -1) -> list[bytes]:
        """Give some items of a list, both ends included; -1 is the last."""
        ...

    def last_items(self, keys: Sequence[str]) -> list[bytes | None]:
        """Give the last item of each of several keys that hold a list."""
        ...

    def members(self, key: str, first: int = 0, last: int = -1) -> list[tuple[bytes, float]]:
        """Give some members of a sorted set with their scores, the least first."""
        ...

    def fields(self, key: str) -> list[tuple[bytes, bytes]]:
        """Give the fields of a hash with their values, in no order."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...
