"""Markdown as lines of text, block by block: the beginning of a long text waits for no end.

markdown-it parses, and is imported when there first is something to parse. What Markdown says by
signs stays readable without colour: a heading keeps its `#`, code and quotes stand behind a bar.
Nothing that was written is hidden: raw HTML is text, a link shows where it leads, a definition of
a link is a line like others. What cannot be drawn within bounds is drawn as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.text import safe_line
from tt_debugger.views.code import MOST_CODE, code_lines, plain_lines
from tt_debugger.views.palette import Glyphs, Palette

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

WRAPPED_FROM = 56
"""Cells of a line that was broken to fit a width: it goes on. A shorter one was meant to end."""
MOST_MARKDOWN = 8_192
"""Characters that are parsed at once: the parser takes the square of it on text made for that."""
MOST_PARSED = 131_072
"""Characters after which a text is drawn as it was written: its end must be reached soon too."""
MANY_LINES = 24
"""Lines after which a block is cut in front of the next item of a list."""
DEEPEST = 20
"""Containers in each other that are drawn as such."""
WIDEST_TABLE = 100
"""Cells of a table that is aligned; a wider one stands as it was written."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})(.*)")
_INNER_FENCE = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)*(`{3,}(?=[^`]*\Z)|~{3,})")
_MARKUP = re.compile(r"[*_`~\[\]<>&\\|#!]|^[ \t]*(?:[-+=]|\d+[.)])|^(?: {4}|\t)", re.MULTILINE)
"""What a paragraph must hold to be more than its own text."""
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_SPACE = " \t\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*\n")
_PIPE = re.compile(r"(?<!\\)\|")


def markdown_lines(text: str, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    """Give a text as lines; what comes later in it is looked at when it is asked for."""
    return map(_checked, _lines(text, palette, glyphs))


def _lines(text: str, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    for block in _blocks(text):
        match block:
            case _Fence(about=about, code=code):
                yield from _code(about, code, palette, glyphs)
            case _Rest(text=rest):
                yield from plain_lines(rest, palette.text)
            case "":
                yield Text()
            case _ if len(block) > MOST_MARKDOWN or not _MARKUP.search(block):
                yield from plain_lines(block, palette.text)
            case _:
                yield from _parsed(block, palette, glyphs)


def warm_up() -> None:
    """Import what the first text would have to wait for."""
    _parser().parse("")


class _Fence(msgspec.Struct, frozen=True):
    """Code between fences, with what stands behind the first of them."""

    about: str
    code: str


class _Rest(msgspec.Struct, frozen=True):
    """What stands beyond the bound."""

    text: str


def _blocks(text: str) -> Iterator[str | _Fence | _Rest]:
    """Split a text at blank lines, each a block of its own, but not inside of fences.

    A block that does not end is cut, at the end of a line if it has any.
    """
    begin = 0
    while begin < len(text):
        if begin > MOST_PARSED:
            yield _Rest(text[begin:])
            return
        line, after = _line_at(text, begin)
        fence = _FENCE.fullmatch(line)
        if fence:
            block, begin = _fence_at(text, after, fence)
        elif not line.strip(_SPACE):
            blanks = _BLANKS.match(text, begin)
            block, begin = "", blanks.end() if blanks else after
        else:
            end = _block_end(text, begin)
            block, begin = text[begin:end].rstrip("\r\n"), end
        yield block


def _line_at(text: str, begin: int) -> tuple[str, int]:
    """Give the line at a place, without its end, and where the next begins."""
    end = text.find("\n", begin)
    end = len(text) if end < 0 else end
    line = text[begin:end]
    return line.removesuffix("\r") if end < len(text) else line, end + 1


def _fence_at(text: str, begin: int, fence: re.Match[str]) -> tuple[_Fence, int]:
    """Give the code after a fence, and where it ends: at the closing fence or with the text."""
    sign, place = fence[1], begin
    while (place := text.find(sign, place)) >= 0:
        start = text.rfind("\n", 0, place) + 1
        line, after = _line_at(text, start)
        if not line.strip(f"{sign[0]} \t") and line.startswith(sign, place - start):
            code = text[begin : max(start - 1, begin)].removesuffix("\r")
            return _Fence(fence[2].strip(), code), after
        place = after - 1
    return _Fence(fence[2].strip(), text[begin:].removesuffix("\n")), len(text)


def _block_end(text: str, begin: int) -> int:
    """Give where the block at a place ends: before a blank line or a fence, or at a bound."""
    inner, place, count = "", begin, 0
    while place < len(text):
        line, after = _line_at(text, place)
        if after - begin > MOST_MARKDOWN:
            return place if place > begin else min(after, len(text))
        if inner:
            closing = line.lstrip(" \t>").rstrip()
            inner = "" if closing.startswith(inner) and not closing.strip(inner[0]) else inner
        elif _begins_other(line, text[after : after + 2], count):
            return place
        elif fence := _INNER_FENCE.match(line):
            inner = fence[1]
        place, count = after, count + 1
    return len(text)


def _begins_other(line: str, following: str, count: int) -> bool:
    """Tell whether a block of so many lines ends before this one."""
    if not line.strip(_SPACE):
        # What is indented after a blank line goes on with the block before.
        return following != "  "
    if count >= MANY_LINES and _ITEM.match(line):
        return True
    return count > 0 and line[0] in "`~" and _FENCE.fullmatch(line) is not None


def _code(about: str, code: str, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    bar = (f"{glyphs.bar} ", palette.dim)
    if about:
        yield Text.assemble(bar, (safe_line(about[:MOST_CODE]), palette.dim))
    language = about.split(maxsplit=1)[0] if about else ""
    for line in code_lines(code, palette, language):
        yield Text.assemble(bar, line)


def _parsed(block: str, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    try:
        tokens = _parser().parse(block)
    except (RecursionError, ValueError, IndexError):
        # A parser of untrusted text: what it cannot read is shown as it was written.
        tokens = []
    deepest = max((each.level for each in tokens), default=DEEPEST)
    if deepest >= DEEPEST - 1:
        # The parser leaves out what is deeper.
        yield from plain_lines(block, palette.text)
        return
    yield from _Drawing(block, palette, glyphs).lines(tokens)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"]).disable("reference")
    # An address is shown, never followed: as it was written it can be compared.
    parser.normalizeLink = lambda url: url
    parser.normalizeLinkText = lambda link: link
    return parser


class _Prefix(msgspec.Struct):
    """What stands before each line inside a container: a sign once, then room or a bar."""

    first: str
    rest: str
    style: str
    is_used: bool = False


class _Drawing:
    """The lines of one block, drawn from the parser's tokens in order."""

    def __init__(self, block: str, palette: Palette, glyphs: Glyphs) -> None:
        self._source = block.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._palette = palette
        self._glyphs = glyphs
        self._prefixes: list[_Prefix] = []
        self._drawn_to = 0
        self._heading = ""

    def lines(self, tokens: Iterable[Token]) -> Iterator[Text]:
        """Give the lines of all tokens; blank lines stand where they stood."""
        rest = iter(tokens)
        for token in rest:
            if token.map and token.type in _LEAVES:
                if token.map[0] > self._drawn_to:
                    yield self._line(Text())
                self._drawn_to = self._end_of(token.map)
            if token.type in _CONTAINERS:
                self._prefixes.append(self._prefix(token))
            elif token.type in _CONTAINER_ENDS:
                if not self._prefixes[-1].is_used:
                    yield self._line(Text())
                self._prefixes.pop()
            elif token.type == "heading_open":
                self._heading = "#" * int(token.tag[1:])
            else:
                yield from map(self._line, self._leaf(token, rest))

    def _prefix(self, container: Token) -> _Prefix:
        if container.type == "blockquote_open":
            bar = f"{self._glyphs.bar} "
            return _Prefix(bar, bar, self._palette.dim)
        is_numbered = container.info.isdecimal()
        sign = f"{container.info}{container.markup}" if is_numbered else self._glyphs.bullet
        return _Prefix(f"{sign} ", " " * (cell_len(sign) + 1), self._palette.accent)

    def _leaf(self, token: Token, rest: Iterator[Token]) -> Iterable[Text]:
        """Give the lines of what is no container; a table is taken out of the rest."""
        match token.type:
            case "inline":
                return self._inline(token)
            case "hr":
                return [Text(self._glyphs.line * 24, self._palette.dim)]
            case "fence" | "code_block":
                code = token.content.removesuffix("\n")
                return _code(token.info.strip(), code, self._palette, self._glyphs)
            case "table_open":
                begin, end = token.map or (0, 0)
                inside = takewhile(lambda each: each.type != "table_close", rest)
                return self._table(self._source[begin:end], inside)
            case _:
                return ()

    def _end_of(self, span: Sequence[int]) -> int:
        """Give the line after the last one of a span that is not blank."""
        end = min(span[1], len(self._source))
        while end > span[0] and not self._source[end - 1].strip(" \t>"):
            end -= 1
        return end

    def _line(self, text: Text) -> Text:
        """Give a line behind the signs of the containers that it stands in."""
        if not self._prefixes:
            return text
        line = Text()
        for prefix in self._prefixes:
            line.append(prefix.rest if prefix.is_used else prefix.first, prefix.style)
            prefix.is_used = True
        return line.append_text(text)

    def _inline(self, token: Token) -> list[Text]:
        lines = _sentence(token, self._palette)
        sign, self._heading = self._heading, ""
        if sign:
            lines = [Text.assemble(f"{sign} ", each) for each in lines]
            for line in lines:
                line.stylize(self._palette.heading)
        return lines

    def _table(self, source: Sequence[str], tokens: Iterable[Token]) -> Iterator[Text]:
        rows, aligns = _rows(tokens, self._palette)
        widths = [max(cell_len(row[n].plain) for row in rows) for n in range(len(aligns))]
        # Cells beyond the columns would be left out.
        is_whole = all(_cells(line) <= len(aligns) for line in source)
        if sum(widths) + 3 * len(widths) > WIDEST_TABLE or not is_whole:
            for line in source:
                yield from plain_lines(line.strip(), self._palette.text)
            return
        bar = (f" {self._glyphs.bar} ", self._palette.dim)
        for number, row in enumerate(rows):
            cells = [_aligned(*each) for each in zip(row, widths, aligns, strict=True)]
            line = Text.assemble(*[part for cell in cells for part in (bar, cell)][1:])
            if number == 0:
                line.stylize(self._palette.strong)
            yield line
            if number == 0:
                yield Text(self._glyphs.line * cell_len(line.plain), self._palette.dim)


_CONTAINERS = frozenset(("blockquote_open", "list_item_open"))
_CONTAINER_ENDS = frozenset(("blockquote_close", "list_item_close"))
_LEAVES = frozenset(("paragraph_open", "heading_open", "hr", "fence", "code_block", "table_open"))


def _sentence(inline: Token, palette: Palette) -> list[Text]:
    """Give the lines of a paragraph; a line break is kept, as it was meant."""
    sentence = _Sentence(palette)
    for token in inline.children or ():
        sentence.take(token)
    return sentence.lines


class _Sentence:
    """Words with the styles that are open around them."""

    def __init__(self, palette: Palette) -> None:
        self.lines = [Text(style=palette.text)]
        self._palette = palette
        self._styles: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._opens = {
            "strong_open": palette.strong,
            "em_open": "italic",
            "s_open": palette.dim,
            "link_open": palette.accent,
        }

    def take(self, token: Token) -> None:
        match token.type:
            case "softbreak" if self.lines[-1].cell_len >= WRAPPED_FROM:
                self._add(" ", self._palette.text)
            case "softbreak" | "hardbreak":
                self.lines.append(Text(style=self._palette.text))
            case "code_inline":
                self._add(token.content, self._palette.code)
            case "image":
                label = f"[image: {token.content} ({_target(token, 'src')})]"
                self._add(label, self._palette.dim)
            case kind if kind in self._opens:
                self._open(token)
            case kind if kind.endswith("_close"):
                self._close(token)
            case _:
                self._add(token.content)

    def _open(self, token: Token) -> None:
        self._styles.append(self._opens[token.type])
        if token.type == "link_open":
            self._links.append((_target(token, "href"), len(self.lines[-1])))
        elif token.type == "s_open":
            self._add(token.markup)

    def _close(self, token: Token) -> None:
        if token.type == "s_close":
            self._add(token.markup)
        self._styles.pop()
        if token.type == "link_close":
            url, begin = self._links.pop()
            if self.lines[-1].plain[begin:] != safe_line(url.removeprefix("mailto:")):
                self._add(f" ({url})", self._palette.dim)

    def _add(self, text: str, style: str = "") -> None:
        line = self.lines[-1]
        begin = len(line)
        line.append(safe_line(text))
        for each in filter(None, (*self._styles, style)):
            line.stylize(each, begin)


def _rows(tokens: Iterable[Token], palette: Palette) -> tuple[list[list[Text]], list[str]]:
    """Give the rows of a table, and how each column is aligned."""
    rows: list[list[Text]] = []
    aligns: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            aligns.append(str(token.attrGet("style") or "").rpartition(":")[2])
        elif token.type == "inline":
            rows[-1].append(_sentence(token, palette)[0])
    return rows, aligns


def _target(token: Token, key: str) -> str:
    """Give where a link or an image leads, with its title."""
    url, title = str(token.attrGet(key) or ""), token.attrGet("title")
    return f'{url} "{title}"' if title else url


def _checked(line: Text) -> Text:
    """Give a line, or its text alone where its pieces are not together what is safe."""
    whole = safe_line(line.plain)
    return line if line.plain == whole else Text(whole, line.style)


def _cells(line: str) -> int:
    return len(_PIPE.findall(line.strip().strip("|"))) + 1


def _aligned(cell: Text, width: int, align: str) -> Text:
    room = width - cell_len(cell.plain)
    before = {"right": room, "center": room // 2}.get(align, 0)
    return Text.assemble(" " * before, cell, " " * (room - before))
