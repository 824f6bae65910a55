"""Cookies: those that a text gives, as a header, to a command or in a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_debugger.core.redact.headers import COOKIE_IN_TEXT, is_about_cookies
from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.worth import looks_chosen, looks_random

_LINE = re.compile(r"[^\r\n\"\\]{1,16384}")
_MAP = re.compile(r"\s{0,4}\{[^{}]{1,8192}")
_IN_MAP = re.compile(r":\s{0,4}[\"']([^\s\"']{16,8192})[\"']")
_OPTION = re.compile(rb"-(?:b|-cookie)[ =]['\"]?(?=[\w.-]{1,64}=)")


def cookies_behind(text: str, sign: int, begin: int) -> tuple[int, list[Span]]:
    """Give how far what stands behind a cookie's name goes, and the values in it.

    `sign` is where the sign ends that gives it, `begin` where a quote behind that does.
    """
    several = _MAP.match(text, sign)
    if several is not None:
        found = (each for each in _IN_MAP.finditer(text, *several.span()) if looks_random(each[1]))
        return several.end(), [Span(*each.span(1), "cookie", Rank.ASSIGNED) for each in found]
    line = _LINE.match(text, begin)
    end = begin if line is None else line.end()
    return end, list(_pairs(text, begin, end))


def cookies_of_commands(text: str, lowered: bytes) -> Iterator[Span]:
    """Give the cookies that curl is given; `lowered` has a byte a character."""
    if b"curl" not in lowered:
        return
    for match in _OPTION.finditer(lowered):
        line = _LINE.match(text, match.end())
        if line is not None:
            yield from _pairs(text, match.end(), line.end())


def _pairs(text: str, begin: int, end: int) -> Iterator[Span]:
    for each in COOKIE_IN_TEXT.finditer(text, begin, end):
        if not is_about_cookies(each[1]) and looks_chosen(each[2]):
            yield Span(each.start(2), each.end(2), "cookie", Rank.ASSIGNED)
