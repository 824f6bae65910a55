"""The lines of a comparison laid out: side by side, or one below the other as a patch is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import msgspec
from rich.cells import get_character_cell_size
from rich.text import Text

from tt_debugger.views.compare_text import Line, sign_style
from tt_debugger.views.palette import Glyphs, Palette

_NARROWEST = 8
"""Cells that a side has at least, however narrow the screen is."""
_DIVIDER = 3


class Row(msgspec.Struct, frozen=True):
    """A row as it is drawn; `opens` tells that it stands for more."""

    text: Text
    opens: bool = False


class Layout(msgspec.Struct, frozen=True):
    """The room for rows: all cells, and those of a number. Without a width nothing is wrapped."""

    width: int | None
    digits: int
    palette: Palette
    glyphs: Glyphs

    def side_by_side(self, lines: Iterable[Line]) -> Iterator[Row]:
        """Give lines in two columns of which the rows stand beside each other."""
        left, right = self.halves
        bar = (f" {self.glyphs.bar} ", self.palette.dim)
        for line in lines:
            if line.is_note:
                yield from self._note(line)
                continue
            sides = (
                self._side(line.old, line.old_sign, line.old_place, line.hang, left),
                self._side(line.new, line.new_sign, line.new_place, line.hang, right),
            )
            for old, new in zip_longest(*sides):
                one = _padded(old, left)
                yield Row(Text.assemble(one, bar, new or "", no_wrap=True), line.opens)

    def unified(self, lines: Iterable[Line]) -> Iterator[Row]:
        """Give lines in one column: of what differs all old lines, then all new ones."""
        waiting: list[Line] = []
        for line in lines:
            is_two_sided = line.old_sign in "~-" or line.new_sign in "~+"
            if is_two_sided and line.old_place is None and line.new_place is None:
                waiting.append(line)
                continue
            yield from self._two_sided(waiting)
            waiting = [line] if is_two_sided and line.old is not line.new else []
            if not waiting:
                yield from self._two_sided([line])
        yield from self._two_sided(waiting)

    @property
    def halves(self) -> tuple[int, int]:
        """The cells of both sides."""
        width = max((self.width or 0) - _DIVIDER, 2 * _NARROWEST)
        return width // 2, width - width // 2

    def _two_sided(self, lines: Sequence[Line]) -> Iterator[Row]:
        news: list[Line] = []
        for line in lines:
            if line.both is not None or line.is_note or _says_one(line):
                yield from self._unified_rows(news, is_old=False)
                news = []
                yield from self._unified(line)
                continue
            if line.old is not None:
                yield from self._unified_rows([line], is_old=True)
            if line.new is not None:
                news.append(line)
        yield from self._unified_rows(news, is_old=False)

    def _unified(self, line: Line) -> Iterator[Row]:
        """Give a line that says one thing about both sides."""
        if line.is_note:
            yield from self._note(line)
            return
        said = line.both or line.new
        sign = line.new_sign if line.new_sign != " " else line.old_sign
        yield from self._rows(said, sign, (line.old_place, line.new_place), line)

    def _unified_rows(self, lines: Sequence[Line], *, is_old: bool) -> Iterator[Row]:
        for line in lines:
            said = line.old if is_old else line.new
            sign = line.old_sign if is_old else line.new_sign
            if sign == "~":
                sign = "-" if is_old else "+"
            places = (line.old_place, None) if is_old else (None, line.new_place)
            yield from self._rows(said, sign, places, line)

    def _rows(
        self, said: Text | None, sign: str, places: tuple[int | None, int | None], line: Line
    ) -> Iterator[Row]:
        if said is None:
            return
        numbers = " ".join(self._number(place) for place in places)
        lead = self._lead(numbers, sign)
        for number, piece in enumerate(_pieces(said, self._room(lead), line.hang)):
            begin = lead if not number else Text(" " * lead.cell_len)
            yield Row(Text.assemble(begin, piece, no_wrap=True), line.opens)

    def _note(self, line: Line) -> Iterator[Row]:
        said = line.old or line.new or Text()
        for piece in _pieces(said, self.width, line.hang):
            yield Row(piece, line.opens)

    def _side(
        self, said: Text | None, sign: str, place: int | None, hang: int, width: int
    ) -> Iterator[Text]:
        if said is None:
            return
        lead = self._lead(self._number(place), sign)
        for number, piece in enumerate(_pieces(said, max(width - lead.cell_len, 1), hang)):
            begin = lead if not number else Text(" " * lead.cell_len)
            yield Text.assemble(begin, piece)

    def _room(self, lead: Text) -> int | None:
        return None if self.width is None else max(self.width - lead.cell_len, _NARROWEST)

    def _number(self, place: int | None) -> str:
        return f"{'' if place is None else place + 1:>{self.digits}}"

    def _lead(self, numbers: str, sign: str) -> Text:
        palette = self.palette
        return Text.assemble((numbers, palette.dim), (f" {sign} ", sign_style(sign, palette)))


def _says_one(line: Line) -> bool:
    """Tell whether both sides say the same."""
    if line.old is None or line.new is None:
        return False
    return line.old is line.new or line.old.plain == line.new.plain


def _padded(text: Text | None, width: int) -> Text:
    padded = Text() if text is None else text
    padded.pad_right(max(width - padded.cell_len, 0))
    return padded


def _pieces(text: Text, width: int | None, hang: int) -> Iterator[Text]:
    """Give a text in pieces that fit a width, all but the first indented."""
    if width is None or text.cell_len <= width:
        yield text.copy()
        return
    hang = min(hang, width // 2)
    for number, piece in enumerate(text.divide(_breaks(text.plain, width, hang))):
        piece.rstrip()
        yield Text.assemble(" " * hang, piece) if number else piece


def _breaks(text: str, width: int, hang: int) -> list[int]:
    """Give where a text is broken: at words where there are any."""
    breaks: list[int] = []
    begin, room = 0, width
    while (end := _end_within(text, begin, room)) < len(text):
        space = text.rfind(" ", begin + (end - begin) // 2, end + 1)
        # The indent of the first row is no word.
        end = space + 1 if space > begin and text[begin:space].strip() else end
        breaks.append(end)
        begin, room = end, width - hang
    return breaks


def _end_within(text: str, begin: int, room: int) -> int:
    """Give how far a text goes from a place on in so many cells; at least one character."""
    part = text[begin : begin + room]
    if part.isascii():
        return begin + max(len(part), 1)
    end, cells = begin, 0
    while end < len(text):
        cells += get_character_cell_size(text[end])
        if cells > room and end > begin:
            break
        end += 1
    return end
