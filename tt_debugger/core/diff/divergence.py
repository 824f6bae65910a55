"""Where two branches part: the fork point, or the first place where they do something else.

Two branches of one session have a fork point in its tree. Two sessions have one by content: a
copied or re-run session has new ids, so their paths are followed side by side for as long as they
put the same messages into their states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import Change, Snapshot, change_json
from tt_debugger.core.diff.align import matched_in_order
from tt_debugger.core.diff.items import ID_KEYS
from tt_debugger.core.diff.masks import bare, rule_for
from tt_debugger.core.diff.normal import normal_messages
from tt_debugger.core.diff.side import Side
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import messages_in
from tt_debugger.core.tree import NO_ROW


class By(StrEnum):
    """How the place where two branches part was found."""

    TREE = "tree"
    """Both stand in one session, and part there."""
    ID = "id"
    """Two sessions have these checkpoints in common, under the same ids."""
    CONTENT = "content"
    """Two sessions say the same up to there, under other ids."""
    NOTHING = "nothing"
    """They have no beginning in common."""


class Divergence(msgspec.Struct, frozen=True):
    """Where two paths part, and what comes after.

    `old_point` and `new_point` are the last rows in common, None where there are none;
    `old_after` and `new_after` the rows that follow, `again` those of them that say the same.
    `meets` are the rows from which both say the same to their ends, None where they do not;
    `first` the first ones on each side that did something, None where there is none.
    """

    by: By
    old_point: int | None
    new_point: int | None
    old_after: tuple[int, ...]
    new_after: tuple[int, ...]
    again: tuple[tuple[int, int], ...]
    meets: tuple[int, int] | None
    first: tuple[int | None, int | None]


def divergence(old: Side, new: Side) -> Divergence:
    """Give where two branches part, by the tree of their session, else by what they say."""
    old_path, new_path = (each.session.tree.path_to(each.row) for each in (old, new))
    is_whole = old.session.format == new.session.format
    if old.session is new.session:
        by = By.TREE
        shared = old.session.tree.common_ancestor(old.row, new.row)
        old_common = new_common = 0 if shared == NO_ROW else old.session.tree.depth(shared) + 1
        old_said = _said(old, old_path[old_common:], is_whole=is_whole)
        new_said = _said(new, new_path[new_common:], is_whole=is_whole)
    else:
        old_said = _said(old, old_path, is_whole=is_whole)
        new_said = _said(new, new_path, is_whole=is_whole)
        by, old_common, new_common = _common(old, new, old_path, new_path, (old_said, new_said))
    old_after, new_after = old_path[old_common:], new_path[new_common:]
    old_told, new_told = _telling(old_said, old_after), _telling(new_said, new_after)
    again = tuple(
        (old_told[one], new_told[other])
        for one, other in matched_in_order(
            [old_said[row] for row in old_told], [new_said[row] for row in new_told]
        )
    )
    return Divergence(
        by if old_common else By.NOTHING,
        old_path[old_common - 1] if old_common else None,
        new_path[new_common - 1] if new_common else None,
        tuple(old_after),
        tuple(new_after),
        again,
        _meeting(old_told, new_told, set(again)),
        (next(iter(old_told), None), next(iter(new_told), None)),
    )


_Said = dict[int, bytes | None]


def _said(side: Side, rows: Sequence[int], *, is_whole: bool) -> _Said:
    """Give what each row says, None where it says nothing."""
    names: dict[str, str] = {}
    along = zip(rows, side.changes_along(rows), strict=True)
    return {row: _content(changes, names, is_whole=is_whole) for row, changes in along}


def _content(changes: Sequence[Change], names: dict[str, str], *, is_whole: bool) -> bytes | None:
    """Give what a row did as text that can be compared, whatever its ids; None for nothing.

    Of two formats that is the messages alone, in their normal form; `names` remembers what tools
    were called on the way.
    """
    parts: list[Any] = []
    for change in changes:
        messages = messages_in((change,))
        if messages and not is_whole:
            messages = normal_messages(messages, names)
        parts += (_without_ids(bare(each)) for each in messages)
        if is_whole and not messages:
            parts += _setting(change)
    if not parts:
        return None
    try:
        return _encode(parts)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return repr(parts).encode("utf-8", "surrogatepass")


def _setting(change: Change) -> Iterator[Any]:
    """Give a change of anything but the messages, unless it says nothing of what was done."""
    if isinstance(change, Snapshot):
        kept = {key: bare(each) for key, each in as_map(change.value).items() if key not in _ASIDE}
        if kept:
            yield kept
    elif not any(key in _ASIDE or rule_for(key) for key in change.path):
        yield bare(change_json(change))


def _without_ids(message: Any) -> Any:
    """Give a message without what it and its parts are called: that is new in each run."""
    if isinstance(message, list):
        return [_without_ids(each) for each in cast("list[Any]", message)]
    if not isinstance(message, dict):
        return message
    return {
        key: _without_ids(value) if key in _HOLDING else value
        for key, value in cast("dict[str, Any]", message).items()
        if key not in ID_KEYS
    }


_ASIDE = frozenset(("title", "cwd", "usage"))
"""Parts of a state that tell of a run where it was, not what it did."""
_HOLDING = frozenset(("content", "tool_calls"))
_encode = msgspec.json.Encoder(order="deterministic").encode


def _telling(said: _Said, rows: Sequence[int]) -> list[int]:
    return [row for row in rows if said[row] is not None]


def _common(
    old: Side, new: Side, old_path: list[int], new_path: list[int], said: tuple[_Said, _Said]
) -> tuple[By, int, int]:
    """Give how many rows two paths of two sessions have in common at their beginning."""
    old_said, new_said = said
    by_id = 0
    for one, other in zip(old_path, new_path, strict=False):
        if old.session.ids[one] != new.session.ids[other] or old_said[one] != new_said[other]:
            break
        by_id += 1
    old_told, new_told = _telling(old_said, old_path), _telling(new_said, new_path)
    by_content = 0
    for one, other in zip(old_told, new_told, strict=False):
        if old_said[one] != new_said[other]:
            break
        by_content += 1
    if by_content and old_path.index(old_told[by_content - 1]) >= by_id:
        return (
            By.CONTENT,
            old_path.index(old_told[by_content - 1]) + 1,
            new_path.index(new_told[by_content - 1]) + 1,
        )
    return By.ID, by_id, by_id


def _meeting(
    old_told: list[int], new_told: list[int], again: set[tuple[int, int]]
) -> tuple[int, int] | None:
    met: tuple[int, int] | None = None
    for pair in zip(reversed(old_told), reversed(new_told), strict=False):
        if pair not in again:
            break
        met = pair
    return met
