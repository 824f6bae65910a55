"""One row of the tree: number, lanes, what it is, what it says, and columns at the right.

From left to right the columns are the time, the size of the record, how long the step took and
the tokens in the context; where a row is narrow, the first of them are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from rich.cells import cell_len, set_cell_size

from tt_debugger.core.durations import seconds_taken
from tt_debugger.core.lanes import MOST_LANES, LaneRow
from tt_debugger.core.model import Head, Kind, Role, Session, iso_time
from tt_debugger.core.outline import Fold
from tt_debugger.core.search import Query
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.palette import Glyphs, Palette

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.views.judged import Judged

Piece = tuple[str, str]
"""A piece of a line, and its style."""

NAME_WIDTH = 8
WIDE_NAME_WIDTH = 12
WIDE = 100
"""Columns from which names have more room."""
SPOKEN = 3
"""Pieces of a row that say what it is: its name, a space, its summary."""
MINUTE, HOUR, DAY = 60, 3600, 86_400
MOST_DAYS = 999
"""Days of the longest time span that is told; what is longer is a clock that was wrong."""


class Column(NamedTuple):
    """A column at the right: its name, its cells, and the cells a row needs before it is drawn."""

    name: str
    width: int
    from_width: int


COLUMNS = (
    Column("time", 10, 100),
    Column("bytes", 7, 84),
    Column("took", 8, 56),
    Column("tokens", 7, 44),
)


VALUE = "value"
VALUE_WIDTHS = ((110, 20), (84, 15), (60, 11))
"""The column of a watched value: from how many cells of a row on it has which width."""
_BEHIND_VALUE = frozenset(("took", "tokens"))


@lru_cache(256)
def columns_at(width: int, *, has_value: bool = False) -> tuple[Column, ...]:
    """Give the columns that a row of so many cells has; `has_value` is for a watched value."""
    shown = [each for each in COLUMNS if width >= each.from_width]
    room = next((own for least, own in VALUE_WIDTHS if width >= least), 0)
    if has_value and room:
        behind = sum(each.name in _BEHIND_VALUE for each in shown)
        shown.insert(len(shown) - behind, Column(VALUE, room, 0))
    return tuple(shown)


_GLYPHS = {
    Kind.MESSAGE: "assistant",
    Kind.TOOL_CALL: "call",
    Kind.TOOL_RESULT: "result",
    Kind.TURN: "snapshot",
    Kind.MODEL_CHANGE: "setting",
    Kind.SETTING: "setting",
    Kind.COMPACTION: "compaction",
    Kind.BRANCH_SUMMARY: "branch",
    Kind.LABEL: "label",
    Kind.SUPER_STEP: "snapshot",
    Kind.INTERRUPT: "interrupt",
    Kind.SNAPSHOT: "snapshot",
    Kind.COMMIT: "snapshot",
    Kind.HANDOFF: "compaction",
    Kind.CUSTOM: "custom",
    Kind.GAP: "gap",
    Kind.UNREADABLE: "gap",
}


class WatchedValue(msgspec.Struct, frozen=True, eq=False):
    """The column of a watched value: what is watched, and what it is at a row.

    `at` gives it in few words and whether it changed there, None while that is not known.
    """

    name: Callable[[int], str]
    """What stands above the column, in so many cells."""
    at: Callable[[int], tuple[str, bool] | None]


class RowView(msgspec.Struct, frozen=True):
    """How rows of one session are drawn; what `found` matches is marked.

    Without a `number_width` they have no numbers: which rows they are is not known yet.
    """

    palette: Palette
    glyphs: Glyphs
    number_width: int
    found: Query | None = None
    marks: Mapping[int, str] = msgspec.field(default_factory=dict[int, str])
    """The name of the mark that a row has."""
    forks: Mapping[int, int] = msgspec.field(default_factory=dict[int, int])
    """How many forks were made from a row, or from those that its line stands for."""
    watched: WatchedValue | None = None
    held: Collection[int] = ()
    """The rows at which a condition holds that is searched for: they are marked."""
    judged: Judged | None = None
    """What a bisect knows of rows."""

    def text(self, session: Session, row: int, lanes: LaneRow, width: int | None = None) -> Text:
        """Give a row as one line: exactly `width` cells, or as long as it is without a width."""
        # It takes a while to import, and a pipe has no use for it.
        from rich.text import Text

        left, said, columns = self._pieces(session, row, lanes, width)
        line = Text(no_wrap=True, end="")
        for text, style in (*left, *said):
            line.append(text, style)
        begin = sum(len(text) for text, _ in left)
        if row in self.held:
            spoken = sum(len(text) for text, _ in said[:SPOKEN])
            end = len(line.plain[: begin + spoken].rstrip())
            line.stylize(self.palette.found, begin, end)
        self._mark_found(line, begin)
        for text, style in columns:
            line.append(text, style)
        if width is not None:
            line.truncate(width, pad=True)
        else:
            line.rstrip()
        return line

    def plain(self, session: Session, row: int, lanes: LaneRow) -> str:
        """Give a row as text alone, as long as it is."""
        pieces = chain.from_iterable(self._pieces(session, row, lanes))
        return "".join(text for text, _ in pieces).rstrip()

    def _pieces(
        self, session: Session, row: int, lanes: LaneRow, width: int | None = None
    ) -> tuple[list[Piece], list[Piece], list[Piece]]:
        """Give number and lanes, then what is said, then the columns at the right."""
        head = session.heads[row]
        left = [
            (self._number(row), self.palette.dim),
            *self._lanes(lanes, self.glyph(head), self.glyph_style(head)),
            (" ", ""),
        ]
        room = NAME_WIDTH if width is not None and width < WIDE else WIDE_NAME_WIDTH
        name = (_fitted(safe_line(head.name), room, self.glyphs), self.name_style(head))
        flags = list(self._flags(session, row))
        if width is not None and width < _TOOK_FROM:
            sign = self._sign(head)
            flags.append((f"{sign} " if sign else "", self._outcome_style(head)))
        columns = list(self._columns(session, row, head, width))
        summary = safe_line(without_marks(head))
        if width is not None:
            room = width - _cells([*left, name]) - _cells([*flags, *columns]) - 2
            summary = _fitted(summary, max(room, 0), self.glyphs)
        said = [name, (" ", ""), (summary, self._summary_style(head)), (" ", ""), *flags]
        return left, said, columns

    def _mark_found(self, line: Text, begin: int) -> None:
        """Mark what is searched for in a line, from a place on."""
        if self.found is not None:
            for first, last in self.found.spans(line.plain[begin:]):
                line.stylize(self.palette.found, begin + first, begin + last)

    def fold_text(self, session: Session, fold: Fold, lanes: LaneRow, width: int) -> Text:
        """Give a fold as one line: how many rows it stands for, and what is among them."""
        from rich.text import Text

        line = Text(" " * (self.number_width + 1), no_wrap=True, end="")
        for text, style in self._lanes(lanes, self.glyphs.fold, self.palette.lane):
            line.append(text, style)
        parts = [(counted(fold.count, "checkpoint"), self.palette.dim)]
        if fold.leaves > 1:
            parts.append((counted(fold.leaves, "branch", "branches"), self.palette.dim))
        if fold.failed:
            sign = f"{self.glyphs.bad} {counted(fold.failed, 'error')}"
            parts.append((sign, self.palette.bad))
        forks = self.forks.get(fold.first)
        if forks:
            parts.append((f"{self.glyphs.forked} {counted(forks, 'fork')}", self.palette.add))
        if fold.is_branch and fold.ended is not None:
            parts.append((f"ended {clock_text(fold.ended)}", self.palette.dim))
        line.append(" ")
        for place, (text, style) in enumerate(parts):
            if place:
                line.append(" · ", self.palette.dim)
            line.append(text, style)
        line.truncate(width, overflow="ellipsis", pad=True)
        return line

    def names_text(self, width: int) -> Text:
        """Give the names of the columns as a line that stands above rows of this width."""
        from rich.text import Text

        right = "".join(map(self._column_name, self._columns_at(width)))
        left = f"{'row':>{self.number_width}}" if self.number_width else ""
        room = max(width - len(right) - len(left), 0)
        return Text(f"{left}{' ' * room}{right}", self.palette.dim, no_wrap=True, end="")

    def _columns_at(self, width: int) -> tuple[Column, ...]:
        return columns_at(width, has_value=self.watched is not None)

    def _column_name(self, column: Column) -> str:
        name = column.name
        if name == VALUE and self.watched is not None:
            name = self.watched.name(column.width - 2)
        return f"{' ' * (column.width - cell_len(name))}{name}"

    def _columns(
        self, session: Session, row: int, head: Head, width: int | None
    ) -> Iterator[Piece]:
        """Give the columns at the right, each with its style; without a width two of them."""
        columns = _UNBOUND if width is None else self._columns_at(width)
        for name, room, _ in columns:
            style = self.palette.dim
            if name == VALUE:
                yield from self._value(row, room)
                continue
            match name:
                case "time":
                    text = "" if head.time is None else clock_text(head.time)
                case "bytes":
                    text = "" if head.length is None else count_text(head.length)
                case "took":
                    text = self._took(session, row, head)
                    style = self._outcome_style(head)
                case _:
                    size = session.context_sizes[row]
                    text = count_text(size) if size else ""
            if width is not None:
                # A text as wide as its column would stick to the one before.
                yield f" {text:>{room - 1}}", style
            elif text:
                yield f"  {text}", style

    def _value(self, row: int, room: int) -> Iterator[Piece]:
        """Give the watched value in a column of so many cells, marked where it changed."""
        found = None if self.watched is None else self.watched.at(row)
        if found is None:
            sign = "" if self.watched is None else self.glyphs.ellipsis
            yield f"{sign:>{room}}", self.palette.dim
            return
        text, changes = found
        sign = self.glyphs.stop if changes else ""
        most = room - 2 - cell_len(sign)
        shown = text if cell_len(text) <= most else _fitted(text, most, self.glyphs)
        yield " " * (room - cell_len(sign) - cell_len(shown)), ""
        yield sign, self.palette.change
        yield shown, self.palette.text if changes else self.palette.dim

    def _number(self, row: int) -> str:
        return f"{row + 1:>{self.number_width}} " if self.number_width else ""

    def _flags(self, session: Session, row: int) -> Iterator[Piece]:
        """Give what few rows have: a label, subsessions, forks, branches, the active leaf."""
        flag = None if self.judged is None else self.judged.flag(row)
        if flag is not None:
            yield flag[0], getattr(self.palette, flag[1])
        if row in self.marks:
            yield f"'{safe_line(self.marks[row])} ", self.palette.label
        label = session.labels.get(row)
        if label is not None:
            name = _fitted(safe_line(label), 24, self.glyphs).rstrip()
            yield f"{self.glyphs.label} {name} ", self.palette.label
        started = session.subsessions.get(row)
        if started:
            count = f"{len(started)} " if len(started) > 1 else ""
            yield f"{self.glyphs.inside} {count}", self.palette.accent
        forked = self.forks.get(row)
        if forked:
            count = f"{forked} " if forked > 1 else ""
            yield f"{self.glyphs.forked} {count}", self.palette.add
        branches = session.tree.child_count(row)
        if branches > 1:
            yield f"{self.glyphs.fork} {branches} ", self.palette.lane
        if row == session.active:
            yield f"{self.glyphs.active} ", self.palette.accent

    def _took(self, session: Session, row: int, head: Head) -> str:
        """Tell how a step came out, and how long it took."""
        sign, taken = self._sign(head), seconds_taken(session, row)
        return sign if taken is None else f"{sign} {duration_text(taken)}".lstrip()

    def _sign(self, head: Head) -> str:
        if head.failed:
            return self.glyphs.bad
        return self.glyphs.good if head.kind is Kind.TOOL_RESULT else ""

    def _outcome_style(self, head: Head) -> str:
        return self.palette.bad if head.failed else self.palette.dim

    def _lanes(self, lanes: LaneRow, glyph: str, style: str) -> Iterator[Piece]:
        cells = [self.glyphs.lines[cell] for cell in lanes.cells]
        is_drawn = lanes.lane < MOST_LANES
        for place, cell in enumerate(cells):
            if is_drawn and place == 2 * lanes.lane:
                yield glyph, style
            elif place < len(cells) - 1 or cell != " ":
                yield cell, self.palette.lane
        if lanes.hidden:
            yield f"+{lanes.hidden}", self.palette.lane
        if not is_drawn:
            yield f" {glyph}", style

    def glyph(self, head: Head) -> str:
        """Give the sign of a checkpoint's kind."""
        if head.kind is Kind.MESSAGE and head.role is Role.USER:
            return self.glyphs.user
        return getattr(self.glyphs, _GLYPHS[head.kind])

    def glyph_style(self, head: Head) -> str:
        """Give the style of that sign."""
        if head.failed:
            return self.palette.bad
        match head.kind:
            case Kind.MESSAGE if head.role is Role.USER:
                return self.palette.accent
            case Kind.TOOL_CALL | Kind.TOOL_RESULT:
                return self.palette.good
            case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
                return self.palette.change
            case Kind.LABEL:
                return self.palette.label
            case _:
                return self.palette.text

    def name_style(self, head: Head) -> str:
        """Give the style of a checkpoint's name."""
        if head.kind is Kind.MESSAGE and head.role is Role.USER:
            return self.palette.accent
        return self.palette.bad if head.failed else self.palette.dim

    def _summary_style(self, head: Head) -> str:
        if head.failed:
            return self.palette.bad
        match head.kind:
            case Kind.MESSAGE | Kind.TOOL_CALL:
                return self.palette.text
            case Kind.COMPACTION | Kind.BRANCH_SUMMARY:
                return self.palette.change
            case _:
                return self.palette.dim


_TOOK_FROM = next(each.from_width for each in COLUMNS if each.name == "took")
_UNBOUND = tuple(each for each in COLUMNS if each.name in _BEHIND_VALUE)
"""The columns of a row as long as it is."""


_MARKS = re.compile(r"```\w*\s?|\*\*|`|(?<!\S)#{1,6}\s")
_SPOKEN = frozenset((Kind.MESSAGE, Kind.COMPACTION, Kind.BRANCH_SUMMARY))


def without_marks(head: Head) -> str:
    """Give what a row says without the marks of Markdown, which only cost room on one line."""
    return _MARKS.sub("", head.summary) if head.kind in _SPOKEN else head.summary


def _fitted(text: str, width: int, glyphs: Glyphs) -> str:
    """Give a text in exactly so many cells: padded, or cut with an ellipsis."""
    size = cell_len(text)
    if size <= width:
        return text + " " * (width - size)
    room = width - cell_len(glyphs.ellipsis)
    if room < 0:
        return " " * width
    return set_cell_size(text, room) + glyphs.ellipsis


def _cells(pieces: Iterable[Piece]) -> int:
    return cell_len("".join(text for text, _ in pieces))


def count_text(number: int) -> str:
    """Give a count in at most five characters: 512, 5.9k, 128k, 1.2M, >999T."""
    if number < 1000:  # noqa: PLR2004 - the thousands themselves
        return str(number)
    for unit in "kMGT":
        number_in_unit = number / 1000
        if number_in_unit < 999.5:  # noqa: PLR2004 - rounds to the next unit
            decimals = 1 if number_in_unit < 99.95 else 0  # noqa: PLR2004 - three digits at most
            return f"{number_in_unit:.{decimals}f}{unit}"
        number //= 1000
    return ">999T"


def duration_text(seconds: float) -> str:
    """Give a time span as people say it: 0.4s, 41s, 3m05s, 2h10m, 68d, >999d."""
    if seconds < 10:  # noqa: PLR2004 - tenths matter below ten
        return f"{seconds:.1f}s"
    if seconds < MINUTE:
        return f"{seconds:.0f}s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)}m{int(seconds % MINUTE):02}s"
    if seconds < DAY:
        return f"{int(seconds // HOUR)}h{int(seconds % HOUR // MINUTE):02}m"
    days = seconds // DAY
    return f"{days:.0f}d" if days <= MOST_DAYS else f">{MOST_DAYS}d"


def clock_text(seconds: float) -> str:
    """Give the time of day in UTC, empty where the time is out of range."""
    return (iso_time(seconds) or "")[11:19]
