"""The history of a watched value as lines: where it changed, and from what to what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.between import is_same
from tt_debugger.core.history import Moment
from tt_debugger.core.json import as_list, as_map, is_number
from tt_debugger.core.messages import is_message
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Key
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.changes import MEASURED, by_lines, have_lines, old_and_new, signed
from tt_debugger.views.margin import Margin
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import without_marks
from tt_debugger.views.values import PREVIEW, cut, folded, preview

WIDEST_VALUE = 40
"""Cells of the widest value behind which the others are aligned."""
MOST_MEMBERS = 64
"""Members of an object whose old values are told."""
MOST_ITEMS = 20
"""Items of a list that is told item by item, where none of them has anything inside."""
FEW_LINES = 5
"""Lines of a text that are told of one change, where not all are asked for."""
_ROOM = 100
"""Cells of a value on a pipe, which has no width."""
_PLAIN_ITEM = re.compile(r"(?!(?:null|true|false)\Z)[^\W\d][\w.:/ -]*", re.ASCII)
"""A text that is taken for nothing else without quotes."""
_SHORTEST = 12
"""Cells in which a value or a summary still says something."""


class Brief(msgspec.Struct, frozen=True):
    """A container in few words, and its members as far as they may be told of when they change.

    It stands for what was there at a moment, which is live and another by the next.
    """

    said: str
    size: int
    is_list: bool
    is_message: bool = False
    members: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    items: tuple[Any, ...] = ()
    """Those of a short list in which none has anything inside."""

    @property
    def is_short_list(self) -> bool:
        """Whether all of its items are known."""
        return self.is_list and len(self.items) == self.size


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
    most_lines: int | None = FEW_LINES
    """Lines that are told of a text that changed; None for all."""

    def lines(self, moments: Iterable[Told]) -> Iterator[Text]:
        """Give the lines of moments; columns are as wide as the first of them need."""
        moments = iter(moments)
        measured = list(islice(moments, MEASURED))
        columns = self._columns(measured)
        for each in chain(measured, moments):
            yield from self._lines(each, columns)

    def _columns(self, measured: Sequence[Told]) -> _Columns:
        rows = (each.row for each in measured)
        margin = Margin.of(self.session, self.name, rows, self.palette, self.glyphs, self.width)
        columns = _Columns(margin)
        room = _ROOM if self.width is None else self.width - columns.begin
        most = min(WIDEST_VALUE, room * 2 // 3)
        sizes = (cell_len(self._value(each, room)[0]) for each in measured)
        value = max((size for size in sizes if size <= most), default=0)
        return msgspec.structs.replace(columns, value=value)

    def _lines(self, moment: Told, columns: _Columns) -> Iterator[Text]:
        line = columns.margin.text(moment.row)
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

    def _summary(self, row: int, columns: _Columns, end: int) -> Text:
        """Give what the checkpoint says behind its value, as far as there is room."""
        summary = safe_line(without_marks(self.session.heads[row]))
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
        if have_lines(old, new):
            return by_lines(old, new, self.glyphs, most=self.most_lines)
        if isinstance(old, Brief) and isinstance(new, Brief):
            is_another = old.is_message and new.is_message and old.said != new.said
            if old.is_list and new.is_list:
                return [self._in_list(old, new, moment.keys, room)]
            if not (old.is_list or new.is_list or is_another):
                return [self._members(moment)]
        if isinstance(old, Brief) or isinstance(new, Brief):
            half = max((room - 3) // 2, _SHORTEST)
            was, now = (cut(_said(each, half), half, self.glyphs) for each in (old, new))
            return [f"{was} {self.glyphs.arrow} {now}"]
        return old_and_new(old, new, room, self.glyphs)

    def _in_list(self, old: Brief, new: Brief, keys: tuple[Key, ...], room: int) -> str:
        if old.is_short_list and new.is_short_list:
            words = self._items(old, new, room)
            if words:
                return words
        if old.size != new.size:
            return f"{old.size:,} {self.glyphs.arrow} {counted(new.size, 'item')}"
        places = f": {', '.join(f'[{key}]' for key in keys[:3])}" if keys else ""
        more = f", {self.glyphs.ellipsis}" if len(keys) > len(keys[:3]) else ""
        return f"{counted(new.size, 'item')}, changed{places}{more}"

    def _items(self, old: Brief, new: Brief, room: int) -> str:
        """Give both lists if that fits, else the items that are others; nothing for too many."""
        whole = f"{old.said} {self.glyphs.arrow} {new.said}"
        if old.said != new.said and cell_len(whole) <= room:
            return whole
        if old.size != new.size:
            return ""
        pairs = zip(old.items, new.items, strict=True)
        changed = (
            f"[{place}] {_item(mine)} {self.glyphs.arrow} {_item(theirs)}"
            for place, (mine, theirs) in enumerate(pairs)
            if not is_same(mine, theirs)
        )
        return ", ".join(changed)

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
        if is_number(mine) and is_number(theirs):
            return f"{key} {signed(theirs - mine)}"
        if isinstance(mine, Brief) and isinstance(theirs, Brief):
            grown = theirs.is_list and mine.is_list and mine.size != theirs.size
            count = f"{mine.size:,} {self.glyphs.arrow} {counted(theirs.size, 'item')}"
            return f"{key} {count}" if grown else key
        return f"{key} {_inner(mine)} {self.glyphs.arrow} {_inner(theirs)}"

    def _style(self, sign: str) -> str:
        styles = {"+": self.palette.add, "-": self.palette.remove, "~": self.palette.change}
        return styles.get(sign, self.palette.dim)


class _Columns(msgspec.Struct, frozen=True):
    """The margin, and how wide values are."""

    margin: Margin
    value: int = 0

    @property
    def begin(self) -> int:
        """Where values begin, behind a sign."""
        return self.margin.width + 2


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
        items = as_list(value)
        if 0 < len(items) <= MOST_ITEMS and not any(isinstance(x, (dict, list)) for x in items):
            return Brief(_in_brackets(items), len(items), is_list=True, items=tuple(items))
        return Brief(preview(value), len(items), is_list=True)
    if isinstance(value, dict):
        members = as_map(value)
        return Brief(preview(value), len(members), is_list=False, is_message=is_message(members))
    return value


def _in_brackets(items: Sequence[Any]) -> str:
    """Give the items of a list as one safe line, as many as fit it."""
    words, size = list[str](), 0
    for each in items:
        words.append(_item(each))
        size += cell_len(words[-1]) + 2
        if size > PREVIEW:
            words[-1] = "…"
            break
    return f"[{', '.join(words)}]"


def _item(value: Any) -> str:
    """Give a scalar as it stands in a list; a text without quotes where it needs none."""
    said = preview(value, _SHORTEST * 2)
    is_plain = isinstance(value, str) and _PLAIN_ITEM.fullmatch(value)
    return said[1:-1] if is_plain and said == f'"{value}"' else said


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
