"""Encoding: a value that was edited in the forms of CONTRACT, written as LangGraph stored it.

What an edit leaves alone keeps its bytes. An object is written as the one that stood there, or as
another of its class that the checkpoint holds; what nothing shows how to write is refused, with
its path. Nothing is imported or made here either: an object is a name and what it is made of.
"""

from __future__ import annotations

import binascii
import math
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any, cast
from uuid import UUID

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, dotted
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.langgraph.wires import Object, Way, Wire


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
