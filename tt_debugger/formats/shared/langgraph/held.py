"""Held: what a checkpoint holds, as far as a state is made of it.

The versions of channels stay as they are stored until they are needed: they are most of the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map

_decode = msgspec.msgpack.Decoder().decode
_LONGEST_SHORT, _LONGEST = 32, 256


class Held(msgspec.Struct):
    """A checkpoint object: `channel_values` are plain data, of any keys."""

    channel_values: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    channel_versions: Any = None
    versions_seen: Any = None
    v: Any = None
    pending_sends: Any = None

    @property
    def version(self) -> int:
        """The number of the layout; where it says none, that of today."""
        return self.v if type(self.v) is int else 4

    @property
    def versions(self) -> dict[str, Any]:
        """The version of each channel."""
        return _map_of(self.channel_versions)

    @property
    def seen(self) -> dict[str, Any]:
        """The versions of channels that each node has seen."""
        return _map_of(self.versions_seen)

    @property
    def flaw(self) -> str | None:
        """What is wrong with the parts from which it is told what runs next."""
        for name, part in (
            ("channel_versions", self.channel_versions),
            ("versions_seen", self.versions_seen),
        ):
            is_map = _is_map(part) if type(part) is msgspec.Raw else isinstance(part, dict | None)
            if not is_map:
                return f"its {name} are no map"
        return None

    @property
    def sends(self) -> list[Any]:
        """The packets that were sent to nodes, in their order."""
        return as_list(self.channel_values.get(SENDS)) or as_list(self.pending_sends)

    def is_unseen(self, channel: str) -> bool:
        """Tell whether surely no node has seen the version that a channel has now.

        It is looked for among the bytes: to decode them takes much longer.
        """
        versions, seen = self.channel_versions, self.versions_seen
        if type(versions) is not msgspec.Raw or type(seen) is not msgspec.Raw:
            return False
        pattern = _stored(channel)
        data = bytes(versions)
        begin = data.find(pattern) + len(pattern)
        if not pattern or begin < len(pattern):
            return False
        first = data[begin]
        # A text of up to 255 bytes; a number would be found by chance.
        if first == _TEXT_8:
            end = begin + 2 + data[begin + 1]
        elif _FIXED_TEXT <= first < _FIXED_TEXT + _LONGEST_SHORT:
            end = begin + 1 + first - _FIXED_TEXT
        else:
            return False
        return data[begin:end] not in bytes(seen)


SENDS = "__pregel_tasks"
_TEXT_8 = 0xD9
_FIXED_TEXT = 0xA0
_FIXED_MAP = 0x80
_MAPS = b"\xde\xdf\xc0"


class _Typed(Held):
    """What MessagePack is decoded to."""

    channel_versions: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    versions_seen: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


def decoder(extension: Callable[[int, memoryview], Any]) -> Callable[[bytes], Held]:
    """Give what decodes MessagePack. Raises msgspec.MsgspecError where it is no such object."""
    return msgspec.msgpack.Decoder(_Typed, ext_hook=extension).decode


def held_of(value: dict[str, Any]) -> Held:
    """Give a checkpoint object that was decoded in another way."""
    return Held(
        as_map(value.get("channel_values")),
        value.get("channel_versions"),
        value.get("versions_seen"),
        value.get("v"),
        value.get("pending_sends"),
    )


def _is_map(raw: msgspec.Raw) -> bool:
    """Tell by the first byte whether MessagePack is a map, or nothing at all."""
    first = bytes(raw)[:1]
    return not first or first in _MAPS or first[0] & 0xF0 == _FIXED_MAP


def _map_of(value: Any) -> dict[str, Any]:
    if type(value) is not msgspec.Raw:
        return as_map(value)
    try:
        return as_map(_decode(value)) if bytes(value) else {}
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError):
        return {}


@lru_cache(1024)
def _stored(text: str) -> bytes:
    """Give a text as MessagePack has it, b"" where it is long."""
    data = text.encode(errors="replace")
    if len(data) < _LONGEST_SHORT:
        return bytes((_FIXED_TEXT | len(data),)) + data
    return bytes((_TEXT_8, len(data))) + data if len(data) < _LONGEST else b""
