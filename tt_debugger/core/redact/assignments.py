r"""Assignments: values that a telling name is given, as `password=...`, `"token": "..."`.

In ordinary text and code most of what follows such a name is no secret, so the way it is written
decides how much it must look like one: a variable of an environment is believed at once, a bare
word in a program only if it is random.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_debugger.core.redact.names import LONGEST, kind_of
from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.worth import (
    is_number,
    is_path,
    is_worth_hiding,
    looks_chosen,
    looks_random,
)

_TELLING = (b"secret", b"pass", b"pwd", b"token", b"key", b"auth", b"cookie", b"credential")
_QUOTE = rb"(?:\\{0,8}[\"'`]|&quot;|&#39;|&#x27;|%22)"
_ASSIGNED = (
    rb"(?P<rest>[a-z0-9_.-]{0,24})(?P<closed>" + _QUOTE + rb"\]?)?[ \t]{0,8}"
    rb"(?P<sign>=>|:="
    rb"|(?::[ \t]{0,2}[a-z][a-z |\[\]]{0,24}[ \t](?==[ \t]))?=(?![=~])|:(?![:=/])|%3d|%3a)"
    rb"[ \t]{0,8}(?P<opened>" + _QUOTE + rb")?"
)
_OPTION = re.compile(
    rb"--(?P<name>(?:[a-z0-9]{1,20}-){0,4}"
    rb"(?:token|password|passwd|passphrase|pass|secret|key|auth|apikey|credential|cookie)"
    rb"(?:-[a-z]{1,10})?)[ \t]{1,4}(?P<opened>\\{0,8}[\"'])?"
)
_ASSIGNMENTS = tuple((word, re.compile(word + _ASSIGNED)) for word in _TELLING)
_BARE = re.compile(r"[^\s\"'`,;<>(){}\[\]|\\‹›&]{1,512}")
_REST = re.compile(r"[^\s\"'`,;<>(){}\[\]|\\‹›&]*")
_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|apikey|negotiate|ssws|key)(?:[ \t]{1,4}|%20|\+)", re.IGNORECASE
)
_COOKIE = re.compile(r"([\w.!#$%&*+^`|~-]{1,128})=([^;\s\"'\\<>‹›]{6,8192})")
_COOKIE_LINE = re.compile(r"[^\r\n\"\\]{1,16384}")
_ABOUT_COOKIES = frozenset(("path", "expires", "max-age", "domain", "samesite", "version"))
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_LONGEST_QUOTED = 4096
_SHORTEST_RANDOM = 8


def assigned(text: str, lowered: bytes) -> Iterator[Span]:
    """Give the values in a text that names say are secret; `lowered` has a byte a character."""
    for word, pattern in _ASSIGNMENTS:
        if word in lowered:
            yield from _given(text, lowered, pattern)
    if b"--" in lowered:
        for match in _OPTION.finditer(lowered):
            kind = kind_of(match["name"].decode())
            if kind is not None:
                yield from _value(text, match, "--", kind)


def _given(text: str, lowered: bytes, pattern: re.Pattern[bytes]) -> Iterator[Span]:
    done = 0
    for match in pattern.finditer(lowered):
        if match.start() < done:
            continue
        name = _name(text, match)
        kind = kind_of(name.rpartition(".")[2])
        if kind == "cookie":
            line = _COOKIE_LINE.match(text, match.end())
            done = match.end() if line is None else line.end()
            yield from _cookies(text, match.end(), done)
        elif kind is not None:
            yield from _value(text, match, name, kind)


def _name(text: str, match: re.Match[bytes]) -> str:
    """Give the whole of the name of which a telling word was found."""
    begin = match.start()
    before = text[max(begin - LONGEST, 0) : begin]
    begin -= len(before) - len(before.rstrip(_NAME_CHARACTERS))
    # The letter of an escape is none of the name.
    if text[begin - 1 : begin] == "\\" and text[begin] in "nrtbf":
        begin += 1
    return text[begin : match.end("rest")]


def _value(text: str, match: re.Match[bytes], name: str, kind: str) -> Iterator[Span]:
    """Give what stands behind a name, if it is worth hiding."""
    begin = match.end()
    scheme = _SCHEME.match(text, begin)
    if scheme is not None:
        begin = scheme.end()
    end = _closing(text, match, begin)
    is_quoted = end is not None
    if end is None:
        bare = _BARE.match(text, begin)
        if bare is None:
            return
        end = bare.end()
        is_call = text[end : end + 1] in {"(", "["}
        if is_call or not (
            name == "--" or _is_variable(text, match, name) or _is_one(text[begin:end])
        ):
            return
    value = text[begin:end]
    if is_worth_hiding(value) and _is_secret(text, match, name, kind, value, is_quoted=is_quoted):
        rest = None if is_quoted else _REST.match(text, end)
        yield Span(begin, end if rest is None else rest.end(), kind, Rank.ASSIGNED)


def _is_secret(
    text: str, match: re.Match[bytes], name: str, kind: str, value: str, *, is_quoted: bool
) -> bool:
    """Tell whether a value, written as it is, is what its name says."""
    if is_quoted:
        is_map = "closed" in match.re.groupindex and match["closed"] is not None
        return _quoted_is_secret(value, kind, is_map=is_map)
    if name == "--":
        return looks_chosen(value) and not value.startswith("-")
    if _is_variable(text, match, name):
        return kind == "password" or not (is_number(value) or is_path(value))
    return _bare_is_secret(value.rstrip(".:"), kind)


def _closing(text: str, match: re.Match[bytes], begin: int) -> int | None:
    """Give where a quoted value ends; None where no quote opens it, or none closes it."""
    if match["opened"] is None:
        return None
    quote = text[match.start("opened") : match.end("opened")]
    end = text.find(quote, begin, begin + _LONGEST_QUOTED)
    return None if end < 0 or "\n" in text[begin:end] else end


def _is_variable(text: str, match: re.Match[bytes], name: str) -> bool:
    """Tell whether a value is given as a shell gives it: NAME=value, with no space between."""
    return name.isupper() and match["sign"] == b"=" and text[match.end() - 1] != " "


def _is_one(value: str) -> bool:
    """Tell whether a bare value is no chain of assignments; base64 may end in the sign of one."""
    return "=" not in value.rstrip("=")


def _quoted_is_secret(value: str, kind: str, *, is_map: bool) -> bool:
    if " " in value.strip():
        return False
    if kind == "password":
        return looks_chosen(value) or (is_map and not value.isalpha())
    return len(value) >= _SHORTEST_RANDOM and looks_random(value)


def _bare_is_secret(value: str, kind: str) -> bool:
    if kind == "password":
        return looks_chosen(value) and looks_random(value)
    return len(value) >= _SHORTEST_RANDOM and looks_random(value)


def _cookies(text: str, begin: int, end: int) -> Iterator[Span]:
    for each in _COOKIE.finditer(text, begin, end):
        if each[1].lower() not in _ABOUT_COOKIES and looks_chosen(each[2]):
            yield Span(each.start(2), each.end(2), "cookie", Rank.ASSIGNED)
