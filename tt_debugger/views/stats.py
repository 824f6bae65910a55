"""Statistics as tables, and as pictures: how the context grew, and what was spent when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.loops import Loop
from tt_debugger.core.model import KIND_BITS, KIND_NUMBERS, Kind, Role, Session, Usage, iso_time
from tt_debugger.core.scrub import column_of, columns_of, scrub_index
from tt_debugger.core.spending import Spending, spending_of
from tt_debugger.core.stats import Branch, ModelTally, Stats, Tally, ToolTally
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.area import area_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import count_text, duration_text

WIDTH = 80
"""Cells of a line where nobody says how many there are."""
AREA_HEIGHT = 4
MOST_NAMED = 12
"""Branches, tools, models and loops that have a line of their own; the others share one."""
NARROWEST_NAME = 20
LONGEST_BAR = 20
LONGEST_TOOL = 24
SHORTEST_ARGUMENTS = 6
"""Cells of the name of a tool at most, and of its arguments at least, where a loop is told."""
_GAP = 2
_SCALE = 8
"""Cells at the left of a picture, which say how high it is."""


class StatLine(NamedTuple):
    """A line, and the row of the checkpoint that it is about.

    `is_passed` says that nothing is to be said of it alone: it is blank, or part of a picture.
    """

    text: Text
    row: int | None = None
    is_passed: bool = False


class _Row(NamedTuple):
    """A line of a table: a name, then numbers as texts, then how much that is of the most."""

    name: Text
    cells: Sequence[str]
    weight: float = 0.0
    row: int | None = None


class _Head(NamedTuple):
    """The head of a column; where there is no room the ones of the lowest rank are left out."""

    name: str
    rank: int


class StatsView(msgspec.Struct, frozen=True):
    """How statistics are drawn; `short` gives the id of a row as one types it."""

    palette: Palette
    glyphs: Glyphs
    short: Callable[[int], str]
    width: int = WIDTH
    most: int = MOST_NAMED

    def lines(self, stats: Stats) -> Iterator[StatLine]:
        """Give all lines: the total, tables with the most expensive first, pictures, loops."""
        yield from map(StatLine, self._total_lines(stats))
        tables = (self._branch_table, self._tool_table, self._model_table)
        for part in (*tables, self._loop_lines, self._context_picture, self._spending_picture):
            for place, line in enumerate(part(stats)):
                if not place:
                    yield StatLine(Text(), is_passed=True)
                self._fit(line.text, self.width)
                yield line

    def _total_lines(self, stats: Stats) -> Iterator[Text]:
        total, palette = stats.total, self.palette
        counts = [
            counted(total.checkpoints, "checkpoint"),
            counted(len(stats.branches), "branch", "branches"),
        ]
        untold: list[str] = []
        named = (total.messages, "message"), (total.calls, "tool call"), (total.errors, "error")
        for count, name in named:
            if count or not stats.is_of_states:
                counts.append(counted(count, name))
            else:
                untold.append(f"{name}s")
        yield Text(", ".join(counts), palette.text)
        if untold:
            told = f"{_listed(untold)} are not recorded one by one"
            yield Text(told, palette.dim)
        if total.tokens is not None:
            yield Text(_tokens_said(total.tokens, total.cost), palette.text)
        spans = (
            (stats.seconds, "from first to last"),
            (total.model_seconds, "for answers"),
            (total.tool_seconds, "for tools"),
        )
        said = [f"{duration_text(each)} {what}" for each, what in spans if each is not None]
        if said:
            yield Text(", ".join(said), palette.text)
        if not stats.has_bodies:
            yield Text("by the index alone: of each message the first call", palette.dim)
        if stats.unread:
            told = f"{counted(stats.unread, 'checkpoint')} cannot be read: see `ttdbg doctor`"
            yield Text(f"{self.glyphs.bad} {told}", palette.bad)

    def _branch_table(self, stats: Stats) -> Iterator[StatLine]:
        branches, session = stats.branches, stats.session
        if not branches:
            return
        rows = [
            _Row(self._branch_name(session, each), _tally_cells(each.own), row=each.leaf)
            for each in branches[: self.most]
        ]
        left = branches[self.most :]
        if left:
            name = _said(f"{len(left):,} other branches", self.palette.dim)
            rows.append(_Row(name, _tally_cells(reduce(add, (each.own for each in left)))))
        if len(branches) > 1:
            shared = _said("shared by several", self.palette.dim)
            rows.append(_Row(shared, _tally_cells(stats.shared)))
            rows.append(_Row(_said("total", self.palette.strong), _tally_cells(stats.total)))
        title = "branch" if len(branches) == 1 else "branch, its own part"
        yield from self._table(title, _TALLY_HEADS, rows)

    def _branch_name(self, session: Session, branch: Branch) -> Text:
        """Give a branch by its leaf, and what the user said first that no other branch has."""
        palette, leaf = self.palette, branch.leaf
        name = _said(f"row {leaf + 1} ", palette.dim)
        if branch.is_active:
            name.append(f"{self.glyphs.active} ", palette.accent)
        name.append(f"{safe_line(self.short(leaf))} ", palette.code)
        return name.append(safe_line(_first_words(session, branch)), palette.text)

    def _tool_table(self, stats: Stats) -> Iterator[StatLine]:
        rows = [
            _Row(
                _said(safe_line(each.tool), self.palette.text),
                _tool_cells(each),
                each.seconds or 0,
                each.longest_row,
            )
            for each in stats.tools
        ]
        yield from self._table("tool", _TOOL_HEADS, self._named(rows, "tool"))

    def _model_table(self, stats: Stats) -> Iterator[StatLine]:
        models = stats.models
        if not models or (len(models) == 1 and models[0].model is None):
            return
        rows = [
            _Row(self._model_name(each), _model_cells(each), _weight(each, stats.total))
            for each in models
        ]
        yield from self._table("model", _MODEL_HEADS, self._named(rows, "model"))

    def _model_name(self, tally: ModelTally) -> Text:
        if tally.model is None:
            what = "compactions and summaries" if tally.is_of_summaries else "no model told"
            return _said(what, self.palette.dim)
        return _said(safe_line(tally.model), self.palette.text)

    def _named(self, rows: Sequence[_Row], what: str) -> list[_Row]:
        """Give the first rows, and one that says how many more there are."""
        named = list(rows[: self.most])
        if len(rows) > self.most:
            left = counted(len(rows) - self.most, f"{what} more", f"{what}s more")
            name = _said(f"and {left}", self.palette.dim)
            named.append(_Row(name, [""] * len(rows[0].cells)))
        return named

    def _table(
        self, title: str, heads: Sequence[_Head], rows: Sequence[_Row]
    ) -> Iterator[StatLine]:
        """Give a table that is as wide as what it says, and fits the width."""
        if not rows:
            return
        palette = self.palette
        sizes = {
            place: max(len(head.name), *(len(row.cells[place]) for row in rows))
            for place, head in enumerate(heads)
            if any(row.cells[place] for row in rows)
        }
        by_rank = sorted(sizes, key=lambda place: heads[place].rank, reverse=True)
        while by_rank and _wide(sizes) > self.width - NARROWEST_NAME:
            del sizes[by_rank.pop(0)]
        longest = max(cell_len(title), *(row.name.cell_len for row in rows))
        room = min(longest, self.width - _wide(sizes))
        head = _Row(_said(title, palette.heading), [each.name for each in heads])
        yield StatLine(self._line(head, sizes, room, palette.dim))
        bar = min(self.width - room - _wide(sizes) - _GAP, LONGEST_BAR)
        most = max(row.weight for row in rows)
        for row in rows:
            line = self._line(row, sizes, room, palette.text)
            if bar > 1 and most and row.weight:
                full = self.glyphs.levels[-1] * max(round(bar * row.weight / most), 1)
                line.append(f"{' ' * _GAP}{full}", palette.graph)
            yield StatLine(line, row.row)

    def _line(self, row: _Row, sizes: dict[int, int], room: int, style: str) -> Text:
        """Give a row by its name and the cells of the columns that are drawn."""
        line = row.name.copy()
        self._fit(line, room)
        line.append(" " * (room - line.cell_len))
        for place, size in sizes.items():
            cell = row.cells[place]
            line.append(f"{cell:>{size + _GAP}}", style)
        line.rstrip()
        return line

    def _fit(self, line: Text, room: int) -> None:
        """Cut a line to so many cells, with an ellipsis where there is room for one."""
        if line.cell_len > room:
            ellipsis = self.glyphs.ellipsis
            line.truncate(max(room - cell_len(ellipsis), 0))
            line.append(ellipsis[: max(room, 0)], self.palette.dim)

    def _loop_lines(self, stats: Stats) -> Iterator[StatLine]:
        for loop in stats.loops[: self.most]:
            yield StatLine(self._loop_line(loop), loop.first)
        left = len(stats.loops) - self.most
        if left > 0:
            yield StatLine(
                _said(f"and {counted(left, 'loop more', 'loops more')}", self.palette.dim)
            )

    def _loop_line(self, loop: Loop) -> Text:
        """Say what was called again and again; what does not fit is cut from its arguments."""
        palette, is_single = self.palette, len(loop.things) == 1
        often = f"{loop.count:,} times" if is_single else f"in turn, {loop.count:,} calls"
        said = f" {often}, rows {loop.first + 1}..{loop.last + 1}"
        if loop.is_same is not None:
            said += _SAME[is_single] if loop.is_same else ", the results differ"
        names = [_said(safe_line(each.tool), palette.text) for each in loop.things]
        for name in names:
            self._fit(name, LONGEST_TOOL)
        taken = cell_len(f"loop: {' and '.join(name.plain for name in names)}{said}")
        room = max((self.width - taken) // len(names) - 3, SHORTEST_ARGUMENTS)
        line = _said("loop: ", palette.change)
        for place, (name, thing) in enumerate(zip(names, loop.things, strict=True)):
            line.append(" and " * bool(place)).append_text(name)
            arguments = Text(safe_line(thing.arguments))
            self._fit(arguments, room)
            if arguments:
                line.append(f" `{arguments.plain}`", palette.code)
        return line.append(said, palette.bad if loop.is_same else palette.text)

    def _context_picture(self, stats: Stats) -> Iterator[StatLine]:
        """Draw the largest context of each stretch of rows, and where it was compacted."""
        session = stats.session
        index, room = scrub_index(session), self._room
        if not index.largest or not room:
            return
        columns = columns_of(index, room)
        marks = [" "] * room
        compaction, count = KIND_NUMBERS[Kind.COMPACTION], 0
        for row, traits in enumerate(session.traits):
            if traits & KIND_BITS == compaction:
                marks[column_of(row, len(session), room)] = self.glyphs.compaction
                count += 1
        title = "context in tokens, over all rows"
        if count:
            title += f"; {self.glyphs.compaction} {counted(count, 'compaction')}"
        sizes = [each.size for each in columns]
        yield StatLine(Text(title, self.palette.heading))
        yield from self._area(sizes, index.largest, count_text(index.largest))
        if count:
            yield self._below("".join(marks), self.palette.change)
        yield self._ends("1", f"{len(session):,}")

    def _spending_picture(self, stats: Stats) -> Iterator[StatLine]:
        """Draw what was spent up to each moment."""
        spending = spending_of(stats.session)
        room = self._room
        if spending is None or not room:
            return
        what = "cost" if spending.is_cost else "tokens"
        over = "time" if spending.is_timed else "rows"
        total = _spent(spending)
        yield StatLine(Text(f"{what} over {over}, altogether", self.palette.heading))
        yield from self._area(spending.columns(room), spending.total, total)
        places = spending.places[0], spending.places[-1]
        if spending.is_timed:
            yield self._ends(*map(_moment, places))
        else:
            yield self._ends(*(f"{place + 1:,.0f}" for place in places))

    @property
    def _room(self) -> int:
        return max(self.width - _SCALE - 1, 0)

    def _area(self, sizes: Sequence[float], largest: float, top: str) -> Iterator[StatLine]:
        for y in range(AREA_HEIGHT):
            scale = top if not y else "0" if y == AREA_HEIGHT - 1 else ""
            line = _said(f"{scale:>{_SCALE}} ", self.palette.dim)
            signs = area_line(sizes, largest, y, AREA_HEIGHT, self.glyphs)
            line.append("".join(signs), self.palette.graph)
            line.rstrip()
            yield StatLine(line, is_passed=True)

    def _below(self, text: str, style: str) -> StatLine:
        line = _said(f"{'':>{_SCALE}} {text}", style)
        line.rstrip()
        return StatLine(line, is_passed=True)

    def _ends(self, begin: str, end: str) -> StatLine:
        """Give what stands below both ends of a picture."""
        space = " " * max(self._room - cell_len(begin) - cell_len(end), 1)
        return self._below(f"{begin}{space}{end}", self.palette.dim)


_TALLY_HEADS = (
    _Head("rows", 2),
    _Head("messages", 8),
    _Head("calls", 3),
    _Head("errors", 4),
    _Head("in", 5),
    _Head("out", 5),
    _Head("cached", 6),
    _Head("cost", 1),
    _Head("models", 7),
    _Head("tools", 7),
)
_TOOL_HEADS = (
    _Head("calls", 1),
    _Head("errors", 2),
    _Head("took", 3),
    _Head("median", 4),
    _Head("longest", 5),
    _Head("where", 6),
)
_MODEL_HEADS = (
    _Head("answers", 2),
    _Head("in", 3),
    _Head("out", 3),
    _Head("cached", 4),
    _Head("cost", 1),
)


_SAME = {True: ", the same result each time", False: ", the same results"}
"""What is told of a loop of one thing, and of one of two, if nothing else came of it."""


def _said(text: str, style: str) -> Text:
    """Give the beginning of a line, whose style is its own alone."""
    return Text(no_wrap=True, end="").append(text, style)


def _wide(sizes: dict[int, int]) -> int:
    return sum(sizes.values()) + _GAP * len(sizes)


def _tally_cells(tally: Tally) -> list[str]:
    return [
        f"{tally.checkpoints:,}",
        _count(tally.messages),
        _count(tally.calls),
        _count(tally.errors),
        *_token_cells(tally.tokens),
        _cost(tally.cost),
        _seconds(tally.model_seconds),
        _seconds(tally.tool_seconds),
    ]


def _tool_cells(tool: ToolTally) -> list[str]:
    times = (tool.seconds, tool.median_seconds, tool.longest_seconds)
    where = "" if tool.longest_row is None else f"#row={tool.longest_row + 1}"
    return [_count(tool.calls), _count(tool.errors), *map(_seconds, times), where]


def _model_cells(model: ModelTally) -> list[str]:
    return [_count(model.answers), *_token_cells(model.tokens), _cost(model.cost)]


def _token_cells(tokens: Usage | None) -> Iterable[str]:
    """Give what was read anew, what was said, and what came from the cache or went there."""
    if tokens is None:
        return "", "", ""
    counts = (tokens.input, tokens.output, tokens.cache_read + tokens.cache_write)
    return map(count_text, counts)


def _tokens_said(tokens: Usage, cost: float | None) -> str:
    parts = (
        (tokens.input, "in"),
        (tokens.output, "out"),
        (tokens.cache_read, "from the cache"),
        (tokens.cache_write, "to it"),
    )
    said = ", ".join(f"{count_text(count)} {what}" for count, what in parts if count)
    price = "" if cost is None else f", {_cost(cost)}"
    return f"{count_text(tokens.context)} tokens: {said}{price}" if said else "no tokens"


def _weight(model: ModelTally, total: Tally) -> float:
    """Give how long the bar of a model is: by cost if any is known, else by tokens."""
    if total.cost is not None:
        return model.cost or 0
    return 0 if model.tokens is None else model.tokens.context


def _listed(names: Sequence[str]) -> str:
    """Give names as they are said one after the other."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _count(number: int) -> str:
    """Give a count; nothing where there is nothing to count."""
    return f"{number:,}" if number else ""


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else duration_text(seconds)


def _cost(cost: float | None) -> str:
    """Give a cost in dollars, with the parts of a cent that a single branch may cost."""
    if cost is None:
        return ""
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


def _spent(spending: Spending) -> str:
    total = spending.total
    if not spending.is_cost:
        return count_text(int(total))
    return _cost(total) if total < 1000 else f"${count_text(int(total))}"  # noqa: PLR2004 - fits


def _moment(time: float) -> str:
    return (iso_time(time) or "")[:16].replace("T", " ")


def _first_words(session: Session, branch: Branch) -> str:
    """Give what the user said first on the own part of a branch, else what its leaf says."""
    heads, said = session.heads, ""
    for row in session.tree.ancestors(branch.leaf):
        if row == branch.fork_point:
            break
        if heads.kind(row) is Kind.MESSAGE and heads.role(row) is Role.USER:
            said = heads[row].summary
    return said or heads[branch.leaf].summary
