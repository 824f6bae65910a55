"""Markdown that is written, not trusted: content becomes text, code and lists, and nothing live.

A code host makes links of names, numbers, hashes and addresses after it has read the Markdown, so
no backslash keeps them from it; inside code it leaves them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from tt_debugger.core.text import safe_line, safe_text
from tt_debugger.exports.prose import prose_tokens

if TYPE_CHECKING:
    from markdown_it.token import Token

_LIVE = re.compile(
    r"""
      [@#]                    # a mention, an issue
    | ://|www\.|(?:^|\W)(?:mailto|xmpp|javascript|data):
    | \bGH-\d | [!$%~&]\w     # what GitHub and GitLab make references of
    | \b[0-9a-f]{7,64}\b      # a commit
    | \w\.\w+/                # an address without its scheme
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SPECIAL = re.compile(r"([\\`*\[\]<>&|$~]|(?<!\w)_|_(?!\w))")
_AT_START = re.compile(r"^(\s*)([-+=#]|\d+(?=[.)]))", re.MULTILINE)
_RUNS = re.compile(r"(\s+)")
_LANGUAGES = frozenset(
    """
    bash c console cpp cs css csv diff dockerfile go graphql haskell html ini java
    javascript js json jsonc jsonl jsx kotlin lua makefile markdown md perl php powershell proto py
    python r ruby rust rs scala sh shell sql swift text toml ts tsx typescript xml yaml yml zig zsh
    """.split()  # noqa: SIM905 - as a list it would be a page
)
"""Languages of code that a code host only colours; of others it may draw or run something."""


def inline(text: str) -> str:
    """Give text as Markdown that says just that; what a code host would make live is code."""
    text = safe_text(text)
    # Most texts have nothing of the kind, and word by word it takes ten times as long.
    is_live = _LIVE.search(text) is not None
    told = "".join(map(_run, _RUNS.split(text))) if is_live else _SPECIAL.sub(r"\\\1", text)
    return _AT_START.sub(_escaped_start, told)


def _run(run: str) -> str:
    if not _LIVE.search(run):
        return _SPECIAL.sub(r"\\\1", run)
    word = run.rstrip(".,;:!?)")
    # What stands behind a word is no part of it, unless it makes it what it is.
    return code(word) + run[len(word) :] if _LIVE.search(word) else code(run)


def _escaped_start(found: re.Match[str]) -> str:
    space, sign = found.groups()
    return f"{space}{sign}\\" if sign.isdigit() else f"{space}\\{sign}"


def code(text: str) -> str:
    """Give a line as code, in more backticks than it has in a row."""
    text = safe_line(text)
    ticks = "`" * (_longest_run(text, "`") + 1)
    needs_room = text[:1] == "`" or text[-1:] == "`" or (text[:1] == text[-1:] == " ")
    room = " " if needs_room and text.strip(" ") else ""
    return f"{ticks}{room}{text}{room}{ticks}" if text else ""


def cell(text: str) -> str:
    """Give a line as code in a table."""
    return code(text).replace("|", "\\|")


def fenced(text: str, language: str = "") -> list[str]:
    """Give lines of code in a fence that nothing in them closes."""
    text = safe_text(text)
    fence = "`" * max(_longest_run(text, "`") + 1, 3)
    language = language.lower()
    return [f"{fence}{language if language in _LANGUAGES else ''}", *text.split("\n"), fence]


def _longest_run(text: str, sign: str) -> int:
    return max(map(len, re.findall(f"{re.escape(sign)}+", text)), default=0)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Give a table; its cells are Markdown already."""
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def quoted(lines: Iterable[str]) -> list[str]:
    """Give lines as a quotation."""
    return [f"> {line}".rstrip() for line in lines]


def prose(text: str) -> list[str]:
    """Give what was written as Markdown as such, with nothing live in it."""
    tokens = prose_tokens(safe_text(text))
    return fenced(text, "text") if tokens is None else _Writing().lines(tokens)


class _Prefix(msgspec.Struct):
    """What stands before each line inside a container: a sign once, then room for it."""

    first: str
    rest: str
    is_used: bool = False


class _Writing:
    """The lines of one text, written from the parser's tokens in order."""

    def __init__(self) -> None:
        self._prefixes: list[_Prefix] = []
        self._lists: list[int | None] = []
        self._lines: list[str] = []
        self._needs_blank = False
        self._cells: list[list[str]] = []

    def lines(self, tokens: Sequence[Token]) -> list[str]:
        opened: Token | None = None
        """What stands before a token: of an inline one what it is in."""
        for token in tokens:
            if token.nesting > 0:
                self._open(token)
            elif token.nesting < 0:
                self._close(token)
            else:
                self._leaf(token, opened)
            opened = token
        return self._lines

    def _open(self, token: Token) -> None:
        match token.type:
            case "blockquote_open":
                self._prefixes.append(_Prefix("> ", "> "))
            case "bullet_list_open" | "ordered_list_open":
                self._needs_blank |= not self._lists
                start = token.attrs.get("start", 1)
                number = start if isinstance(start, int) else 1
                self._lists.append(number if token.type == "ordered_list_open" else None)
            case "list_item_open":
                self._prefixes.append(self._item())
            case "table_open":
                self._cells = [[]]
            case _:
                pass

    def _close(self, token: Token) -> None:
        match token.type:
            case "blockquote_close":
                self._leave()
                self._needs_blank = True
            case "list_item_close":
                self._leave()
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._needs_blank |= not self._lists
            case "tr_close":
                self._cells.append([])
            case "table_close":
                head, *rows = [each for each in self._cells if each]
                self._cells = []
                self._block(table(head, rows))
            case _:
                pass

    def _leaf(self, token: Token, opened: Token | None) -> None:
        match token.type:
            case "fence" | "code_block":
                language = (token.info.split() or [""])[0]
                self._block(fenced(token.content.removesuffix("\n"), language))
            case "inline" if self._cells:
                self._cells[-1].append(_inline(token).replace("\n", " "))
            case "inline":
                told = _inline(token)
                # A heading of the content is none of the page.
                if opened and opened.type == "heading_open" and "**" not in told:
                    told = f"**{told}**"
                self._block(told.split("\n"), is_tight=bool(opened and opened.hidden))
            case _:
                self._block(["\\* \\* \\*"])

    def _item(self) -> _Prefix:
        number = self._lists[-1]
        if number is None:
            return _Prefix("- ", "  ")
        self._lists[-1] = number + 1
        return _Prefix(f"{number}. ", " " * len(f"{number}. "))

    def _leave(self) -> None:
        prefix = self._prefixes[-1]
        if not prefix.is_used:
            self._write("")
        self._prefixes.pop()

    def _block(self, lines: Iterable[str], *, is_tight: bool = False) -> None:
        starts_item = bool(self._prefixes) and not self._prefixes[-1].is_used
        if self._lines and (self._needs_blank or not (is_tight or starts_item)):
            self._lines.append(
                "".join(each.rest for each in self._prefixes if each.is_used).rstrip()
            )
        self._needs_blank = False
        for line in lines:
            self._write(line)

    def _write(self, line: str) -> None:
        begin = "".join(each.rest if each.is_used else each.first for each in self._prefixes)
        for each in self._prefixes:
            each.is_used = True
        self._lines.append(f"{begin}{line}".rstrip())


def _inline(token: Token) -> str:
    told = ""
    for part in _inline_parts(token.children or ()):
        # Two codes with nothing between them would be one that neither of them closes.
        between = " " if told.endswith("`") and part.startswith("`") else ""
        told += between + part
    return told


def _inline_parts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "strong_open" | "strong_close":
                yield "**"
            case "em_open" | "em_close":
                yield "*"
            case "code_inline":
                yield code(token.content)
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield "\\\n"
            case _:
                yield inline(token.content)
