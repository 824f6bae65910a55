"""A listing of sessions: its header, a row for each, and a preview of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len, chop_cells
from rich.text import Text

from tt_debugger.core.families import Project
from tt_debugger.core.folds import Fold
from tt_debugger.core.lanes import LaneRow
from tt_debugger.core.listed import Spot
from tt_debugger.core.listing import Entry, Facts, Sort, last_part
from tt_debugger.core.model import Session, iso_time
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.hit import hit_text
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView, count_text, duration_text

GAP = 2
"""Cells between columns."""
MARGIN = 2
"""Cells before the first column: the mark of the entry that was opened last, and a space."""
TITLE_WIDTH = 26
"""Cells that the title keeps; columns for which there is no room beside it are left out."""
GROUPED_WIDTH = 40
"""The same below headings, which say what else would stand beside it."""
MINUTE, HOUR, DAY, WEEK, YEAR = 60, 3600, 86_400, 7 * 86_400, 365 * 86_400
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FACT_WIDTH = 13


class Column(msgspec.Struct, frozen=True):
    """One column: what it is sorted by, its head, and its width; 0 for what is left."""

    sort: Sort
    head: str
    width: int
    is_number: bool = True


COLUMNS = (
    Column(Sort.FORMAT, "agent", 9, is_number=False),
    Column(Sort.PROJECT, "project", 13, is_number=False),
    Column(Sort.NAME, "title", 0, is_number=False),
    Column(Sort.ERRORS, "errors", 6),
    Column(Sort.FINDINGS, "findings", 8),
    Column(Sort.BRANCHES, "branches", 8),
    Column(Sort.CHECKPOINTS, "ckpts", 5),
    Column(Sort.TOKENS, "tokens", 6),
    Column(Sort.COST, "cost", 6),
    Column(Sort.SIZE, "size", 6),
    Column(Sort.NEWEST, "age", 7),
)
_BY_WEIGHT = (
    Sort.NEWEST,
    Sort.CHECKPOINTS,
    Sort.PROJECT,
    Sort.COST,
    Sort.TOKENS,
    Sort.FORMAT,
    Sort.ERRORS,
    Sort.BRANCHES,
    Sort.FINDINGS,
    Sort.SIZE,
)


def columns_for(width: int, sort: Sort, *, is_grouped: bool = False) -> list[Column]:
    """Give the columns that a width has room for, the one that is sorted by among them.

    What the headings of groups say needs none.
    """
    by_sort = {each.sort: each for each in COLUMNS}
    chosen = {Sort.NAME}
    room = width - MARGIN - (GROUPED_WIDTH if is_grouped else TITLE_WIDTH)
    for each in dict.fromkeys((sort, *_BY_WEIGHT)):
        if each is Sort.NAME or (is_grouped and each in {Sort.FORMAT, Sort.PROJECT}):
            continue
        room -= by_sort[each].width + GAP
        if room < 0 and each is not sort:
            break
        chosen.add(each)
    return [each for each in COLUMNS if each.sort in chosen]


class ListingView(msgspec.Struct, frozen=True):
    """How a listing is drawn: at which time, ordered by what, and with which words marked."""

    palette: Palette
    glyphs: Glyphs
    now: float
    sort: Sort = Sort.NEWEST
    is_reversed: bool = False
    words: tuple[str, ...] = ()
    is_grouped: bool = False

    def header(self, width: int) -> Text:
        """Give the heads of the columns; the one that is sorted by has a sign for its order."""
        is_rising = self.sort.is_rising is not self.is_reversed
        sign = self.glyphs.marker if is_rising else self.glyphs.open
        line = Text(" " * MARGIN, no_wrap=True, end="")
        for column, size in self._sizes(width):
            is_sorted = column.sort is self.sort
            head = column.head
            if is_sorted:
                gap = " " if cell_len(head) + 2 <= size else ""
                head = f"{sign}{gap}{head}" if column.is_number else f"{head} {sign}"
            style = self.palette.accent if is_sorted else self.palette.dim
            # A sorted head may need the gap before it.
            over = max(cell_len(head) - size, 0) if column.is_number else 0
            if over:
                line.right_crop(over)
            cell = Text(_aligned(head, size + over, self.glyphs, column), style)
            line.append_text(cell).append(" " * GAP)
        line.truncate(width, pad=True)
        return line

    def sort_at(self, x: int, width: int) -> Sort | None:
        """Give what the column at a cell of the header is sorted by."""
        end = MARGIN
        for column, size in self._sizes(width):
            end += size + GAP
            if x < end:
                return column.sort
        return None

    def text(
        self,
        entry: Entry,
        width: int,
        *,
        is_marked: bool = False,
        trail: Sequence[bool] = (),
    ) -> Text:
        """Give an entry as one line of exactly `width` cells, its title behind its trail."""
        line = Text(no_wrap=True, end="")
        line.append(f"{self.glyphs.bullet if is_marked else ' '} ", self.palette.accent)
        for column, size in self._sizes(width):
            text, style = self._cell(entry, column.sort)
            if trail and column.sort is Sort.NAME:
                lead = trail_text(trail, self.glyphs)
                line.append(lead, self.palette.lane)
                size = max(size - cell_len(lead), 1)  # noqa: PLW2901 - the rest of the column
            cell = Text(_aligned(safe_line(text), size, self.glyphs, column), style)
            if self.words and not column.is_number:
                cell.highlight_words(self.words, self.palette.found, case_sensitive=False)
            line.append_text(cell).append(" " * GAP)
        line.truncate(width, pad=True)
        return line

    def heading(self, project: Project, width: int) -> Text:
        """Give the heading of a project as one line of exactly `width` cells."""
        palette = self.palette
        name = safe_line(last_part(project.cwd)) or "no project"
        line = Text.assemble((name, palette.heading), (f" {self.glyphs.turn} ", palette.dim))
        line.append(safe_line(project.format), palette.lane)
        line.append(f"  {counted(project.sessions, 'session')}", palette.dim)
        line.append(f"  {safe_line(project.cwd)}", palette.dim)
        line.no_wrap, line.end = True, ""
        line.truncate(width, pad=True)
        return line

    def spot(self, spot: Spot, width: int) -> Text:
        """Give a place in a session as one line of exactly `width` cells."""
        line = Text(no_wrap=True, end="")
        line.append(f"{' ' * (MARGIN + 2)}{self.glyphs.arrow} ", self.palette.lane)
        line.append(hit_text(spot.said_by, spot.hit, self.palette))
        line.truncate(width, pad=True)
        return line

    def _sizes(self, width: int) -> Iterator[tuple[Column, int]]:
        columns = columns_for(width, self.sort, is_grouped=self.is_grouped)
        rest = width - MARGIN - sum(each.width + GAP for each in columns) + GAP
        for each in columns:
            yield each, each.width or max(rest - GAP, 1)

    def _cell(self, entry: Entry, sort: Sort) -> tuple[str, str]:
        palette, facts = self.palette, entry.facts
        if entry.failed is not None and sort is Sort.NAME:
            return f"{self.glyphs.bad} {entry.name}: {entry.failed}", palette.bad
        known = {
            Sort.FORMAT: (entry.format, palette.dim),
            Sort.PROJECT: (entry.project, palette.lane),
            Sort.NAME: (entry.title, palette.text if facts else palette.dim),
            Sort.NEWEST: (age_text(entry.time, self.now), palette.dim),
            Sort.SIZE: (count_text(entry.size) if entry.size else "", palette.dim),
        }
        if sort in known:
            return known[sort]
        if facts is not None:
            return number_text(facts, sort), self._number_style(sort)
        is_awaited = sort is Sort.CHECKPOINTS and entry.failed is None
        return self.glyphs.ellipsis if is_awaited else "", palette.dim

    def _number_style(self, sort: Sort) -> str:
        match sort:
            case Sort.ERRORS:
                return self.palette.bad
            case Sort.FINDINGS:
                return self.palette.change
            case Sort.CHECKPOINTS:
                return self.palette.text
            case _:
                return self.palette.dim


def number_text(facts: Facts, sort: Sort) -> str:
    """Give a number of a session; what goes without saying is left out."""
    match sort:
        case Sort.CHECKPOINTS:
            return count_text(facts.checkpoints)
        case Sort.BRANCHES:
            return count_text(facts.branches) if facts.branches > 1 else ""
        case Sort.COST:
            return cost_text(facts.cost)
        case _:
            number: int = getattr(facts, sort.value)
            return count_text(number) if number else ""


def _aligned(text: str, width: int, glyphs: Glyphs, column: Column) -> str:
    """Give a text in exactly so many cells: numbers at the right, words cut with an ellipsis."""
    size = cell_len(text)
    if size > width:
        fitted = Text(text)
        fitted.truncate(max(width - cell_len(glyphs.ellipsis), 0))
        text = fitted.plain + glyphs.ellipsis
        size = cell_len(text)
    space = " " * max(width - size, 0)
    return space + text if column.is_number else text + space


def age_text(time: float, now: float) -> str:
    """Give how long ago a time is: 3m, 2h, 5d; after a week its day, after a year its month.

    Nothing for a time of 0.
    """
    if not time:
        # Of what has no file and no time nothing is known.
        return ""
    age = now - time
    if age < MINUTE:
        return "now"
    for unit, size, end in (("m", MINUTE, HOUR), ("h", HOUR, DAY), ("d", DAY, WEEK)):
        if age < end:
            return f"{age // size:.0f}{unit}"
    written = iso_time(time)
    if written is None:
        return ""
    year, month, day = written[:10].split("-")
    return f"{year}-{month}" if age >= YEAR else f"{_MONTHS[int(month) - 1]} {day}"


def cost_text(cost: float) -> str:
    """Give a cost in dollars, empty where nothing was paid."""
    if not cost:
        return ""
    if cost < 0.01:  # noqa: PLR2004 - a cent
        return "<$0.01"
    return f"${cost:.2f}" if cost < 1000 else f"${count_text(int(cost))}"  # noqa: PLR2004 - cents


MOST_TRAIL = 6
"""Steps down a family that are drawn; of more only the last."""
_NONE, _PAST, _LAST, _BELOW = 0, 3, 9, 11
"""Nothing, the way past to a later sibling, the last sibling, one with others below it."""


def trail_text(trail: Sequence[bool], glyphs: Glyphs) -> str:
    """Give what stands before a session in its family: two cells a step, none for the head."""
    *above, last = trail or (None,)
    if last is None:
        return ""
    cut = len(above) - MOST_TRAIL
    steps = [glyphs.lines[_PAST if each else _NONE] for each in above[max(cut, 0) :]]
    steps.append(glyphs.lines[_BELOW if last else _LAST])
    return (glyphs.fold if cut > 0 else "") + "".join(f"{step} " for step in steps)


def _from_home(path: str, home: str) -> str:
    """Give a path that lies in a home as it is told from there."""
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


class Tail(msgspec.Struct, frozen=True):
    """The end of a session: its last lines, each a row or a fold, and how they are drawn."""

    session: Session
    lines: Sequence[tuple[int | Fold, LaneRow]]


class PreviewView(msgspec.Struct, frozen=True):
    """How the preview of a session is drawn: beside the list a fact a line, else in few lines.

    What lies in `home`, the folder of the person, is told as ~.
    """

    palette: Palette
    glyphs: Glyphs
    width: int
    height: int
    is_beside: bool
    home: str = ""

    def lines(self, entry: Entry, end: Tail | str, *, is_marked: bool = False) -> Iterator[Text]:
        """Give the preview line by line. `end` may say why there are no last rows yet."""
        given = 0
        for line in self._facts(entry, is_marked=is_marked):
            # Wrapped at words, a text may need a line more than its cells would.
            folds = line.cell_len // max(self.width, 1)
            given += 1 + folds + bool(folds)
            yield line
        if isinstance(end, str):
            if end:
                yield Text(safe_line(end), self.palette.dim)
            return
        if not end.lines:
            yield Text("no checkpoints yet", self.palette.dim)
            return
        most = max(self.height - given - 1, 2)
        yield self._heading("last checkpoints")
        yield from _rows(end, self.palette, self.glyphs, self.width, most)

    def _facts(self, entry: Entry, *, is_marked: bool) -> Iterator[Text]:
        palette, facts = self.palette, entry.facts
        title = Text(safe_line(entry.title), palette.strong)
        if is_marked:
            title.append(f"  {self.glyphs.bullet} opened last", palette.accent)
        yield title
        if entry.failed is not None:
            yield Text(f"{self.glyphs.bad} {safe_line(entry.failed)}", palette.bad)
        known = [(name, text) for name, text in self._known(entry) if text]
        if self.is_beside:
            yield Text()
            for name, text in known:
                yield from self._fact(name, safe_line(text))
            yield Text()
        else:
            yield Text(safe_line(" · ".join(_said(*each) for each in known)), palette.dim)
        if facts is not None and facts.first_words and facts.first_words != entry.title:
            if self.is_beside:
                yield self._heading("first message")
            words = Text(safe_line(facts.first_words), palette.text)
            if not self.is_beside:
                words.truncate(self.width, overflow="ellipsis")
            yield words
            if self.is_beside:
                yield Text()

    def _fact(self, name: str, text: str) -> Iterator[Text]:
        """Give a fact, what is too long for its line below it in the same column."""
        for piece in chop_cells(text, max(self.width - _FACT_WIDTH, 1)):
            yield Text.assemble((f"{name:<{_FACT_WIDTH}}", self.palette.dim), piece)
            name = ""

    def _heading(self, text: str) -> Text:
        rule = self.glyphs.line
        size = max(self.width - cell_len(text) - 4, 0)
        return Text(f"{rule * 2} {text} {rule * size}", self.palette.dim)

    def _known(self, entry: Entry) -> Iterator[tuple[str, str]]:
        facts = entry.facts or Facts()
        yield "project", facts.project
        yield "agent", entry.format
        yield "file", entry.name if not self.is_beside else _from_home(entry.location, self.home)
        if self.is_beside:
            yield "session", entry.session or ""
        yield "size", f"{count_text(entry.size)} bytes" if entry.size else ""
        if facts.began is not None and facts.ended is not None:
            took = duration_text(facts.ended - facts.began)
            yield "began", self._moment(facts.began)
            yield "ended", self._moment(facts.ended) if self.is_beside else f"took {took}"
            yield "took", took if self.is_beside else ""
        else:
            yield "written", self._moment(entry.modified)
        for number, model in enumerate(facts.models):
            yield "" if number else "models", model
        if entry.facts is None:
            return
        yield "checkpoints", f"{facts.checkpoints:,}"
        yield "branches", f"{facts.branches:,}" if facts.branches > 1 else ""
        yield "errors", f"{facts.errors:,}" if facts.errors else ""
        yield "compactions", f"{facts.compactions:,}" if facts.compactions else ""
        yield "tokens", f"{facts.tokens:,}" if facts.tokens else ""
        yield "cost", cost_text(facts.cost)
        yield "findings", f"{facts.findings:,}" if facts.findings else ""

    def _moment(self, time: float) -> str:
        written = iso_time(time)
        if written is None:
            return ""
        return f"{written[:10]} {written[11:16]} UTC"


def _said(name: str, text: str) -> str:
    """Give a fact in a row of facts, where a number needs its noun and a name needs none."""
    if name in {"began", "written"}:
        return f"{name} {text}"
    # Only those are ours: a project may have any name, a number too.
    if name not in _COUNTED:
        return text
    return f"{text} {_COUNTED[name] if text == '1' else name}"


_COUNTED = {
    "checkpoints": "checkpoint",
    "branches": "branch",
    "errors": "error",
    "compactions": "compaction",
    "tokens": "token",
    "findings": "finding",
}
"""Facts that are numbers, with the noun for one."""


def _rows(tail: Tail, palette: Palette, glyphs: Glyphs, width: int, most: int) -> Iterator[Text]:
    """Give the last rows of a session as the Timeline draws them."""
    view = RowView(palette, glyphs, len(str(len(tail.session))))
    for line, lanes in tail.lines[-most:]:
        if isinstance(line, Fold):
            yield view.fold_text(tail.session, line, lanes, width)
        else:
            yield view.text(tail.session, line, lanes, width)
