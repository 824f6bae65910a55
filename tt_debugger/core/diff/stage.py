"""The stage: what is set as a row begins to do something, and where two sides differ in it.

The model, the system text, the tools, the folder and the values of a state, without what was said
and without what tells of a run no more than that it was another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.diff.masks import bare, mask_of
from tt_debugger.core.diff.normal import COMMON, normal_state
from tt_debugger.core.diff.side import Side
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import is_message
from tt_debugger.core.paths import ROOT, Path, pointer
from tt_debugger.core.tree import NO_ROW


class Differing(msgspec.Struct, frozen=True):
    """A value that two sides have otherwise; UNSET where a side has none."""

    path: Path
    old: Any
    new: Any

    @property
    def is_input(self) -> bool:
        """Whether what is done may hang on it: not on what a session is called."""
        return self.path[0] not in _NAMES


def differing(old: Side, row: int, new: Side, other: int) -> tuple[Differing, ...]:
    """Give what two sides have set otherwise as two rows begin, the model first of all.

    Of two formats only what both have.
    """
    before, after = _stage(old, row), _stage(new, other)
    if old.session.format != new.session.format:
        before, after = (_known(normal_state(each)) for each in (before, after))
        shared = before.keys() & after.keys()
        before, after = ({key: each[key] for key in shared} for each in (before, after))
    found = _between(before, after)
    return tuple(sorted(found, key=lambda each: (_rank(each.path), pointer(each.path))))


_FIRST = (
    "model",
    "provider",
    "thinking_level",
    "system",
    "system_prompt",
    "instructions",
    "tools",
)
_NAMES = ("git_branch", "cwd", "title")
"""What tells where a run was, not what it was given."""
_AT_ONCE = (*_FIRST, *_NAMES, "settings", "permission_mode")
"""What a row sets for itself: with the answer of a model comes the name of the model."""
_NO_STAGE = frozenset(("messages", "usage", "tasks", "next", "metadata"))


def _stage(side: Side, row: int) -> dict[str, Any]:
    parent = side.session.parents[row]
    before = {} if parent == NO_ROW else as_map(side.state_at(parent))
    now = as_map(side.state_at(row))
    stage = {key: value for key, value in before.items() if key not in _NO_STAGE}
    return stage | {key: now[key] for key in _AT_ONCE if key in now}


def _known(stage: Mapping[str, Any]) -> dict[str, Any]:
    """Give what every agent may have set, and what is known of it."""
    return {key: value for key, value in stage.items() if key in COMMON and value is not None}


def _rank(path: Path) -> int:
    if path[0] in _FIRST:
        return _FIRST.index(str(path[0])) - len(_FIRST)
    return _NAMES.index(str(path[0])) + 1 if path[0] in _NAMES else 0


def _between(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Differing]:
    waiting: list[tuple[Path, Any, Any]] = [(ROOT, old, new)]
    while waiting:
        path, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            before, after = as_map(one), as_map(other)
            for key in dict.fromkeys((*before, *after)):
                pair = before.get(key, msgspec.UNSET), after.get(key, msgspec.UNSET)
                if pair[0] is not pair[1] and mask_of(key, *pair) is None:
                    waiting.append(((*path, key), *pair))
        elif not _is_alike(one, other):
            yield Differing(path, one, other)


def _is_alike(one: Any, other: Any) -> bool:
    """Tell whether two values say the same; what is said in messages is looked at elsewhere."""
    values = [None if each is msgspec.UNSET else each for each in (one, other)]
    if any(as_list(each) for each in values) and all(map(_is_said, values)):
        return True
    return is_same(*map(bare, values))


def _is_said(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and all(is_message(as_map(each)) for each in as_list(value))
    )
