"""Where two branches part: the fork point, or the first place where they say something else.

Two branches of one session have a fork point in its tree. Two sessions have one by content: a
copied or re-run session has new ids, so their paths are followed side by side for as long as they
put the same messages into their states.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tt_debugger.core.diff.align import matched_in_order
from tt_debugger.core.diff.masks import bare
from tt_debugger.core.diff.normal import normal_messages
from tt_debugger.core.diff.side import Side
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
    `meets` are the rows from which both say the same to their ends, None where they do not.
    """

    by: By
    old_point: int | None
    new_point: int | None
    old_after: tuple[int, ...]
    new_after: tuple[int, ...]
    again: tuple[tuple[int, int], ...]
    meets: tuple[int, int] | None


def divergence(old: Side, new: Side) -> Divergence:
    """Give where two branches part, by the tree of their session, else by what they say."""
    old_path, new_path = (each.session.tree.path_to(each.row) for each in (old, new))
    if old.session is new.session:
        by = By.TREE
        shared = old.session.tree.common_ancestor(old.row, new.row)
        old_common = new_common = 0 if shared == NO_ROW else old.session.tree.depth(shared) + 1
        old_said, new_said = _said(old, old_path[old_common:]), _said(new, new_path[new_common:])
    else:
        old_said, new_said = _said(old, old_path), _said(new, new_path)
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
    )


_Said = dict[int, bytes | None]


def _said(side: Side, rows: Sequence[int]) -> _Said:
    """Give what each row says, None where it says nothing."""
    names: dict[str, str] = {}
    along = zip(rows, side.messages_along(rows), strict=True)
    return {row: _content(messages, names) for row, messages in along}


def _content(messages: Sequence[Any], names: dict[str, str]) -> bytes | None:
    """Give messages as text in which they are compared, whatever their format and their ids.

    `names` remembers what tools were called on the way.
    """
    if not messages:
        return None
    try:
        return _encode(list(map(_without_ids, bare(normal_messages(messages, names)))))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return repr(messages).encode("utf-8", "surrogatepass")


def _without_ids(message: dict[str, Any]) -> dict[str, Any]:
    """Give a normal message without what its calls are called: that is new in each run."""
    blocks = [
        {key: value for key, value in block.items() if key != "id"} for block in message["content"]
    ]
    kept = {key: value for key, value in message.items() if key != "toolCallId"}
    return kept | {"content": blocks}


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
