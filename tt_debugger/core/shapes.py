"""Shapes: which fields a state has and of which types, and how one shape differs from another.

The items of a list have one shape together: what any of them has, the list has. A field that is
null has no type, so that one which is filled in later has not changed its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import msgspec

from tt_debugger.core.paths import pointer
from tt_debugger.core.text import summary_line

MOST_VALUES = 20_000
"""Values of a state that are looked at; in one with more, later fields may be missed."""
MOST_NAMED = 6
"""Fields that are named of each kind of difference."""
_LONGEST_PATH = 60

_ITEM = None
"""What stands in a place for any item of a list; no field is called so."""
_Place = tuple[str | None, ...]
_Shape = dict[_Place, set[str]]


class Retyped(msgspec.Struct, frozen=True):
    """A field whose values have other types than before."""

    path: str
    before: str
    after: str


class Drift(msgspec.Struct, frozen=True):
    """How one shape differs from the one before; of what is new or gone, the outermost fields."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    retyped: tuple[Retyped, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.retyped)


def drift_between(before: Any, after: Any) -> Drift:
    """Give how the shape of a state differs from that of another, the outermost fields first."""
    old, new = _shape(before), _shape(after)
    return Drift(
        tuple(_outermost(new, old)), tuple(_outermost(old, new)), tuple(_retyped(old, new))
    )


def drift_text(drift: Drift) -> str:
    """Say how a shape differs, field by field: added a, b; gone c; other type d (text to list)."""
    retyped = [f"{each.path} ({each.before} to {each.after})" for each in drift.retyped]
    parts = (
        f"{what} {_listed(fields)}"
        for what, fields in (
            ("added", drift.added),
            ("gone", drift.gone),
            ("other type", retyped),
        )
        if fields
    )
    return "; ".join(parts) or "the same fields"


def _shape(value: Any) -> _Shape:
    """Give the types of the values at each place, level by level."""
    shape: _Shape = {}
    level: list[tuple[_Place, Any]] = [((), value)]
    left = MOST_VALUES
    while level and left > 0:
        left -= len(level)
        below: list[tuple[_Place, Any]] = []
        for place, each in level:
            types = shape.setdefault(place, set())
            if each is not None:
                types.add(_type_of(each))
            below += _inside(place, each)
        level = below[: max(left, 0)]
    return shape


def _inside(place: _Place, value: Any) -> Iterator[tuple[_Place, Any]]:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        yield from (((*place, key), each) for key, each in fields.items())
    elif isinstance(value, list):
        yield from (((*place, _ITEM), each) for each in cast("list[Any]", value))


def _type_of(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case _:
            return "object"


def _outermost(shape: _Shape, other: _Shape) -> Iterator[str]:
    """Give the fields of a shape that another has not, but for those within such a field.

    That a list is empty says nothing about its items.
    """
    for place in shape:
        above = place[:-1]
        if place and place not in other and above in other and place[-1] is not _ITEM:
            is_known = shape[above] & other[above]
            if is_known:
                yield _path(place)


def _retyped(old: _Shape, new: _Shape) -> Iterator[Retyped]:
    for place, before in old.items():
        after = new.get(place)
        if before and after and before != after:
            yield Retyped(_path(place), _types(before), _types(after))


def _types(types: Iterable[str]) -> str:
    return " or ".join(sorted(types))


def _path(place: _Place) -> str:
    """Give a path as it is written, as in a JSON Pointer; * stands for any item of a list."""
    text = "".join("/*" if key is None else pointer((key,)) for key in place)
    return summary_line(text, _LONGEST_PATH) or "/"


def _listed(fields: Iterable[str]) -> str:
    every = list(fields)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more
