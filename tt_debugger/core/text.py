"""Safe text: what stands between content and every view, so that no byte of a session can act.

A terminal obeys what it is sent. Content therefore passes `safe_text` (or `safe_line`) before
anything draws it: control characters become visible pictures, characters that steer or hide
text (BiDi marks, zero-width characters, tags) become their code points in ⟨⟩, a lone surrogate
becomes U+FFFD, and a pile of combining marks is cut. What stays is inert in any terminal.
"""

from __future__ import annotations

import re
import unicodedata

TAB_WIDTH = 4
LONGEST_CLUSTER = 16
"""Code points that one character with its combining marks may have before it is cut."""

CUT = "\N{HORIZONTAL ELLIPSIS}"
NEWLINE_PICTURE = "\N{SYMBOL FOR LINE FEED}"

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_CONTROL_PICTURES[0x7F] = "\N{SYMBOL FOR DELETE}"
_CONTROL_PICTURES[ord("\t")] = " " * TAB_WIDTH
_SHOWN_AS_CODE = frozenset(("Cc", "Cf", "Cn", "Zl", "Zp"))
# Drawn with no width of their own, but not of a category above.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_INERT = re.compile(r"[ -~\n]*\Z")
_CRLF = re.compile(r"\r\n")


def safe_text(text: str) -> str:
    """Give the text with everything that could act or hide made visible; line feeds stay."""
    if _INERT.match(text):
        return text
    return _without_piles("".join(map(_safe_character, _CRLF.sub("\n", text))))


def safe_line(text: str) -> str:
    """Give the text as one safe line: a line feed is shown as its picture."""
    return safe_text(text).replace("\n", NEWLINE_PICTURE)


def summary_line(text: str, limit: int = 120) -> str:
    """Give the start of a text as one line of at most `limit` characters, white space folded.

    The result is content, not yet safe: whoever draws it passes it through `safe_line`.
    """
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + CUT


def _safe_character(character: str) -> str:
    if character == "\n" or " " <= character <= "~":
        return character
    picture = _CONTROL_PICTURES.get(ord(character))
    if picture is not None:
        return picture
    category = unicodedata.category(character)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    if category in _SHOWN_AS_CODE or character in _INVISIBLE:
        return f"⟨U+{ord(character):04X}⟩"
    return character


def _without_piles(text: str) -> str:
    """Cut each run of combining marks that would make a cluster longer than allowed."""
    if not any(map(unicodedata.combining, text)):
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


def _joins_cluster(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Me"}
