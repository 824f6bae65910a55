"""Two texts side by side: their lines aligned, the words that differ marked, the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, zip_longest

import msgspec
from rich.text import Text

from tt_debugger.core.diff.texts import Span, TextRow, text_rows
from tt_debugger.core.text import common_start, counted, safe_line
from tt_debugger.views.palette import Glyphs, Palette

CONTEXT = 2
"""Equal lines that are shown on each side of what changed."""
FEW = 6
"""Lines of a text that stands on one side alone, before the others are folded."""
LONG_RUN = 12
"""Lines in a row that differ, before the others are folded."""
MOST = 500
"""Lines that are shown of an open text."""
LARGEST = 24_000
"""Characters that are compared line by line, between the equal ends of two texts."""
LONGEST, LONGEST_OPEN = 400, 8000
"""Characters of one line that are shown, folded and open."""
_BEFORE = 40
"""Characters before the first word that differs, in a line that is cut there."""


class Line(msgspec.Struct, frozen=True):
    """A line of a comparison: what stands on each side, None where nothing does.

    The signs are those of `core.diff.comparing.Sign`, a space for what only stands around a
    change; the places are told where a message begins.
    """

    old: Text | None
    new: Text | None
    old_sign: str = " "
    new_sign: str = " "
    old_place: int | None = None
    new_place: int | None = None
    both: Text | None = None
    """What says both sides in one line, where that is short."""
    hang: int = 2
    """Cells by which it is indented where it goes on."""
    opens: bool = False
    """Whether it stands for more, which is shown on demand."""
    is_note: bool = False
    """Whether it is about both sides and stands across them."""


def sign_style(sign: str, palette: Palette) -> str:
    """Give the style of a sign."""
    styles = {"-": palette.remove, "+": palette.add, "~": palette.change, ">": palette.label}
    return styles.get(sign, palette.dim)


class TextView(msgspec.Struct, frozen=True):
    """How texts are compared and drawn; open, nothing is folded."""

    palette: Palette
    glyphs: Glyphs
    is_open: bool = False

    def lines(self, old: str, new: str) -> Iterator[Line]:
        """Give two texts that differ, what is equal around a change folded."""
        before, rows, after, left = _rows(old, new)
        if before:
            yield self._skipped(before, 0)
        for folded, run in _runs(rows, 0 if self.is_open else CONTEXT):
            if folded:
                yield self._skipped(len(run), int(not self.is_open))
            else:
                yield from self._run(run)
        if after:
            yield self._skipped(after, 0)
        if left:
            note = f"{self.glyphs.ellipsis} {counted(left, 'more character')}, not compared here"
            yield self.note(note, opens=False)

    def one_sided(self, text: str, *, is_old: bool) -> Iterator[Line]:
        """Give a text that stands on one side alone, its start where it is long."""
        palette = self.palette
        style = palette.remove if is_old else palette.add
        most = MOST if self.is_open else FEW
        begin = shown = 0
        # Not split: a text can be megabytes long.
        while begin >= 0 and shown < most:
            end = text.find("\n", begin)
            line = text[begin:] if end < 0 else text[begin:end]
            begin = end + 1 if end >= 0 else -1
            shown += 1
            yield self._one(line, style, is_old=is_old)
        left = text.count("\n", begin) + 1 if begin >= 0 else 0
        if left:
            yield self._more(left if is_old else 0, 0 if is_old else left)

    def note(self, text: str, *, opens: bool) -> Line:
        """Give a line that says the same on both sides."""
        said = Text(text, self.palette.dim)
        return Line(said, said, opens=opens)

    def start(self, text: str, style: str = "") -> Text:
        """Give the first line of a text that is equal on both sides."""
        line = text[:LONGEST].lstrip("\n").partition("\n")[0]
        cut = f" {self.glyphs.ellipsis}" if len(line) < len(text.strip("\n")) else ""
        return Text(safe_line(line) + cut, style or self.palette.dim)

    def _skipped(self, count: int, opens: int) -> Line:
        dots = self.glyphs.turn * 3
        return self.note(f"{dots} {counted(count, 'equal line')} {dots}", opens=bool(opens))

    def _more(self, old: int, new: int) -> Line:
        """Give a line for those that are folded on each side."""
        dots = self.glyphs.turn * 3
        said_old, said_new = (
            Text(f"{dots} {counted(left, 'more line')} {dots}", self.palette.dim) if left else None
            for left in (old, new)
        )
        signs = "-" if old else " ", "+" if new else " "
        return Line(said_old, said_new, *signs, opens=not self.is_open)

    def _one(self, text: str, style: str, *, is_old: bool) -> Line:
        shown = self._shown(text, (), style, "")
        return Line(shown, None, "-") if is_old else Line(None, shown, new_sign="+")

    def _run(self, rows: Sequence[TextRow]) -> Iterator[Line]:
        """Give rows in a row; what was taken out stands beside what was put in there."""
        palette = self.palette
        for is_one_sided, group in groupby(rows, lambda row: row.op in {"remove", "add"}):
            if is_one_sided:
                sides = list(group)
                gone = [row.old for row in sides if row.old is not None]
                came = [row.new for row in sides if row.new is not None]
                most = MOST if self.is_open else LONG_RUN
                left = max(len(gone), len(came)) - most
                for old, new in islice(zip_longest(gone, came), most if left > 1 else None):
                    yield Line(
                        None if old is None else self._shown(old, (), palette.remove, ""),
                        None if new is None else self._shown(new, (), palette.add, ""),
                        " " if old is None else "-",
                        " " if new is None else "+",
                    )
                if left > 1:
                    yield self._more(max(len(gone) - most, 0), max(len(came) - most, 0))
                continue
            for row in group:
                old, new = row.old or "", row.new or ""
                if row.op == "equal":
                    shown = self._shown(new, (), palette.dim, "")
                    yield Line(shown, shown)
                    continue
                yield Line(
                    self._shown(old, row.old_spans, palette.text, palette.removed_word),
                    self._shown(new, row.new_spans, palette.text, palette.added_word),
                    "~",
                    "~",
                )

    def _shown(self, text: str, spans: Sequence[Span], style: str, mark: str) -> Text:
        """Give a line with some words marked; of a very long one what is around the first."""
        most = LONGEST_OPEN if self.is_open else LONGEST
        begin = 0
        if len(text) > most and spans:
            begin = max(spans[0][0] - _BEFORE, 0)
        end = min(begin + most, len(text))
        shown = marked(text[begin:end], _moved(spans, begin, end), style, mark)
        if begin:
            shown = Text.assemble((f"{self.glyphs.ellipsis} ", self.palette.dim), shown)
        if end < len(text):
            left = counted(len(text) - end, "more character")
            shown = Text.assemble(shown, (f" {self.glyphs.ellipsis} {left}", self.palette.dim))
        return shown


def marked(text: str, spans: Sequence[Span], style: str, mark: str) -> Text:
    """Give a line made safe, some of its words in another style.

    Where its parts made safe are not together the whole made safe, nothing is marked: a pile of
    combining marks could be cut into pieces that are each short enough.
    """
    whole, shown = safe_line(text), Text(style=style)
    end = 0
    for begin, its_end in spans:
        shown.append(safe_line(text[end:begin]))
        shown.append(safe_line(text[begin:its_end]), mark)
        end = its_end
    shown.append(safe_line(text[end:]))
    return shown if shown.plain == whole else Text(whole, style)


def _moved(spans: Sequence[Span], begin: int, end: int) -> list[Span]:
    """Give where spans stand in a part of a line."""
    inside = [(max(one, begin), min(other, end)) for one, other in spans]
    return [(one - begin, other - begin) for one, other in inside if one < other]


def _rows(old: str, new: str) -> tuple[int, list[TextRow], int, int]:
    """Give the rows of two texts, and how many lines before and behind them are equal.

    Large texts are compared between their equal ends, and there so far as one can read on; the
    last number is that of the characters that are left.
    """
    if max(len(old), len(new)) <= LARGEST:
        return 0, text_rows(old, new), 0, 0
    begin = common_start(old, new)
    for _ in range(CONTEXT + 1):
        begin = old.rfind("\n", 0, max(begin - 1, 0)) + 1
    before = old.count("\n", 0, begin)
    one, other = old[begin:], new[begin:]
    end = common_start(one[::-1], other[::-1])
    # So many characters at the end are equal; lines are only left out whole.
    cut = one.find("\n", len(one) - end) if end else -1
    after = 0
    if cut >= 0:
        behind = len(one) - cut
        after = one.count("\n", cut)
        one, other = one[: len(one) - behind], other[: len(other) - behind]
    left = max(len(one), len(other)) - LARGEST
    return before, text_rows(one[:LARGEST], other[:LARGEST]), after, max(left, 0)


def _runs(rows: Sequence[TextRow], context: int) -> Iterator[tuple[bool, Sequence[TextRow]]]:
    """Give rows in runs, each with whether it is folded; without context nothing is."""
    if not context:
        yield False, rows
        return
    begin = 0
    for is_equal, group in groupby(rows, lambda row: row.op == "equal"):
        size = len(list(group))
        end = begin + size
        head = begin + (context if begin else 0)
        tail = end - (context if end < len(rows) else 0)
        if is_equal and tail - head > 1:
            if head > begin:
                yield False, rows[begin:head]
            yield True, rows[head:tail]
            if end > tail:
                yield False, rows[tail:end]
        else:
            yield False, rows[begin:end]
        begin = end
