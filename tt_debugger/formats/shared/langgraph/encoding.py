"""Encoding: a value that was edited in the forms of CONTRACT, written as LangGraph stored it.

What an edit leaves alone keeps its bytes. An object is written as the one that stood there, or as
another of its class that the checkpoint holds; what nothing shows how to write is refused, with
its path. Nothing is imported or made here either: an object is a name and what it is made of.
"""

from __future__ import annotations

import binascii
import enum
import math
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any, Protocol, cast
from uuid import UUID

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, dotted
from tt_debugger.errors import UnsupportedError

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


class Encoding:
    """Writes edited values; `examples` are stored values whose objects show how others are."""

    def __init__(self, wire: Wire, examples: Callable[[], Iterable[Any]]) -> None:
        self.wire = wire
        self._examples = examples
        self._known: dict[str, Object] | None = None

    def revised(self, stored: Any, before: Any, after: Any, path: Path) -> Any:
        """Give what is stored for a value that was shown as one thing and is to be another.

        Raises UnsupportedError.
        """
        if is_same(before, after):
            return stored
        if isinstance(before, dict) and isinstance(after, dict):
            was, now = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
            opened = self.wire.opened(stored)
            found: Any = msgspec.UNSET
            if opened is not None:
                found = self._revised_object(opened, was, now, path)
            elif isinstance(stored, dict):
                found = self._revised_map(cast("dict[Any, Any]", stored), was, now, path)
            if found is not msgspec.UNSET:
                return found
        elif isinstance(stored, list) and isinstance(before, list) and isinstance(after, list):
            items = cast("list[Any]", stored)
            was, now = cast("list[Any]", before), cast("list[Any]", after)
            if len(items) == len(was):
                return self._revised_list(items, was, now, path)
        return self.made(after, path)

    def made(self, value: Any, path: Path) -> Any:
        """Give what is stored for a value that was not there. Raises UnsupportedError."""
        match value:
            case None | bool() | str():
                return value
            case int() | float():
                if isinstance(value, float) and not math.isfinite(value):
                    raise _refused(path, "JSON has no such number")
                return value
            case list():
                items = enumerate(cast("list[Any]", value))
                return [self.made(each, (*path, place)) for place, each in items]
            case dict():
                return self._made_map(cast("dict[str, Any]", value), path)
            case _:
                raise _refused(path, f"a {type(value).__name__} is no JSON")

    def _made_map(self, value: dict[str, Any], path: Path) -> Any:
        if "$opaque" in value:
            raise _refused(path, "it stands for bytes that are not decoded")
        if "$type" in value:
            return self._made_object(value, path)
        if list(value) == ["$bytes"]:
            try:
                return self.wire.binary(b64decode(value["$bytes"], validate=True))
            except (binascii.Error, TypeError, ValueError) as error:
                raise _refused(path, f"{error}") from error
        return {key: self.made(each, (*path, key)) for key, each in value.items()}

    def _made_object(self, value: dict[str, Any], path: Path) -> Any:
        name = value["$type"]
        if name == "float" and self.wire.kind == "msgpack":
            return _float(value.get("$value"), path)
        example = self._example(name) if isinstance(name, str) else None
        if example is None:
            raise _refused(path, f"nothing shows how a {name} is stored")
        if example.way is Way.FIELDS and not example.whole_name.endswith("datetime.time"):
            fields = {
                key: self.made(each, (*path, key)) for key, each in value.items() if key != "$type"
            }
            return example.close(example.module, example.name, fields)
        return self._with_value(example, msgspec.UNSET, value, path)

    def _example(self, name: str) -> Object | None:
        """Give an object of a class, or what is made like one; None for none."""
        if self._known is None:
            self._known = {}
            for each in self._examples():
                for opened in _objects_in(each, self.wire):
                    self._known.setdefault(opened.whole_name, opened)
        found = self._known.get(name) or self.wire.standard(name)
        if found is None:
            # Messages are all stored alike, whoever speaks.
            module, _, last = name.rpartition(".")
            for other, opened in self._known.items():
                if _are_both_messages(name, other):
                    return msgspec.structs.replace(opened, module=module, name=last)
        return found

    def _revised_object(
        self, opened: Object, before: dict[str, Any], after: dict[str, Any], path: Path
    ) -> Any:
        """Give an object with what was edited of it, UNSET where it is another one now."""
        if before.get("$type") != after.get("$type"):
            return msgspec.UNSET
        if opened.way is Way.FIELDS and "$value" not in before:
            content = cast("dict[Any, Any]", opened.content)
            fields = self._revised_map(content, _fields(before), _fields(after), path)
            if fields is msgspec.UNSET:
                return fields
            return opened.close(opened.module, opened.name, fields)
        return self._with_value(opened, before.get("$value"), after, path)

    def _with_value(self, opened: Object, before: Any, after: dict[str, Any], path: Path) -> Any:
        """Give an object that is shown by one value, with another one."""
        if opened.name == "Send" and opened.way is Way.ARGUMENTS:
            values = [after.get(key) for key in ("node", "arg", "timeout") if key in after]
            content: Any = [self.made(each, path) for each in values]
            return opened.close(opened.module, opened.name, content)
        if set(after) != {"$type", "$value"}:
            raise _refused(path, f"a {opened.whole_name} is shown by $value alone")
        value, old = after["$value"], opened.content
        read = _reading(opened)
        if read is not None:
            try:
                content = read(value, as_list(old))
            except (ValueError, TypeError, AttributeError) as error:
                raise _refused(path, f"{error}") from error
        elif opened.way is Way.VALUE:
            content = self._value_for(old, before, value, path)
        elif opened.way is Way.ARGUMENTS and len(as_list(old)) <= 1:
            only = as_list(old)[0] if as_list(old) else None
            content = [self._value_for(only, before, value, path)]
        else:
            raise _refused(path, f"a {opened.whole_name} is not written back")
        return opened.close(opened.module, opened.name, content)

    def _value_for(self, stored: Any, before: Any, after: Any, path: Path) -> Any:
        if before is msgspec.UNSET:
            return self.made(after, path)
        return self.revised(stored, before, after, path)

    def _revised_map(
        self,
        stored: dict[Any, Any],
        before: dict[str, Any],
        after: dict[str, Any],
        path: Path,
    ) -> Any:
        """Give a map with what was edited of it; its keys may be no text where they are stored."""
        if len(stored) != len(before):
            return msgspec.UNSET
        keys = dict(zip(before, stored, strict=True))
        return {
            keys.get(key, key): self.revised(stored[keys[key]], before[key], each, (*path, key))
            if key in keys
            else self.made(each, (*path, key))
            for key, each in after.items()
        }

    def _revised_list(
        self, stored: list[Any], before: list[Any], after: list[Any], path: Path
    ) -> list[Any]:
        """Give a list with what was edited of it; what is still there keeps its bytes."""
        codes = [[_code(each) for each in side] for side in (before, after)]
        made: list[Any] = []
        matcher = SequenceMatcher(None, *codes, autojunk=False)
        for _, first, last, begin, end in matcher.get_opcodes():
            for place in range(begin, end):
                old, here = first + place - begin, (*path, place)
                if old < last and _are_alike(before[old], after[place]):
                    made.append(self.revised(stored[old], before[old], after[place], here))
                else:
                    made.append(self.made(after[place], here))
        return made


def _objects_in(stored: Any, wire: Wire) -> Iterator[Object]:
    """Go over all objects in a stored value, the outer ones first."""
    waiting: list[Any] = [wire.inner(stored)]
    while waiting:
        each = waiting.pop()
        opened = wire.opened(each)
        if opened is not None:
            yield opened
            each = opened.content
        if isinstance(each, dict):
            waiting += cast("dict[Any, Any]", each).values()
        elif isinstance(each, list):
            waiting += cast("list[Any]", each)


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


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != "$type"}


def _are_alike(one: Any, other: Any) -> bool:
    """Tell whether one value may be another that was edited."""
    is_one_kind = bool(type(one) is type(other))
    return is_one_kind and as_map(one).get("$type") == as_map(other).get("$type")


def _are_both_messages(one: str, other: str) -> bool:
    """Tell of two classes by their names that both are messages of one library."""
    ours, theirs = (each.partition(".messages.") for each in (one, other))
    return ours[0] == theirs[0] and bool(ours[1]) and bool(theirs[1])


def _code(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _float(value: Any, path: Path) -> float:
    if value not in ("NaN", "Infinity", "-Infinity"):
        raise _refused(path, "it is no number")
    return float(value)


def _refused(path: Path, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"{dotted(path)} cannot be written as LangGraph stores it: {why}",
        "edit what is plain in it, or a field of an object that stands there",
    )


def _reading(opened: Object) -> Callable[[Any, list[Any]], list[Any]] | None:
    """Give what makes arguments of a text by which an object is shown."""
    if opened.way is not Way.ARGUMENTS:
        return None
    if opened.module.startswith("pathlib"):
        return lambda value, _: list(PurePosixPath(value).parts)
    return _READ.get(opened.whole_name)


def _date(value: Any, _old: list[Any]) -> list[Any]:
    day = date.fromisoformat(value)
    return [day.year, day.month, day.day]


def _none(_value: Any, _old: list[Any]) -> list[Any]:
    raise ValueError("a zone is not written back")


_READ: Mapping[str, Callable[[Any, list[Any]], list[Any]]] = {
    "uuid.UUID": lambda value, _: [UUID(value).hex],
    "datetime.date": _date,
    "datetime.timedelta": lambda value, _: list(value),
    "datetime.timezone": _none,
    "re.Pattern": lambda value, old: [value, *(old[1:] or [0])],
}
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
