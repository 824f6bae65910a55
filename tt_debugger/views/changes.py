"""What a checkpoint changed: one line a path, with a sign, the old value and the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.diff.texts import signed_lines
from tt_debugger.core.json import as_list, as_map, is_number
from tt_debugger.core.messages import is_message
from tt_debugger.core.paths import Path, dotted, value_at
from tt_debugger.core.text import common_start, counted, safe_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import PREVIEW, cut, folded, message_parts, preview, wrapped

_ABSENT: Any = object()
_NUMBERS_APART = 1
WIDEST_PATH = 26
"""Columns that paths take at most, so that what they hold stands in a column."""
MEASURED = 60
"""Changes whose paths are measured for that."""
BRIEFLY = 30
"""Changes that are told before the others are only counted."""
LONGEST_BY_LINES = 200_000
"""Characters of two texts up to which they are told by the lines that differ."""
MOST_LINES = 12
"""Lines of a text that are told; `d` and `ttdbg diff` show the others."""
_NARROWEST = 16
_INDENT = 4
"""Columns before the lines of a text, which are long: they do not stand behind its path."""
_ALIKE = 24
"""Characters at their start from which two texts are told by where they begin to differ."""
_CONTEXT = 12


def change_lines(
    changes: Sequence[Change],
    before: State,
    palette: Palette,
    glyphs: Glyphs,
    *,
    width: int | None = None,
    is_brief: bool = False,
) -> Iterator[Text]:
    """Give the changes as lines. `before` is the state they were made to, None at a root.

    With a width, values are folded to it. In brief, messages are told by their parts only, for
    those who show them below, and the changes beyond the first ones by their number.
    """
    told = _Telling(before, glyphs, is_brief=is_brief).rows(changes)
    first = list(islice(told, BRIEFLY if is_brief else MEASURED))
    column = _column(first, width)
    for each in first if is_brief else chain(first, told):
        yield from _lines(each, column, width, palette)
    more = sum(1 for _ in told)
    if more:
        left = counted(more, "more change")
        yield Text(f"{glyphs.ellipsis} {left}; 3 shows the state", palette.dim)


class _Told(msgspec.Struct, frozen=True):
    """One change to tell; `what` gives the words for it, as lines of at most so many cells.

    With `is_signed` the first character of each line says whether it was added or removed.
    """

    sign: str
    where: str
    what: Callable[[int], list[str]]
    is_signed: bool = False


def _column(told: Sequence[_Told], width: int | None) -> int:
    """Give the room for paths: as wide as the widest that is not too wide."""
    most = WIDEST_PATH if width is None else min(WIDEST_PATH, max(width // 3, _NARROWEST))
    sizes = (cell_len(safe_line(each.where)) for each in told)
    return max((size for size in sizes if size <= most), default=0)


def _lines(told: _Told, column: int, width: int | None, palette: Palette) -> Iterator[Text]:
    styles = {"+": palette.add, "-": palette.remove, "~": palette.change, "=": palette.dim}
    where = safe_line(told.where)
    line = Text(f"{told.sign} {where}", styles[told.sign])
    line.pad_right(max(column - cell_len(where), 0))
    begin = _INDENT if told.is_signed else column + 4
    if width is None:
        yield Text.assemble(line, f"  {' '.join(told.what(PREVIEW))}".rstrip())
        return
    room = max(width - begin, _NARROWEST)
    words = told.what(room)
    if words and line.cell_len + 2 + cell_len(words[0]) <= width:
        yield Text.assemble(line, f"  {words[0]}")
        words = words[1:]
    else:
        yield line
    style = palette.dim if told.sign == "=" else palette.text
    by_sign = styles if told.is_signed else {}
    yield from (Text(" " * begin + each, by_sign.get(each[:1], style)) for each in words)


class _Telling:
    """Tells the changes of one checkpoint one by one; how long a list is depends on the others."""

    def __init__(self, before: State, glyphs: Glyphs, *, is_brief: bool) -> None:
        self._before = before
        self._glyphs = glyphs
        self._is_brief = is_brief
        self._lengths: dict[Path, int] = {}

    def rows(self, changes: Sequence[Change]) -> Iterator[_Told]:
        for change in changes:
            match change:
                case Append(path=path, value=value):
                    length = self._length(path)
                    self._lengths[path] = length + 1
                    yield self._value("+", (*path, length), value)
                case Drop(path=path):
                    yield self._value("-", path, self._old(path))
                case Splice(path=path, index=index, count=count, values=values):
                    before = self._length(path)
                    after = self._lengths[path] = before - count + len(values)
                    if count:
                        yield self._count(path, before, after)
                    yield from self._splice(path, index, count, values)
                case Snapshot(value=value):
                    sign = "+" if self._before is None else "~"
                    where = "(the state begins)" if self._before is None else _where(())
                    yield _Told(sign, where, lambda room, value=value: [folded(value, room)])
                case Put(path=path, value=value):
                    yield from self._put(path, self._old(path), value)

    def _put(self, path: Path, old: Any, new: Any) -> Iterator[_Told]:
        """Tell a put; of two objects only the members that differ."""
        left, right = as_map(old), as_map(new)
        counts = _grown_counts(left, right)
        if counts:
            yield _Told("~", _where(path), lambda room: _in_lines(counts, room))
        elif left and right and not is_message(right):
            for key in dict.fromkeys((*left, *right)):
                mine, theirs = left.get(key, _ABSENT), right.get(key, _ABSENT)
                if theirs is _ABSENT:
                    yield self._value("-", (*path, key), mine)
                elif mine is _ABSENT or mine != theirs:
                    yield from self._put((*path, key), mine, theirs)
        elif old is _ABSENT or old is None:
            yield self._value("+", path, new)
        elif old == new and type(old) is type(new):
            yield _Told(
                "=",
                _where(path),
                lambda room: [f"{preview(new, room - 13)} (rewritten)"],
            )
        elif self._is_brief and have_lines(old, new):
            yield _Told(
                "~", _where(path), lambda room: by_lines(old, new, self._glyphs, room), True
            )
        else:
            yield _Told("~", _where(path), lambda room: old_and_new(old, new, room, self._glyphs))

    def _splice(
        self, path: Path, index: int, count: int, values: Sequence[Any]
    ) -> Iterator[_Told]:
        if count:
            last = f"..{index + count - 1}" if count > _NUMBERS_APART else ""
            dropped = f"{counted(count, 'item')} dropped"
            yield _Told("-", f"{dotted(path)}[{index}{last}]", lambda _room: [dropped])
        for place, value in enumerate(values, index):
            yield self._value("+", (*path, place), value)

    def _count(self, path: Path, before: int, after: int) -> _Told:
        """Tell how many items a list had and has, where some were taken out of it."""
        text = f"{before:,} {self._glyphs.arrow} {counted(after, 'item')}"
        return _Told("~", _where(path), lambda _room: [text])

    def _value(self, sign: str, path: Path, value: Any) -> _Told:
        """Tell that a value is there, or no longer there."""
        parts = as_map(value)
        if self._is_brief and is_message(parts):
            return _Told(sign, _where(path), lambda room: wrapped(message_parts(parts), room))
        what = "" if value is _ABSENT else value
        return _Told(
            sign, _where(path), lambda room: [] if value is _ABSENT else [folded(what, room)]
        )

    def _old(self, path: Path) -> Any:
        try:
            return value_at(self._before, path)
        except KeyError:
            return _ABSENT

    def _length(self, path: Path) -> int:
        known = self._lengths.get(path)
        return len(as_list(self._old(path))) if known is None else known


def old_and_new(old: Any, new: Any, room: int, glyphs: Glyphs) -> list[str]:
    """Give two values as `old -> new`: on one line if they fit, of long texts what differs."""
    arrow = glyphs.arrow
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) + 2 > room:
        same = common_start(old, new)
        if same >= _ALIKE:
            begin = same - _CONTEXT
            size = max(room - 6, _NARROWEST)
            excerpts = [
                f"{glyphs.ellipsis}{preview(text[begin : begin + 2 * size], size)}"
                for text in (old, new)
            ]
            place = f"from character {same + 1:,} of {len(old):,}:"
            return [place, excerpts[0], f"{arrow} {excerpts[1]}"]
    one_line = f"{preview(old, room)} {arrow} {preview(new, room)}"
    if cell_len(one_line) <= room:
        return [one_line]
    return [folded(old, room), f"{arrow} {folded(new, room - 2)}"]


def have_lines(old: Any, new: Any) -> bool:
    """Tell whether two values are texts, one of several lines, and not too long to be compared."""
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    return ("\n" in old or "\n" in new) and len(old) + len(new) <= LONGEST_BY_LINES


def by_lines(
    old: str, new: str, glyphs: Glyphs, room: int | None = None, most: int | None = MOST_LINES
) -> list[str]:
    """Give the lines of two texts that differ, at most so many of them, with their count.

    With a room each is cut to it.
    """
    changed = [each for each in signed_lines(old, new) if each[0] != " "]
    added = sum(sign == "+" for sign, _ in changed)
    count = f"{counted(added, 'line')} added, {len(changed) - added:,} removed"
    lines = [f"{sign} {safe_line(line.rstrip())}" for sign, line in changed]
    if room is not None:
        lines = [cut(each, room, glyphs) for each in lines]
    more = 0 if most is None else len(lines) - most
    if more > 1:
        return [count, *lines[:most], f"{glyphs.ellipsis} {counted(more, 'more line')}"]
    return [count, *lines]


def _where(path: Path) -> str:
    return dotted(path) or "(the whole state)"


def _grown_counts(left: dict[str, Any], right: dict[str, Any]) -> list[str]:
    """Give by how much each number of an object went up or down; nothing for other objects."""
    if left.keys() != right.keys() or not all(map(is_number, (*left.values(), *right.values()))):
        return []
    steps = {key: right[key] - value for key, value in left.items() if right[key] != value}
    return [safe_line(f"{key} {signed(step)}") for key, step in steps.items()]


def _in_lines(words: Sequence[str], room: int) -> list[str]:
    """Give words with commas between, as many on a line as fit."""
    lines = [""]
    for place, word in enumerate(words):
        text = word if place == len(words) - 1 else f"{word},"
        if not lines[-1]:
            lines[-1] = text
        elif cell_len(lines[-1]) + 1 + cell_len(text) <= room:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return lines


def signed(step: float) -> str:
    """Give by how much a number went up or down."""
    return f"{step:+,}" if isinstance(step, int) else f"{step:+.4g}"
