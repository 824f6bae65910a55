"""Reducers: how an update is merged into a field of the state, and what that changes.

They work on JSON values and leave what they are given as it is. An old value that is UNSET is one
that the state does not have. A reducer is any function of the old value and the new one; those
that are here can also say what they change without a comparison of the two.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from copy import deepcopy
from operator import is_
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from tt_debugger.core.between import changes_between
from tt_debugger.core.changes import Append, Change, Put, Snapshot
from tt_debugger.core.json import is_number
from tt_debugger.core.paths import Path, dotted
from tt_debugger.errors import UsageError
from tt_debugger.record.json_form import json_of
from tt_debugger.record.models import model_of

Reducer = Callable[[Any, Any], Any]
"""Gives what an old value and an update make together."""


class Appending:
    """Adds the items of a list whose `id` is not there yet; those without one are always added."""

    def __call__(self, old: Any, new: Any) -> Any:
        """Give the old items and those that are added."""
        return [*_list(old), *self.added(old, new)]

    def added(self, old: Any, new: Any) -> list[Any]:
        """Give the items that are added to the old ones."""
        items = _items(new)
        ids = [_id_of(each) for each in items]
        seen = self._ids_among(_list(old), {each for each in ids if each is not None})
        added: list[Any] = []
        for item, its_id in zip(items, ids, strict=True):
            if its_id is None or its_id not in seen:
                added.append(item)
                seen.add(its_id)
        return added

    def _ids_among(self, items: list[Any], wanted: set[Any]) -> set[Any]:
        return _ids_among(items, wanted)


class Remembering(Appending):
    """The same for one list that grows: of the items it met the last time it knows the ids."""

    def __init__(self) -> None:
        self._met: list[Any] = []
        self._ids: set[Any] = set()

    def _ids_among(self, items: list[Any], wanted: set[Any]) -> set[Any]:
        if not wanted:
            return set()
        count = len(self._met)
        if len(items) < count or not all(map(is_, self._met, items)):
            count, self._ids = 0, set()
        self._ids |= {_id_of(each) for each in items[count:]}
        self._met = items
        return wanted & self._ids


class Extending(msgspec.Struct, frozen=True):
    """Adds all items of a list."""

    def __call__(self, old: Any, new: Any) -> Any:
        """Give the old items and the new ones."""
        return [*_list(old), *self.added(old, new)]

    def added(self, old: Any, new: Any) -> list[Any]:
        """Give the items that are added to the old ones."""
        return _items(new)


class Replacing(msgspec.Struct, frozen=True):
    """Puts the new value in the place of the old one."""

    def __call__(self, old: Any, new: Any) -> Any:
        """Give the new value."""
        return new


class Totalling(msgspec.Struct, frozen=True):
    """Adds numbers up; those of objects key by key."""

    def __call__(self, old: Any, new: Any) -> Any:
        """Give the sum. Raises UsageError for what is no number."""
        is_absent = _is_absent(old)
        if isinstance(new, dict) and (is_absent or isinstance(old, dict)):
            before = cast("dict[str, Any]", {} if is_absent else old)
            after = cast("dict[str, Any]", new)
            sums = {key: self(before.get(key), value) for key, value in after.items()}
            return {**before, **sums}
        before: Any = 0 if is_absent else old
        number: Any = cast("Any", new)
        if is_number(before) and is_number(number):
            return before + number
        raise UsageError(
            f"numbers are added up, and not {_kind_of(before)} and {_kind_of(number)}",
            "give numbers or objects of numbers, or another reducer",
        )


append = Appending()
extend = Extending()
replace = Replacing()
total = Totalling()

DEFAULTS: Mapping[str, Reducer] = types.MappingProxyType(
    {
        "messages": append,
        "tool_calls": extend,
        "tool_call_history": extend,
        "counters": total,
    }
)
"""How fields of these names are merged where nothing else is said; all others are replaced."""


def reducers_of(model: Any) -> dict[str, Reducer]:
    """Give the reducers that a type of states names in the annotations of its fields, by key.

    Such as `messages: Annotated[list[Message], append]`. A reducer is what can be called in the
    annotation and is no type, the last one of several. Raises UsageError where an annotation
    names what is not there.
    """
    if model is None or model is dict:
        return {}
    try:
        hints = get_type_hints(model, include_extras=True)
    except (NameError, TypeError) as error:
        raise UsageError(
            f"the annotations of {model.__name__} cannot be read: {error}",
            "import what they name at run time, at the top of the module",
        ) from error
    keys = model_of(model).keys
    found = {name: _reducer_in(hint) for name, hint in hints.items()}
    return {
        name if keys is None else keys[name]: reducer
        for name, reducer in found.items()
        if reducer is not None and (keys is None or name in keys)
    }


def changes_for(reducer: Reducer, path: Path, old: Any, new: Any) -> tuple[Change, ...]:
    """Give the changes that make of the old value at a path what a reducer makes of it.

    What `append` and `extend` add costs no more than the items that are added; those that are
    there are only gone over where ids must be looked for. A function that is not from here gets
    copies, and may do with them as it likes; where there is no old value it is not asked, and the
    new one stands. Raises UsageError where the two cannot be merged.
    """
    try:
        if isinstance(reducer, (Appending, Extending)) and isinstance(old, list):
            return tuple(Append(path, each) for each in reducer.added(old, new))
        merged = _merged(reducer, old, new)
    except UsageError as error:
        raise UsageError(f"{dotted(path)}: {error.message}", error.hint) from error
    if not isinstance(reducer, (Appending, Extending, Replacing)):
        # Even a sum may be none, where it is too large.
        merged = json_of(merged, path)
    if old is msgspec.UNSET:
        return (_put(path, merged),)
    return tuple(_moved(path, each) for each in changes_between(old, merged))


def _merged(reducer: Reducer, old: Any, new: Any) -> Any:
    if isinstance(reducer, (Appending, Extending, Replacing, Totalling)):
        return reducer(old, new)
    if old is msgspec.UNSET:
        return new
    name = getattr(reducer, "__name__", type(reducer).__name__)
    try:
        return reducer(deepcopy(old), deepcopy(new))
    except Exception as error:
        raise UsageError(f"the reducer {name} failed: {type(error).__name__}: {error}") from error


def _put(path: Path, value: Any) -> Change:
    return Put(path, value) if path else Snapshot(value)


def _moved(path: Path, change: Change) -> Change:
    """Give a change of a value as one of the state that has it at a path."""
    if isinstance(change, Snapshot):
        return _put(path, change.value)
    return msgspec.structs.replace(change, path=(*path, *change.path))


def _is_absent(old: Any) -> bool:
    return old is None or old is msgspec.UNSET


def _list(old: Any) -> list[Any]:
    """Give the items that are there."""
    if _is_absent(old):
        return []
    if isinstance(old, list):
        return cast("list[Any]", old)
    raise UsageError(
        f"items are added to a list, and not to {_kind_of(old)}",
        "give the field another reducer, such as `replace`",
    )


def _items(new: Any) -> list[Any]:
    """Give the items of an update; what is no list is one of them."""
    return list(cast("list[Any]", new)) if isinstance(new, (list, tuple)) else [new]


def _ids_among(items: list[Any], wanted: set[Any]) -> set[Any]:
    """Give those of some ids that items have."""
    if not wanted:
        return set()
    try:
        # A list of thousands of messages is gone over for each that is added: this is ten times
        # as fast. What equals an id without being one (true is 1) is looked at again.
        if wanted.isdisjoint([each.get("id") for each in items]):
            return set()
    except (AttributeError, TypeError):
        pass
    return wanted & {_id_of(each) for each in items}


def _id_of(item: Any) -> str | int | None:
    found: Any = (
        cast("dict[str, Any]", item).get("id")
        if isinstance(item, dict)
        else getattr(item, "id", None)
    )
    is_id = isinstance(found, (str, int)) and not isinstance(found, bool)
    return found if is_id else None


def _kind_of(value: Any) -> str:
    return f"what is of type {type(value).__name__}"


def _reducer_in(hint: Any) -> Reducer | None:
    """Give the reducer that an annotation names, also where the field may be None or missing."""
    origin = get_origin(hint)
    if origin is Annotated:
        named = [each for each in hint.__metadata__ if _is_reducer(each)]
        return named[-1] if named else _reducer_in(hint.__origin__)
    if origin in {Union, types.UnionType, Required, NotRequired}:
        return next(filter(None, map(_reducer_in, get_args(hint))), None)
    return None


def _is_reducer(named: Any) -> bool:
    return callable(named) and not isinstance(named, type)
