"""Ids in a column: a million texts that are one until somebody asks for one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import msgspec

_decode_list = msgspec.msgpack.Decoder(list[str]).decode


def encoded_ids(ids: Sequence[str]) -> bytes:
    """Give ids as bytes, from which `Ids` gives them back."""
    text = "\n".join(ids)
    if text.count("\n") == len(ids) - 1:
        return b"\n" + text.encode()
    return b"\0" + msgspec.msgpack.encode(list(ids))


class Ids(Sequence[str]):
    """Ids given by their number and what gives their bytes, asked when they are first needed."""

    def __init__(self, count: int, data: Callable[[], bytes]) -> None:
        self._count = count
        self._data = data
        self._ids: list[str] | None = None

    def whole(self) -> list[str]:
        """Give them as a list. Raises msgspec.DecodeError or ValueError where they are none."""
        if self._ids is None:
            data = self._data()
            is_text = data.startswith(b"\n")
            ids = data[1:].decode().split("\n") if is_text else _decode_list(data[1:])
            if len(ids) != self._count:
                raise ValueError(f"{len(ids)} ids for {self._count} rows")
            self._ids = ids
        return self._ids

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.whole()[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole())

    def __contains__(self, name: object) -> bool:
        return name in self.whole()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ids):
            other = other.whole()
        return self.whole() == other

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as that of any list
