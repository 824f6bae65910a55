"""Assignments: values that a telling name is given, as `password=...`, `"token": "..."`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tt_debugger.core.redact.cookies import cookies_behind
from tt_debugger.core.redact.given import OPTION, Given, is_secret
from tt_debugger.core.redact.headers import SCHEME
from tt_debugger.core.redact.names import LONGEST, kind_of
from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.worth import is_worth_hiding

_TELLING = (b"secret", b"pass", b"pwd", b"token", b"key", b"auth", b"cookie", b"credential")
_QUOTE = rb"(?:\\{0,8}[\"'`]|&quot;|&#39;|&#x27;|%22)"
_ASSIGNED = (
    rb"(?P<rest>[a-z0-9_.-]{0,24})(?P<closed>" + _QUOTE + rb"\]?)?\*{0,2}[ \t]{0,8}"
    rb"(?P<sign>=>|:="
    rb"|(?::[ \t]{0,2}[&a-z][a-z |\[\]&'<>:]{0,32}[ \t](?==[ \t]))?=(?![=~])"
    rb"|:(?![:=/])|%3d|%3a"
    # The name is told first, what it names after that.
    rb"|(?P<told>[,{]?[ \t\r\n]{1,40}[\"']?(?:value|content|default)[\"']?[ \t]{0,4}[:=]"
    rb"|is(?=[ \t])|was(?=[ \t])|>(?=[^<>\s]{4,512}</)"
    rb"|,(?=[ \t]{0,4}b?\\{0,8}[\"'])|\((?=\\{0,8}[\"'])|\|\||\?\?|\|(?=[ \t])"
    rb"|(?<=[ \t])(?:--body[ =]|-b ?)?(?=[\"']?[a-z_.+/=~!-]{0,40}\d)))"
    rb"\*{0,2}[ \t]{0,8}"
    rb"(?P<gap>[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,20}|\r?\n[ \t]{0,20}|&[\w-]{1,20}[ \t]{1,4}"
    rb"|!{1,2}\w{1,20}[ \t]{1,4}|\{\s{0,40}[\"']value[\"'][ \t]?:[ \t]?"
    rb"|secret(?:str|bytes)?\(|b(?=[\"']))?"
    rb"(?P<opened>" + _QUOTE + rb")?"
)
_OPTION = re.compile(
    rb"--(?P<name>(?:[a-z0-9]{1,20}-){0,4}"
    rb"(?:token|password|passwd|passphrase|pass|secret|key|auth|apikey|credential|cookie)"
    rb"(?:-[a-z]{1,10})?)[ \t]{1,4}(?P<opened>\\{0,8}[\"'])?"
)
_ASSIGNMENTS = tuple((word, re.compile(word + _ASSIGNED)) for word in _TELLING)
_BARE = re.compile(r"[^\s\"'`,;<>(){}\[\]|\\‹›&]{1,512}")
_REST = re.compile(r"[^\s\"'`,;<>(){}\[\]|\\‹›&]*")
_QUALIFIED = re.compile(r"(?i:api|access|secret|auth|signing|encryption)(?= \Z)")
_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_LONGEST_QUOTED = 4096
_LONGEST_QUALIFIED = 16


def assigned(text: str, lowered: bytes) -> Iterator[Span]:
    """Give the values in a text that names say are secret; `lowered` has a byte a character."""
    for word, pattern in _ASSIGNMENTS:
        if word in lowered:
            yield from _given(text, lowered, pattern)
    if b"--" in lowered:
        for match in _OPTION.finditer(lowered):
            kind = kind_of(match["name"].decode())
            if kind is not None:
                yield from _value(text, match, "", kind)


def _given(text: str, lowered: bytes, pattern: re.Pattern[bytes]) -> Iterator[Span]:
    done = 0
    for match in pattern.finditer(lowered):
        if match.start() < done:
            continue
        name = _name(text, match)
        kind = kind_of(name.rpartition(".")[2])
        if kind == "cookie":
            done, cookies = cookies_behind(text, match.end("sign"), match.end())
            yield from cookies
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
    elif text[begin - 1 : begin] == "%" and _ENCODED.match(text, begin - 1):
        begin += 2
    name = text[begin : match.end("rest")]
    if match.start() == begin and text[begin - 1 : begin] == " ":
        qualified = _QUALIFIED.search(text, max(begin - _LONGEST_QUALIFIED, 0), begin)
        return name if qualified is None else f"{qualified[0]}_{name}"
    return name


def _value(text: str, match: re.Match[bytes], name: str, kind: str) -> Iterator[Span]:
    """Give what stands behind a name, if it is worth hiding."""
    begin = match.end()
    scheme = SCHEME.match(text, begin)
    if scheme is not None:
        begin = scheme.end()
    end = _closing(text, match, begin)
    is_quoted = end is not None
    if end is None:
        bare = _BARE.match(text, begin)
        if bare is None:
            return
        end = bare.end()
    given = _as_given(text, match, name, kind, slice(begin, end), is_quoted=is_quoted)
    if not is_quoted:
        is_call = text[end : end + 1] in {"(", "["}
        if is_call or not (given.sign == OPTION or given.is_variable or _is_one(given.value)):
            return
    if is_worth_hiding(given.value) and is_secret(given):
        rest = None if is_quoted else _REST.match(text, end)
        yield Span(begin, end if rest is None else rest.end(), kind, Rank.ASSIGNED)


def _as_given(
    text: str,
    match: re.Match[bytes],
    name: str,
    kind: str,
    place: slice,
    *,
    is_quoted: bool,
) -> Given:
    is_option = match.re is _OPTION
    return Given(
        text=text,
        start=match.start(),
        end=place.stop,
        name=name,
        kind=kind,
        value=text[place],
        sign=OPTION if is_option else match["sign"],
        is_spaced=not is_option and text[match.end("sign")] == " ",
        is_quoted=is_quoted,
        is_map=not is_option and match["closed"] is not None,
        is_told=not is_option and match["told"] is not None,
        is_below=not is_option and match["gap"] in {b"\n", b"\r\n"},
    )


def _closing(text: str, match: re.Match[bytes], begin: int) -> int | None:
    """Give where a quoted value ends; None where no quote opens it, or none closes it."""
    if match["opened"] is None:
        return None
    quote = text[match.start("opened") : match.end("opened")]
    end = text.find(quote, begin, begin + _LONGEST_QUOTED)
    return None if end < 0 or "\n" in text[begin:end] else end


def _is_one(value: str) -> bool:
    """Tell whether a bare value is no chain of assignments; base64 may end in the sign of one."""
    return "=" not in value.rstrip("=")
