"""Serialised values of LangGraph as plain data: nothing in them is imported, called or made.

A value is a pair of a type and bytes. MessagePack has extensions, JSON has objects with `lc`, by
both of which LangGraph makes Python objects again; here they become the forms of CONTRACT. What
is not decoded (a pickle, what is encrypted, an extension that nobody knows) stays opaque.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.langgraph.held import Held, decoder, held_of
from tt_debugger.formats.shared.langgraph.json_objects import DEEPEST, revived
from tt_debugger.formats.shared.langgraph.typed import (
    array_form,
    bytes_form,
    called_form,
    float_name,
    object_form,
    typed,
)
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.formats.shared.transcript_rows import json_of
from tt_debugger.storage.tables import Value

DEEPEST_VALUE = 256
"""Levels of nesting that a value may have."""
KEY = "LANGGRAPH_AES_KEY"
"""The variable of the environment in which LangGraph itself looks for the key."""
KNOWN_LARGEST = 1 << 16
"""Bytes of an extension that is kept, as the next checkpoints will have it again."""
KNOWN_BYTES = 8 << 20
"""Bytes of all that are kept."""
UNKNOWN = "unknown"
"""The kind of what has no type beside it."""


_BROKEN = (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError, MemoryError)
"""What decoding raises where the bytes are not what they should be."""


class Lost(msgspec.Struct, frozen=True):
    """A checkpoint whose body is not decoded: what stands for it, and why."""

    opaque: dict[str, Any]
    why: str


def gone(why: str) -> Lost:
    """Give what stands for a checkpoint of which nothing is there."""
    return Lost(opaque(UNKNOWN, b""), why)


class NotDecodedError(Exception):
    """Bytes that cannot be decoded: the kind and bytes of what is left, and why."""

    def __init__(self, kind: str, data: bytes, why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.data = data
        self.why = why

    @property
    def opaque(self) -> dict[str, Any]:
        """What stands for the bytes."""
        return opaque(self.kind, self.data)


class _Form:
    """A value that an extension became: nothing in it is looked at again."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        # It may be the key of a map, which must have a hash.
        return id(self)

    def __repr__(self) -> str:
        return repr(self.value)


class Serde:
    """Decodes values; `key` opens what is encrypted."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._depth = 0
        self._known: dict[tuple[int, bytes], _Form] = {}
        self._known_bytes = 0
        self._unpack = msgspec.msgpack.Decoder(ext_hook=self._extension).decode
        self._unpack_held = decoder(self._extension)

    def value(self, kind: Value, data: Value) -> Any:
        """Give a value as plain data, or what stands for it where it is not decoded."""
        # Nearly all are so, and there are very many.
        if kind == "msgpack" and type(data) is bytes:
            self._depth = 0
            try:
                value = self._unpack(data)
                return value if type(value) in _PLAIN else _tidied(value, 0)
            except _BROKEN:
                return opaque("msgpack", data)
        try:
            return self._decoded(kind, data)
        except NotDecodedError as error:
            return error.opaque

    def checkpoint(self, kind: Value, data: Value) -> Held | Lost:
        """Give what a body holds, its values as plain data."""
        if kind == "msgpack" and type(data) is bytes:
            self._depth = 0
            try:
                held = self._unpack_held(data)
                held.channel_values = _tidied_map(held.channel_values, 0)
                if held.pending_sends:
                    held.pending_sends = _tidied(held.pending_sends, 0)
            except _BROKEN:
                # It may have another shape, or keys that are no text.
                pass
            else:
                return held
        try:
            value = self._decoded(kind, data)
        except NotDecodedError as error:
            return Lost(error.opaque, error.why)
        own = as_map(value)
        why = "it is no checkpoint"
        if _OF_CHECKPOINTS & own.keys():
            if isinstance(own.get("channel_values", {}), dict):
                return held_of(own)
            why = "its channel_values are no map"
        return Lost(opaque(UNKNOWN if kind is None else str(kind), bytes_of(data)), why)

    def json(self, data: Value) -> Any:
        """Give what a text holds as JSON, or what stands for it."""
        return self.value("json", data)

    def _decoded(self, kind: Value, data: Value) -> Any:
        if kind == "msgpack" and type(data) is bytes:
            return self._unpacked(data)
        own = bytes_of(data)
        if isinstance(kind, str) and "+" in kind:
            inner, _, cipher = kind.partition("+")
            return self._decoded(inner, self._opened(kind, cipher, own))
        decode = _DECODERS.get(kind if isinstance(kind, str) else _guessed(own))
        if decode is None:
            raise NotDecodedError(str(kind), own, f"nothing decodes the type {kind!r:.60}")
        try:
            return decode(self, own)
        except NotDecodedError as error:
            if kind is not None or error.kind == "pickle":
                raise
            raise NotDecodedError(
                UNKNOWN, own, f"its type is not said, and {error.why}"
            ) from error

    def _unpacked(self, data: bytes) -> Any:
        self._depth = 0
        try:
            value = self._unpack(data)
            return value if type(value) in _PLAIN else _tidied(value, 0)
        except (
            msgspec.DecodeError,
            ValueError,
            TypeError,
            RecursionError,
            OverflowError,
        ) as error:
            raise NotDecodedError("msgpack", data, f"it is no MessagePack: {error}") from error

    def from_json(self, data: bytes) -> Any:
        """Give JSON with its objects; numbers that JSON readers would round are kept as text."""
        value = _quickly(data)
        if value is msgspec.UNSET:
            read = json_of(data)
            if read.why:
                raise NotDecodedError("json", data, read.why)
            value = read.value
        # Objects have `lc`, and the marks of others begin so.
        if b'"lc"' not in data and b'"__' not in data:
            return value
        return revived(value)

    def from_msgpack(self, data: bytes) -> Any:
        """Give MessagePack with its extensions."""
        return self._unpacked(data)

    def _opened(self, kind: str, cipher: str, data: bytes) -> bytes:
        """Decrypt a value. Raises NotDecodedError."""
        if cipher != "aes":
            raise NotDecodedError(kind, data, f"nothing decrypts {cipher:.40}")
        if self._key is None:
            raise NotDecodedError(kind, data, f"it is encrypted and {KEY} is not set")
        try:
            aes = import_module("Crypto.Cipher.AES")
        except ImportError as error:
            why = "it is encrypted; `pip install ttdbg[aes]` brings what opens it"
            raise NotDecodedError(kind, data, why) from error
        try:
            opener: Any = aes.new(self._key, aes.MODE_EAX, nonce=data[:_NONCE])
            opened: bytes = opener.decrypt_and_verify(data[_SEALED:], data[_NONCE:_SEALED])
        except (ValueError, KeyError) as error:
            raise NotDecodedError(kind, data, f"{KEY} is not the key: {error}") from error
        return opened

    def _extension(self, code: int, data: memoryview) -> Any:
        own = bytes(data)
        known = self._known.get((code, own))
        if known is not None:
            return known
        if self._depth >= DEEPEST:
            return _Form(opaque(f"msgpack ext {code}", own))
        self._depth += 1
        try:
            form = _Form(_form_of(code, own, self._unpack))
        finally:
            self._depth -= 1
        # At the edge of what is decoded another place would give another form.
        if len(own) <= KNOWN_LARGEST and not self._depth:
            self._known_bytes += len(own)
            if self._known_bytes > KNOWN_BYTES:
                self._known.clear()
                self._known_bytes = len(own)
            self._known[code, own] = form
        return form


def _quickly(data: bytes) -> Any:
    """Give what a short text holds as JSON that needs no second look, UNSET where it may."""
    if len(data) > _SHORT or data.count(b"{") + data.count(b"[") > DEEPEST_VALUE:
        return msgspec.UNSET
    if _LONG_NUMBER in data.translate(_DIGITS_AS_0):
        return msgspec.UNSET
    try:
        return _decode_json(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.UNSET


_decode_json = msgspec.json.Decoder().decode


def _form_of(code: int, data: bytes, unpack: Callable[[bytes], Any]) -> Any:
    """Give the form of an extension; of one that is not of its own shape, what it holds."""
    form = _EXTENSIONS.get(code)
    if form is None:
        return opaque(f"msgpack ext {code}", data)
    try:
        held = unpack(data)
        # The bytes of an array are its numbers.
        return form(held if code == _ARRAY else _tidied(held, 0))
    except _BROKEN:
        return opaque(f"msgpack ext {code}", data)


def _named(make: Callable[[str, str, Any], Any]) -> Callable[[Any], Any]:
    """Give what makes a form of `[module, name, what it is made of]`."""

    def form(held: Any) -> Any:
        items = as_list(held)
        if len(items) < 3 or not (isinstance(items[0], str) and isinstance(items[1], str)):  # noqa: PLR2004 - the three parts
            return typed("msgpack ext", held)
        return make(items[0], items[1], items[2])

    return form


_EXTENSIONS: Mapping[int, Callable[[Any], Any]] = {
    0: _named(lambda module, name, value: called_form(module, name, [value])),
    1: _named(lambda module, name, value: called_form(module, name, as_list(value))),
    2: _named(object_form),
    3: _named(lambda module, name, value: typed(f"{module}.{name}", value)),
    4: _named(object_form),
    5: _named(object_form),
    6: array_form,
    7: lambda held: held,
}
_OF_CHECKPOINTS = frozenset(("channel_values", "channel_versions"))
_ARRAY = 6
_NONCE, _SEALED = 16, 32
"""Where the tag of an encrypted value begins, and what is encrypted."""
_PLAIN = frozenset((str, int, bool, type(None)))
_TEXT = frozenset((str,))


def _tidied(value: Any, depth: int) -> Any:
    """Give a value in the forms of CONTRACT; its containers are ours, and change in place."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return _tidied_map(cast("dict[Any, Any]", value), depth)
    if isinstance(value, list):
        return _tidied_list(cast("list[Any]", value), depth)
    return value.value if type(value) is _Form else _of_other_kind(value, depth)


def _tidied_map(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    if depth > DEEPEST_VALUE:
        raise RecursionError
    if not _PLAIN.issuperset(map(type, value.values())):
        # Of very many values each call is felt.
        for key, each in value.items():
            kind = cast("type[Any]", type(each))
            if kind in _PLAIN:
                continue
            if kind is list:
                if not _PLAIN.issuperset(map(type, each)):
                    _tidied_list(each, depth + 1)
            elif kind is _Form:
                value[key] = each.value
            else:
                value[key] = _tidied(each, depth + 1)
    return value if _TEXT.issuperset(map(type, value)) else _with_text_keys(value)


def _tidied_list(value: list[Any], depth: int) -> list[Any]:
    if depth > DEEPEST_VALUE:
        raise RecursionError
    if not _PLAIN.issuperset(map(type, value)):
        for place, each in enumerate(value):
            if type(each) not in _PLAIN:
                value[place] = _tidied(each, depth + 1)
    return value


def _with_text_keys(value: dict[Any, Any]) -> dict[str, Any]:
    """Give a map with text for keys; one that looks like another says what it was."""
    made: dict[str, Any] = {}
    for key, each in value.items():
        own = _key_text(key)
        if own in made or (type(key) is not str and own in value):
            own = f"{own} ({type(key).__name__})"
        made[own] = each
    return made


def _key_text(key: Any) -> str:
    if isinstance(key, _Form):
        form = as_map(key.value)
        return str(form.get("$value", form))
    return str(key)


def _of_other_kind(value: Any, depth: int) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else typed("float", float_name(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes_form(cast("bytes", value))
    if isinstance(value, tuple):
        return _tidied(list(cast("tuple[Any, ...]", value)), depth)
    # What MessagePack itself has for times, and what else a decoder may add.
    isoformat = getattr(value, "isoformat", None)
    return typed("datetime.datetime", isoformat()) if isoformat else typed("", str(value))


_SHORT = 4096
_DIGITS_AS_0 = bytes(48 if chr(byte) in "0123456789" else 32 for byte in range(256))
_LONG_NUMBER = b"0" * 16


def _pickle(_serde: Serde, data: bytes) -> Any:
    raise NotDecodedError("pickle", data, "it is a pickle, which is never loaded")


_DECODERS: Mapping[str, Callable[[Serde, bytes], Any]] = {
    "null": lambda _serde, _data: None,
    "empty": lambda _serde, _data: None,
    "bytes": lambda _serde, data: bytes_form(data),
    "bytearray": lambda _serde, data: bytes_form(data),
    "msgpack": Serde.from_msgpack,
    "json": Serde.from_json,
    "pickle": _pickle,
}


def _guessed(data: bytes) -> str:
    """Give the type of bytes that have none beside them: the first versions wrote JSON."""
    return "pickle" if data[:1] == b"\x80" and data[-1:] == b"." else "json"


def opcodes(data: bytes, most: int) -> list[str]:
    """Give the first opcodes of a pickle in words; it is only listed, never loaded."""
    import pickletools

    found: list[str] = []
    # Whatever is no pickle ends the list.
    with suppress(ValueError, UnicodeDecodeError, IndexError, OverflowError):
        for operation, argument, place in pickletools.genops(data[:4096]):
            said = "" if argument is None else f" {argument!r:.60}"
            found.append(f"{place}: {operation.name}{said}")
            if len(found) == most:
                break
    return found
