"""Hidden text: escape sequences and characters of no width, which can stand inside a token."""

from __future__ import annotations

import re
from bisect import bisect_right

_HIDDEN = re.compile(
    r"(?:[\x1b␛\x9b]|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;:?]{0,32}[A-Za-z]"
    "|\x9b[0-9;:?]{0,32}[A-Za-z]|[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]"
    r"|⟨U\+(?:200[B-F]|206[0-4]|FEFF|00AD)⟩"
)
_PLAIN_SIGNS = ("\x1b", "1b[", "1B[", "033[", "\\e[")
_SIGNS = (
    *_PLAIN_SIGNS,
    *("\x9b", "\xad", "␛", "⟨U+", "\ufeff"),
    *map(chr, (*range(0x200B, 0x2010), *range(0x2060, 0x2065))),
)
"""What stands in each of them; in a text that is ASCII only the first few can."""


class Uncovered:
    """A text without what is hidden in it, and where each of its characters stood."""

    def __init__(self, text: str, hidden: list[re.Match[str]]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._shifts: list[int] = []
        begin = size = 0
        for match in hidden:
            pieces.append(text[begin : match.start()])
            size += match.start() - begin
            begin = match.end()
            self._starts.append(size)
            self._shifts.append(begin - size)
        pieces.append(text[begin:])
        self.text = "".join(pieces)

    def place(self, index: int) -> int:
        """Give where in the whole text a character of this one stands."""
        before = bisect_right(self._starts, index)
        return index + (self._shifts[before - 1] if before else 0)


def uncovered(text: str) -> Uncovered | None:
    """Give the text without what is hidden in it, or None where nothing is."""
    for each in _PLAIN_SIGNS if text.isascii() else _SIGNS:
        if each in text:
            break
    else:
        return None
    hidden = list(_HIDDEN.finditer(text))
    return Uncovered(text, hidden) if hidden else None


def without_hidden(text: str) -> str:
    """Give the text without what is hidden in it."""
    return _HIDDEN.sub("", text)
