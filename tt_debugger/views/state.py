"""A state as the rows of a tree that fills as it is opened, and how a row is drawn.

Rows are found by arithmetic: an open container knows how many rows it has and which of its
members are open, so a list of a million items costs no more than what of it is drawn. A text
that is longer than its row opens to its lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.changes import Change, Drop, Splice, State, written_paths
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Key, Path, dotted, value_at
from tt_debugger.core.text import safe_line, safe_text
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import PREVIEW, cut, cut_left, preview, sized, wrapped

ABSENT: Any = object()
"""What stands for a value that is not there."""
WIDEST_KEY = 18
"""Columns that the keys of one object take at most, so that their values stand in a column."""
KEYS_MEASURED = 1000
_NARROWEST = 16
_SIGNS, _INDENT, _FOLD = 2, 2, 2
"""Columns of a row: the sign of what changed, each step of depth, the sign to unfold."""
_SHORT = 32
"""Cells of the longest values that are shown as old and new."""


class Marks:
    """What a checkpoint wrote, so that each row of a state can tell how it changed.

    `written` are the paths that were written. `before` is the state of the parent, ABSENT where
    there is none. In the lists of `moved` items were put in or taken out, so that an index is
    that of another item than before.
    """

    def __init__(
        self, written: Iterable[Path] = (), before: State = ABSENT, moved: Iterable[Path] = ()
    ) -> None:
        self._written = frozenset(written)
        self._holders = frozenset(path[:n] for path in self._written for n in range(1, len(path)))
        self._before = before
        self._moved = frozenset(moved)

    def of(self, path: Path, value: Any) -> tuple[str, Any]:
        """Give how a value changed: a sign, and the old value or ABSENT. No sign: it did not."""
        if path in self._holders and path not in self._written:
            return "~", ABSENT
        above = self._written_above(path)
        if above is None:
            return "", ABSENT
        old = self._old(path)
        if old is ABSENT or old is None:
            return "+", ABSENT
        if old is value or (old == value and type(old) is type(value)):
            return ("=" if path == above else ""), ABSENT
        return "~", old

    def leaves(self, state: State) -> list[Path]:
        """Give the changed leaves of a state from top to bottom.

        Of an object that was written over another only the members that differ are leaves; what
        was dropped is told by what held it.
        """
        leaves = {leaf for path in self._written for leaf in self._leaves(path, state)}
        places = dict(zip(leaves, places_of(leaves, state), strict=True))
        return sorted(leaves, key=places.__getitem__)

    def _leaves(self, path: Path, state: State) -> Iterator[Path]:
        waiting = [path]
        while waiting:
            here = waiting.pop()
            try:
                value = value_at(state, here)
            except KeyError:
                if len(here) > 1:
                    yield here[:-1]
                continue
            sign, old = self.of(here, value) if here else ("", ABSENT)
            if sign == "~" and as_map(old) and as_map(value):
                waiting += [(*here, key) for key in as_map(value)]
            elif sign and sign != "=":
                yield here

    def _written_above(self, path: Path) -> Path | None:
        """Give the nearest written path at or above a path; a list that only lost items is not."""
        for size in range(len(path), 0, -1):
            above = path[:size]
            if above in self._written and (size == len(path) or above not in self._moved):
                return above
        return None

    def _old(self, path: Path) -> Any:
        if self._before is ABSENT or any(path[:n] in self._moved for n in range(len(path))):
            return ABSENT
        try:
            return value_at(self._before, path)
        except KeyError:
            return ABSENT


def marks_of(changes: Sequence[Change], before: State) -> Marks:
    """Give the marks of a checkpoint. `before` is its parent's state, None at a root."""
    moved = {each.path for each in changes if isinstance(each, Splice)}
    moved |= {
        each.path[:-1]
        for each in changes
        if isinstance(each, Drop) and isinstance(each.path[-1], int)
    }
    known = ABSENT if before is None else before
    return Marks(written_paths(changes, before), known, moved)


def places_of(paths: Iterable[Path], state: State) -> Iterator[tuple[int, ...]]:
    """Give where paths stand among all those of a state: the place of each key in its holder.

    The places compare as the paths follow each other from top to bottom.
    """
    known: dict[Path, dict[Key, int]] = {}
    for path in paths:
        place: list[int] = []
        for depth, key in enumerate(path):
            if isinstance(key, int):
                place.append(key)
                continue
            above = path[:depth]
            if above not in known:
                members = as_map(value_at(state, above))
                known[above] = {each: number for number, each in enumerate(members)}
            place.append(known[above].get(key, 0))
        yield tuple(place)


class StateRow(msgspec.Struct, frozen=True):
    """One member of a container: where it is, how deep, and what it holds.

    `key_width` is the room that its key has, so that the values of one container are aligned.
    `sign` tells how it changed, `old` is what it was then. A row can also be one of the lines of
    an open text: it has the path of the text, and `line` counts from 0.
    """

    path: Path
    value: Any
    depth: int
    key_width: int
    is_container: bool
    is_open: bool
    sign: str = ""
    old: Any = ABSENT
    line: int | None = None

    @property
    def is_changed(self) -> bool:
        """Whether it, or something in it, has another value than before."""
        return self.sign not in ("", "=")


class StateRows:
    """The rows of a state; `opened` are the paths whose members or lines are shown.

    `width` are the columns that a row has, from which follows which texts can be opened and how
    their lines are broken.
    """

    def __init__(
        self, state: Any, opened: AbstractSet[Path], marks: Marks, width: int = PREVIEW
    ) -> None:
        self._marks = marks
        by_holder: dict[Path, list[Key]] = {}
        for path in opened:
            by_holder.setdefault(path[:-1], []).append(path[-1])
        self._root = _Container((), state, by_holder, width)

    def __len__(self) -> int:
        return self._root.size

    def __getitem__(self, place: int) -> StateRow:
        """Give the row on a line. Raises IndexError beyond the last."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        holder = self._root
        inner, place = holder.at(place)
        while isinstance(inner, _Container):
            holder = inner
            inner, place = holder.at(place)
        if inner is None:
            return self._row(holder, place)
        sign, _ = self._marks.of(inner.path, inner.value)
        depth = len(inner.path)
        return StateRow(inner.path, inner.lines[place], depth, 0, False, False, sign, line=place)

    def place_of(self, path: Path) -> int | None:
        """Give the line of a path, None where it is not shown."""
        holder: _Container = self._root
        begin = 0
        for depth, key in enumerate(path):
            index = holder.index_of(key)
            if index is None:
                return None
            if depth == len(path) - 1:
                return begin + holder.place_of(index)
            inner = holder.opened_at(index)
            if not isinstance(inner, _Container):
                return None
            begin += holder.place_of(index) + 1
            holder = inner
        return None

    def _row(self, holder: _Container, index: int) -> StateRow:
        key = holder.key_at(index)
        path = (*holder.path, key)
        value = holder.value[key]
        sign, old = self._marks.of(path, value)
        return StateRow(
            path,
            value,
            len(holder.path),
            holder.key_width,
            holder.can_open(value),
            holder.opened_at(index) is not None,
            sign,
            old,
        )


class _OpenText:
    """A text whose lines are shown."""

    def __init__(self, path: Path, value: str, width: int) -> None:
        self.path = path
        self.value = value
        room = width - _SIGNS - _INDENT * len(path) - _FOLD
        self.lines = _text_lines(value, max(room, _NARROWEST))
        self.size = len(self.lines)


@lru_cache(8)
def _text_lines(text: str, width: int) -> list[str]:
    return wrapped(safe_text(text), width)


class _Container:
    """A container whose members are shown."""

    def __init__(self, path: Path, value: Any, opened: dict[Path, list[Key]], width: int) -> None:
        self.path = path
        self.value = value
        self._keys: list[Key] = list(as_map(value))
        self._length = len(self._keys) if isinstance(value, dict) else len(as_list(value))
        self._room = width - _SIGNS - _INDENT * len(path) - _FOLD
        members: list[tuple[int, _Container | _OpenText]] = []
        for key in opened.get(path, ()):
            index = self.index_of(key)
            member: Any = None if index is None else self.value[key]
            if index is None or not self.can_open(member):
                continue
            below = (*path, key)
            if isinstance(member, str):
                members.append((index, _OpenText(below, member, width)))
            else:
                members.append((index, _Container(below, member, opened, width)))
        members.sort(key=lambda each: each[0])
        self._indexes = [index for index, _ in members]
        self._opened = [inner for _, inner in members]
        self._begins: list[int] = []
        """The line on which each open member's own lines begin."""
        above = 0
        for index, inner in members:
            self._begins.append(index + above + 1)
            above += inner.size
        self.size = self._length + above

    @cached_property
    def key_width(self) -> int:
        """The room for a key: as wide as the widest, within bounds."""
        if isinstance(self.value, list):
            return len(str(max(self._length - 1, 0)))
        measured = islice(self._keys, KEYS_MEASURED)
        return min(max((len(str(key)) for key in measured), default=0), WIDEST_KEY)

    def can_open(self, value: Any) -> bool:
        """Tell whether a member has more to show than its row does."""
        if isinstance(value, str):
            # Quotes and the gap behind the key take four columns.
            room = max(self._room - self.key_width - 4, _NARROWEST)
            return len(value) > room or "\n" in value or cell_len(value) > room
        return isinstance(value, (dict, list)) and bool(as_map(value) or as_list(value))

    def at(self, place: int) -> tuple[_Container | _OpenText | None, int]:
        """Give what is on a line: a line inside an open member, or a member by its index."""
        number = bisect_right(self._begins, place) - 1
        if number < 0:
            return None, place
        inner, begin = self._opened[number], self._begins[number]
        if place < begin + inner.size:
            return inner, place - begin
        return None, self._indexes[number] + 1 + place - begin - inner.size

    def place_of(self, index: int) -> int:
        """Give the line of a member, counted from the first one."""
        number = bisect_right(self._indexes, index - 1) - 1
        if number < 0:
            return index
        end = self._begins[number] + self._opened[number].size
        return end + index - self._indexes[number] - 1

    def opened_at(self, index: int) -> _Container | _OpenText | None:
        """Give a member that is open, None for one that is not."""
        number = bisect_right(self._indexes, index) - 1
        return self._opened[number] if number >= 0 and self._indexes[number] == index else None

    def key_at(self, index: int) -> Key:
        """Give the key of a member by its place."""
        return index if isinstance(self.value, list) else self._keys[index]

    def index_of(self, key: Key) -> int | None:
        """Give the place of a member, None where there is none with this key."""
        if isinstance(self.value, list):
            return key if isinstance(key, int) and 0 <= key < self._length else None
        return self._keys.index(key) if key in as_map(self.value) else None


class StateView(msgspec.Struct, frozen=True):
    """How rows of a state are drawn."""

    palette: Palette
    glyphs: Glyphs

    def text(self, row: StateRow, width: int) -> Text:
        """Give a row as one line of at most `width` cells."""
        style = self._style(row)
        line = Text(no_wrap=True, end="")
        indent = " " * (_INDENT * row.depth)
        if row.line is not None:
            # The sign stands at the text's own row; here only its style goes on.
            line.append(f"{' ' * _SIGNS}{indent}{' ' * _FOLD}")
            line.append(cut(row.value, max(width - line.cell_len, 0), self.glyphs), style)
            return line
        fold = " "
        if row.is_container:
            fold = self.glyphs.open if row.is_open else self.glyphs.closed
        key = row.path[-1]
        aligned = f"{key:>{row.key_width}}" if isinstance(key, int) else f"{key:<{row.key_width}}"
        line.append(f"{row.sign:<{_SIGNS}}", style)
        line.append(f"{indent}{fold} ", self.palette.dim)
        line.append(cut(safe_line(aligned), max(width - line.cell_len, 0), self.glyphs), style)
        line.append("  ")
        what = self._what(row, max(width - line.cell_len, 0))
        line.append(what, self.palette.text if row.old is not ABSENT else self.palette.dim)
        return line

    def fold_columns(self, row: StateRow) -> range:
        """Give the columns of a row in which the sign to unfold it stands."""
        begin = _SIGNS + _INDENT * row.depth
        return range(begin, begin + _FOLD)

    def _what(self, row: StateRow, room: int) -> str:
        if row.old is not ABSENT and not row.is_container:
            both = f"{preview(row.old, _SHORT)} {self.glyphs.arrow} {preview(row.value, _SHORT)}"
            if cell_len(both) <= room:
                return both
        return cut(preview(row.value, max(room - 2, 1)), room, self.glyphs)

    def _style(self, row: StateRow) -> str:
        match row.sign:
            case "+":
                return self.palette.add
            case "~":
                return self.palette.change
            case _:
                return self.palette.text

    def path_line(self, path: Path, value: Any, width: int) -> Text:
        """Give a path with the type and size of its value; what is too long is cut at its left."""
        size = sized(value)
        room = max(width - cell_len(size) - 3, _NARROWEST - 3)
        shown = cut_left(safe_line(dotted(path)), room, self.glyphs)
        line = Text.assemble((shown, self.palette.accent), f"   {size}", no_wrap=True, end="")
        line.stylize(self.palette.dim, len(shown))
        line.truncate(width)
        return line
