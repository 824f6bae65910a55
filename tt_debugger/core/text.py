"""Safe text: what stands between content and every view, so that no byte of a session can act.

A terminal obeys what it is sent. Content therefore passes `safe_text` (or `safe_line`) before
anything draws it: control characters become visible pictures, characters that steer or hide
text (BiDi marks, zero-width characters, tags) become their code points in ⟨⟩, a lone surrogate
becomes U+FFFD, and a pile of combining marks is cut. What stays is inert in any terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

TAB_WIDTH = 4
LONGEST_CLUSTER = 16
"""Code points that one character with its combining marks may have before it is cut."""

CUT = "\N{HORIZONTAL ELLIPSIS}"
NEWLINE_PICTURE = "\N{SYMBOL FOR LINE FEED}"

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_CONTROL_PICTURES[0x7F] = "\N{SYMBOL FOR DELETE}"
_CONTROL_PICTURES[ord("\t")] = " " * TAB_WIDTH
_ACTING = frozenset(("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
"""Categories of characters that steer, hide, or are none."""
# Drawn with no width of their own, but not of a category above: fillers and variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]"
)
_INERT = re.compile(r"[ -~\n]*\Z")
_CRLF = re.compile(r"\r\n")


def acting(text: str) -> set[str]:
    """Give the characters of a text that a terminal could obey or that would hide in it.

    The one definition of what must not be drawn as it is; a line feed is not among them.
    """
    return set() if _INERT.match(text) else set(filter(_acts, set(text)))


@lru_cache(4096)
def _acts(character: str) -> bool:
    is_plain = character == "\n" or " " <= character <= "~"
    return not is_plain and (
        unicodedata.category(character) in _ACTING or _INVISIBLE.match(character) is not None
    )


def safe_text(text: str) -> str:
    """Give the text with everything that could act or hide made visible; line feeds stay."""
    if _INERT.match(text):
        return text
    text = _CRLF.sub("\n", text)
    return _without_piles(text.translate({ord(each): _shown(each) for each in acting(text)}))


def safe_line(text: str) -> str:
    """Give the text as one safe line: a line feed is shown as its picture."""
    return safe_text(text).replace("\n", NEWLINE_PICTURE)


def pieces(text: str, size: int) -> Iterator[str]:
    """Give a text in pieces of about `size` characters, none cut off from its combining marks."""
    begin = 0
    while True:
        end = begin + size
        while end < len(text) and _joins_cluster(text[end]):
            end += 1
        yield text[begin:end]
        begin = end
        if begin >= len(text):
            return


def summary_line(text: str, limit: int = 120) -> str:
    """Give the start of a text as one line of at most `limit` characters.

    White space is folded, and the marks of a Markdown heading at the start are left out.

    The result is content, not yet safe: whoever draws it passes it through `safe_line`.
    """
    line = " ".join(text[: limit * 4].split()).lstrip("# ")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + CUT


def counted(number: int, noun: str, plural: str = "") -> str:
    """Give a number with its noun: 1 item, 2 items."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def common_start(one: str, other: str) -> int:
    """Give how many characters two texts have in common at their start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shown(character: str) -> str:
    """Give what is drawn in the place of a character that acts."""
    picture = _CONTROL_PICTURES.get(ord(character))
    if picture is not None:
        return picture
    if unicodedata.category(character) == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return f"⟨U+{ord(character):04X}⟩"


def _without_piles(text: str) -> str:
    """Cut each run of combining marks that would make a cluster longer than allowed."""
    if not any(map(_joins_cluster, set(text))):
        return text
    kept: list[str] = []
    cluster = 0
    for character in text:
        cluster = cluster + 1 if _joins_cluster(character) else 1
        if cluster <= LONGEST_CLUSTER:
            kept.append(character)
        elif cluster == LONGEST_CLUSTER + 1:
            kept.append(CUT)
    return "".join(kept)


@lru_cache(4096)
def _joins_cluster(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me"}
