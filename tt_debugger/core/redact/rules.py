r"""Rules: what a secret looks like, as data, each with examples that it must and must not match.

An example is written with gaps, so that no token that looks real stands in these files:
`ghp_{an36}` is `ghp_` and 36 made-up letters and digits. Gaps: `an` letters and digits, `w` those
with `-` and `_`, `hex`, `dig`, `up` capitals and digits, `low` small letters and digits, `b64`.

Patterns are ASCII and linear: each repetition is of one class and what follows it is not in it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

GUARD = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abefnrtv0])|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=[0-9\[]m))"
)
r"""What may stand before a token: no letter or digit, but for those of an escape.

In the raw text of JSON a line feed is `\n`, and its `n` must not hide the token after it; of an
escape sequence whose first byte is gone, `[31m` is left.
"""

DIGITS = "0123456789"
HEX = DIGITS + "abcdef"
ALNUM = DIGITS + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Rule(Struct, frozen=True):
    """One family of secrets. What is replaced is the group of its pattern, or the whole match."""

    id: str
    anchors: tuple[str, ...]
    """Literals, one of which stands in every match; what no anchor is in is not looked at."""
    pattern: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    before: int = 0
    """At most how many characters before the anchor a match begins."""
    left: str = ""
    """The characters that these are of; without, the match begins exactly `before` it."""


@lru_cache(None)
def compiled(pattern: str) -> re.Pattern[str]:
    """Give a pattern, compiled when it is first needed: most exports need few of them."""
    return re.compile(pattern, re.ASCII)


def token(
    name: str,
    prefixes: str,
    body: str,
    must: tuple[str, ...],
    must_not: tuple[str, ...] = (),
) -> Rule:
    """Make the rule of a token that begins with one of the prefixes, given with spaces between."""
    anchors = tuple(prefixes.split())
    begin = "|".join(map(re.escape, anchors))
    return Rule(name, anchors, f"{GUARD}(?:{begin}){body}", must, must_not)
