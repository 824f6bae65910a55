"""Wires: the forms in which LangGraph writes values as bytes, and how objects stand in them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import msgspec

from tt_debugger.core.json import as_list, as_map

Close = Callable[[str, str, Any], Any]
"""Gives an object as it is stored, by its module, its name and what it is made of."""


class Way(enum.Enum):
    """How the stored form of an object tells what it is made of."""

    FIELDS = enum.auto()
    ARGUMENTS = enum.auto()
    VALUE = enum.auto()


class Object(msgspec.Struct, frozen=True):
    """An object as it is stored, opened: its class, what it is made of, and how it is closed."""

    module: str
    name: str
    way: Way
    content: Any
    close: Close

    @property
    def whole_name(self) -> str:
        """The name of the class by which it is shown."""
        whole = f"{self.module}.{self.name}"
        return "re.Pattern" if whole == "re.compile" else whole


class Wire(Protocol):
    """How values are written as bytes: MessagePack with extensions, or JSON with objects."""

    kind: str

    def encode(self, value: Any) -> bytes:
        """Give a value as bytes."""
        ...

    def decode(self, data: bytes) -> Any:
        """Give bytes as a value in which objects stay closed."""
        ...

    def opened(self, stored: Any) -> Object | None:
        """Open an object, None for what is none or is not known."""
        ...

    def inner(self, stored: Any) -> Any:
        """Give what a snapshot of a delta channel holds; anything else as it is."""
        ...

    def snapshot(self, value: Any) -> Any:
        """Give a value as a snapshot of a delta channel."""
        ...

    def binary(self, data: bytes) -> Any:
        """Give bytes as a value. Raises ValueError where there is no form for them."""
        ...

    def standard(self, name: str) -> Object | None:
        """Give how an object of Python itself is stored, or a message of LangChain."""
        ...


class MessagePack:
    """MessagePack, whose extensions are objects."""

    kind = "msgpack"

    def encode(self, value: Any) -> bytes:
        """Give a value as bytes."""
        return msgspec.msgpack.encode(value)

    def decode(self, data: bytes) -> Any:
        """Give bytes as a value; extensions stay as they are."""
        return msgspec.msgpack.decode(data)

    def opened(self, stored: Any) -> Object | None:
        """Open an extension that holds a module, a name and what the object is made of."""
        if not isinstance(stored, msgspec.msgpack.Ext) or stored.code not in _WAYS:
            return None
        parts = as_list(self.decode(bytes(stored.data)))
        if len(parts) < len(("module", "name", "content")):
            return None
        module, name, content, *rest = parts
        if not isinstance(module, str) or not isinstance(name, str):
            return None
        return _extension(stored.code, module, name, content, rest)

    def inner(self, stored: Any) -> Any:
        """Give what a snapshot holds."""
        if isinstance(stored, msgspec.msgpack.Ext) and stored.code == _SNAPSHOT:
            return self.decode(bytes(stored.data))
        return stored

    def snapshot(self, value: Any) -> Any:
        """Give a value as a snapshot."""
        return msgspec.msgpack.Ext(_SNAPSHOT, self.encode(value))

    def binary(self, data: bytes) -> Any:
        """Give bytes as they are."""
        return data

    def standard(self, name: str) -> Object | None:
        """Give an object by the code that LangGraph uses for its class."""
        module, _, last = name.rpartition(".")
        if module.startswith(_OF_MESSAGES):
            return _extension(_MODEL, module, last, {}, ["model_validate_json"])
        found = _STANDARD.get(name)
        return None if found is None else _extension(found[0], module, last, None, [*found[1:]])


MESSAGE_PACK = MessagePack()


class Json:
    """JSON, in which maps with `lc`, and a few other marks, are objects."""

    kind = "json"

    def encode(self, value: Any) -> bytes:
        """Give a value as bytes."""
        return msgspec.json.encode(value)

    def decode(self, data: bytes) -> Any:
        """Give bytes as a value."""
        return msgspec.json.decode(data)

    def opened(self, stored: Any) -> Object | None:
        """Open a map that names a class."""
        own = as_map(stored)
        for mark, (module, name) in _MARKS.items():
            if own.get(mark) is True:
                kept = {key: each for key, each in own.items() if key != mark}
                return Object(module, name, Way.FIELDS, kept, _marked(mark))
        names = as_list(own.get("id"))
        is_object = own.get("lc") in (1, 2) and type(own.get("lc")) is int and names
        if not is_object or own.get("type") != "constructor":
            return None
        *modules, name = map(str, names)
        module = ".".join(modules)
        fields, arguments = own.get("kwargs"), as_list(own.get("args"))
        if fields or not arguments:
            way = Way.FIELDS if isinstance(fields, dict | None) else Way.VALUE
            content = cast("Any", {} if fields is None else fields)
            return Object(module, name, way, content, _constructed(own, "kwargs"))
        method = own.get("method")
        if "fromisoformat" in (as_list(method) or [method]):
            close = _constructed(own, "args", arguments[1:])
            return Object(module, name, Way.VALUE, arguments[0], close)
        return Object(module, name, Way.ARGUMENTS, arguments, _constructed(own, "args"))

    def inner(self, stored: Any) -> Any:
        """Give what a snapshot holds."""
        own = as_map(stored)
        return own["value"] if own.get(_DELTA) is True and "value" in own else stored

    def snapshot(self, value: Any) -> Any:
        """Give a value as a snapshot."""
        return {_DELTA: True, "value": value}

    def binary(self, data: bytes) -> Any:
        """Give nothing: each checkpointer has another form for them."""
        raise ValueError("JSON has no bytes")

    def standard(self, name: str) -> Object | None:
        """Give nothing: classes have other names in each language."""
        return None


def wire_of(kind: Any) -> Wire | None:
    """Give how values of a type are written, None where that is neither of the two."""
    return _WIRES.get(kind) if isinstance(kind, str) else None


def _extension(code: int, module: str, name: str, content: Any, rest: list[Any]) -> Object:
    """Give an extension, opened; the first code has its one argument outside of a list."""
    is_one = code == _ONE

    def close(module: str, name: str, content: Any) -> Any:
        held = content[0] if is_one else content
        return msgspec.msgpack.Ext(code, msgspec.msgpack.encode([module, name, held, *rest]))

    way = _WAYS[code]
    if way is Way.FIELDS and type(content) not in (dict, type(None)):
        way = Way.VALUE
    held: Any = [content] if is_one else content
    return Object(module, name, way, held, close)


def _marked(mark: str) -> Close:
    return lambda _module, _name, fields: {mark: True, **fields}


def _constructed(own: Mapping[str, Any], key: str, rest: Sequence[Any] | None = None) -> Close:
    def close(module: str, name: str, content: Any) -> Any:
        held = content if rest is None else [content, *rest]
        return {**own, "id": [*module.split("."), name], key: held}

    return close


_ONE, _MODEL, _SNAPSHOT = 0, 5, 7
_WAYS: Mapping[int, Way] = {
    0: Way.ARGUMENTS,
    1: Way.ARGUMENTS,
    2: Way.FIELDS,
    3: Way.VALUE,
    4: Way.FIELDS,
    5: Way.FIELDS,
}
_STANDARD: Mapping[str, tuple[Any, ...]] = {
    "builtins.set": (0,),
    "builtins.frozenset": (0,),
    "collections.deque": (0,),
    "decimal.Decimal": (0,),
    "uuid.UUID": (0,),
    "pathlib.PosixPath": (1,),
    "datetime.date": (1,),
    "datetime.timedelta": (1,),
    "datetime.datetime": (3, "fromisoformat"),
}
_OF_MESSAGES = "langchain_core.messages."
_DELTA = "__delta_snapshot__"
_MARKS: Mapping[str, tuple[str, str]] = {
    "__interrupt__": ("langgraph.types", "Interrupt"),
    "__send__": ("langgraph.types", "Send"),
}
_WIRES: Mapping[str, Wire] = {"msgpack": MESSAGE_PACK, "json": Json()}
