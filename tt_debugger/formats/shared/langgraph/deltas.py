"""Delta channels: of them most checkpoints hold nothing, and the value is put together.

How is decided by code of the graph, which is not in the store. What is done here is what nearly
all of them do, and is labelled as a guess: lists are appended to, messages of one id replace each
other, and of anything else the last value counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none

_REMOVES_ALL = "__remove_all__"


def after(value: Any, written: Iterable[Any]) -> Any:
    """Give the value of a channel after some writes to it; UNSET where there was none before."""
    for each in written:
        value = _merged(value, each)
    return value


def _merged(value: Any, written: Any) -> Any:
    if not isinstance(value, list):
        is_message = _message_id(written) is not None
        if value is not msgspec.UNSET or not is_message:
            return written
        value = []
    added = cast("list[Any]", written) if isinstance(written, list) else [written]
    merged = [*as_list(value)]
    if not any(_message_id(each) for each in added):
        return merged + added
    places = {_message_id(each): place for place, each in enumerate(merged)}
    removed: set[str] = set()
    for each in added:
        name = _message_id(each)
        if _is_removal(each):
            if name == _REMOVES_ALL:
                merged, places = [], {}
            elif name is not None:
                removed.add(name)
        elif name is not None and name in places:
            removed.discard(name)
            merged[places[name]] = each
        else:
            places[name] = len(merged)
            merged.append(each)
    return [each for each in merged if _message_id(each) not in removed] if removed else merged


def _message_id(value: Any) -> str | None:
    """Give the id of a message, None for anything else."""
    own = as_map(value)
    return text_or_none(own.get("id")) if "$type" in own and "content" in own else None


def _is_removal(value: Any) -> bool:
    return as_map(value).get("type") == "remove"
