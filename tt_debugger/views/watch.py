"""The history of a watched value as lines: where it changed, and from what to what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.diff.texts import signed_lines
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import is_message
from tt_debugger.core.model import Head, Kind, Role, Session
from tt_debugger.core.paths import Key
from tt_debugger.core.text import counted, safe_line
from tt_debugger.core.watch import Moment
from tt_debugger.views.changes import LONGEST_BY_LINES, MEASURED, MOST_LINES, old_and_new
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import NAME_WIDTH, RowView, clock_text
from tt_debugger.views.values import cut, folded, preview

WIDEST_VALUE = 40
"""Cells of the widest value behind which the others are aligned."""
MOST_MEMBERS = 64
"""Members of an object whose old values are told."""
_ROOM = 100
"""Cells of a value on a pipe, which has no width."""
_SHORTEST = 12
"""Cells in which a value or a summary still says something."""
_TIME_FROM = 64
"""Columns from which there is room for the time."""


class Brief(msgspec.Struct, frozen=True):
    """A container in few words, and its members as far as they may be told of when they change.

    It stands for what was there at a moment, which is live and another by the next.
    """

    said: str
    size: int
    is_list: bool
    is_message: bool = False
    members: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Told(NamedTuple):
    """A moment that can be kept: both values, a container as a `Brief`; UNSET for what is none."""

    row: int
    old: Any
    new: Any
    is_rewrite: bool
    keys: tuple[Key, ...] = ()


def told(moments: Iterable[Moment], first: Any = msgspec.UNSET) -> Iterator[Told]:
    """Give moments so that they can be kept, each with the value before; `first` is the first."""
    old = first
    for moment in moments:
        new = _brief(moment.value)
        yield Told(moment.row, old, new, moment.is_rewrite, moment.keys)
        old = new


class HistoryView(msgspec.Struct, frozen=True):
    """How the moments of a value are drawn: a line for each, and one for each line of a text.

    `name` gives what the line of a row begins with. A condition has a truth for a value.
    """

    session: Session
    name: Callable[[int], str]
    palette: Palette
    glyphs: Glyphs
    width: int | None = None
    is_condition: bool = False

    def lines(self, moments: Iterable[Told]) -> Iterator[Text]:
        """Give the lines of moments; columns are as wide as the first of them need."""
        moments = iter(moments)
        measured = list(islice(moments, MEASURED))
        columns = self._columns(measured)
        for each in chain(measured, moments):
            yield from self._lines(each, columns)

    def _columns(self, measured: Sequence[Told]) -> _Columns:
        rows = [each.row for each in measured]
        heads = self.session.heads
        has_time = any(heads.time(row) is not None for row in rows)
        columns = _Columns(
            name=max((cell_len(safe_line(self.name(row))) for row in rows), default=0),
            number=len(str(len(self.session))),
            time=has_time and (self.width is None or self.width >= _TIME_FROM),
        )
        room = _ROOM if self.width is None else self.width - columns.begin
        most = min(WIDEST_VALUE, room * 2 // 3)
        sizes = (cell_len(self._value(each, room)[0]) for each in measured)
        value = max((size for size in sizes if size <= most), default=0)
        return msgspec.structs.replace(columns, value=value)

    def _lines(self, moment: Told, columns: _Columns) -> Iterator[Text]:
        line = self._left(moment.row, columns)
        sign = ("+" if moment.new else "-") if self.is_condition else _sign(moment)
        room = _ROOM if self.width is None else max(self.width - columns.begin, _SHORTEST)
        words = self._value(moment, room)
        line.append(f"{sign} ", self._style(sign))
        said = words[0] if self.width is None else cut(words[0], room, self.glyphs)
        line.append(said, self._style(sign) if sign in "=-" else self.palette.text)
        line.append_text(self._summary(moment.row, columns, columns.begin + cell_len(said)))
        if moment.is_rewrite:
            line.stylize(self.palette.dim)
        yield line
        for each in words[1:]:
            style = self._style(each[0]) if each[:2] in {"+ ", "- "} else self.palette.dim
            shown = each if self.width is None else cut(each, room, self.glyphs)
            yield Text(f"{' ' * columns.begin}{shown}", style, no_wrap=True)

    def _left(self, row: int, columns: _Columns) -> Text:
        """Give which checkpoint it is: what it is called, its number, its time, what it does."""
        head = self.session.heads[row]
        name = safe_line(self.name(row))
        line = Text(no_wrap=True).append(name, self.palette.label)
        line.append(" " * (columns.name - cell_len(name) + 1))
        line.append(f"{row + 1:>{columns.number}} ", self.palette.dim)
        if columns.time:
            time = "" if head.time is None else clock_text(head.time)
            line.append(f"{time:<8} ", self.palette.dim)
        view = RowView(self.palette, self.glyphs, columns.number)
        what = cut(safe_line(head.name), NAME_WIDTH, self.glyphs)
        line.append(f"{view.glyph(head)} {what}", self._head_style(head))
        line.append(" " * max(columns.begin - 2 - line.cell_len, 1))
        return line

    def _summary(self, row: int, columns: _Columns, end: int) -> Text:
        """Give what the checkpoint says behind its value, as far as there is room."""
        summary = safe_line(self.session.heads[row].summary)
        gap = max(columns.begin + columns.value - end, 0) + 2
        if self.width is not None:
            room = self.width - end - gap
            if room < _SHORTEST:
                return Text()
            summary = cut(summary, room, self.glyphs)
        return Text.assemble(" " * gap, (summary, self.palette.dim)) if summary else Text()

    def _value(self, moment: Told, room: int) -> list[str]:
        """Give what became of the value: a line, and for a text the lines that differ."""
        if self.is_condition:
            return ["holds" if moment.new else "holds no longer"]
        match _sign(moment):
            case "=":
                return [f"{_said(moment.new, room - 12)} (rewritten)"]
            case "+":
                return [_said(moment.new, room)]
            case "-":
                return [f"{_said(moment.old, room - 7)} (gone)"]
            case _:
                return self._change(moment, room)

    def _change(self, moment: Told, room: int) -> list[str]:
        old, new = moment.old, moment.new
        if _have_lines(old, new):
            return self._by_lines(old, new)
        if isinstance(old, Brief) and isinstance(new, Brief):
            is_another = old.is_message and new.is_message and old.said != new.said
            if old.is_list and new.is_list:
                return [self._in_list(old, new, moment.keys)]
            if not (old.is_list or new.is_list or is_another):
                return [self._members(moment)]
        if isinstance(old, Brief) or isinstance(new, Brief):
            half = max((room - 3) // 2, _SHORTEST)
            was, now = (cut(_said(each, half), half, self.glyphs) for each in (old, new))
            return [f"{was} {self.glyphs.arrow} {now}"]
        return old_and_new(old, new, room, self.glyphs)

    def _by_lines(self, old: str, new: str) -> list[str]:
        """Give how many lines of a text came and went, and the first of them."""
        changed = [each for each in signed_lines(old, new) if each[0] != " "]
        added = sum(sign == "+" for sign, _ in changed)
        count = f"{counted(added, 'line')} added, {len(changed) - added:,} removed"
        lines = [f"{sign} {safe_line(line.rstrip())}" for sign, line in changed]
        more = len(lines) - MOST_LINES
        if more > 1:
            left = f"{self.glyphs.ellipsis} {counted(more, 'more line')}"
            return [count, *lines[:MOST_LINES], left]
        return [count, *lines]

    def _in_list(self, old: Brief, new: Brief, keys: tuple[Key, ...]) -> str:
        if old.size != new.size:
            return f"{old.size:,} {self.glyphs.arrow} {counted(new.size, 'item')}"
        places = f": {', '.join(f'[{key}]' for key in keys[:3])}" if keys else ""
        more = f", {self.glyphs.ellipsis}" if len(keys) > len(keys[:3]) else ""
        return f"{counted(new.size, 'item')}, changed{places}{more}"

    def _members(self, moment: Told) -> str:
        """Give the members of an object that changed: of numbers by how much."""
        words = [self._member(str(key), moment.old, moment.new) for key in moment.keys]
        return safe_line(", ".join(words)) or f"{counted(moment.new.size, 'key')}, changed"

    def _member(self, key: str, old: Brief, new: Brief) -> str:
        unset = msgspec.UNSET
        mine, theirs = old.members.get(key, unset), new.members.get(key, unset)
        if mine is unset and theirs is unset:
            return key
        if theirs is unset:
            return f"-{key}"
        if mine is unset:
            return f"+{key} {_inner(theirs)}"
        if _is_number(mine) and _is_number(theirs):
            step = theirs - mine
            return f"{key} {step:+,}" if isinstance(step, int) else f"{key} {step:+.4g}"
        if isinstance(mine, Brief) and isinstance(theirs, Brief):
            grown = theirs.is_list and mine.is_list and mine.size != theirs.size
            count = f"{mine.size:,} {self.glyphs.arrow} {counted(theirs.size, 'item')}"
            return f"{key} {count}" if grown else key
        return f"{key} {_inner(mine)} {self.glyphs.arrow} {_inner(theirs)}"

    def _style(self, sign: str) -> str:
        styles = {"+": self.palette.add, "-": self.palette.remove, "~": self.palette.change}
        return styles.get(sign, self.palette.dim)

    def _head_style(self, head: Head) -> str:
        if head.failed:
            return self.palette.bad
        is_user = head.kind is Kind.MESSAGE and head.role is Role.USER
        return self.palette.accent if is_user else self.palette.dim


class _Columns(msgspec.Struct, frozen=True):
    """How wide the columns are, and whether there is one for the time."""

    name: int
    number: int
    time: bool
    value: int = 0

    @property
    def begin(self) -> int:
        """Where values begin."""
        time = len("00:00:00 ") if self.time else 0
        return self.name + 1 + self.number + 1 + time + 2 + NAME_WIDTH + 1 + 2


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return _container(value)
    if not isinstance(value, dict):
        return value
    members = islice(as_map(value).items(), MOST_MEMBERS)
    return msgspec.structs.replace(
        _container(as_map(value)), members={key: _container(each) for key, each in members}
    )


def _container(value: Any) -> Any:
    """Give a container without its members, and anything else as it is."""
    if isinstance(value, list):
        size = len(as_list(value))
        return Brief(preview(value), size, is_list=True)
    if isinstance(value, dict):
        members = as_map(value)
        return Brief(preview(value), len(members), is_list=False, is_message=is_message(members))
    return value


def _sign(moment: Told) -> str:
    if moment.is_rewrite:
        return "="
    if moment.old is msgspec.UNSET:
        return "+"
    return "-" if moment.new is msgspec.UNSET else "~"


def _said(value: Any, room: int) -> str:
    """Give a value as one safe line."""
    return value.said if isinstance(value, Brief) else folded(value, max(room, _SHORTEST))


def _inner(value: Any) -> str:
    return value.said if isinstance(value, Brief) else preview(value, _SHORTEST * 2)


def _have_lines(old: Any, new: Any) -> bool:
    """Tell whether two values are texts of several lines, short enough to be told by them."""
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    return ("\n" in old or "\n" in new) and len(old) + len(new) <= LONGEST_BY_LINES


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
