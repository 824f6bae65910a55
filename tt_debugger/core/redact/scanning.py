"""Scanning: where in a text a secret stands, and by which rule.

Most of any text is no secret, so cheap looks come first: a token is a run of at least sixteen of
the characters that tokens are made of, everything else has a literal or a telling word that can
be found in the text. Only there do patterns run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tt_debugger.core.redact.assignments import assigned
from tt_debugger.core.redact.cookies import cookies_of_commands
from tt_debugger.core.redact.literals import any_of
from tt_debugger.core.redact.manifests import manifested
from tt_debugger.core.redact.rules import Rule, compiled
from tt_debugger.core.redact.shape_rules import SHAPE_RULES
from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.token_rules import BROKEN, TOKEN_RULES
from tt_debugger.core.redact.vendors import BEFORE, NAMED, REACH, VALUE, VENDOR_RULE
from tt_debugger.core.redact.words import words
from tt_debugger.core.redact.worth import (
    is_number,
    is_path,
    is_user_and_password,
    is_worth_hiding,
    looks_random,
    looks_scrambled,
)

SHORTEST = 6
"""Characters below which no text can hold a secret that tells by itself."""

_IN_TOKENS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_RUNS = bytes(ord("x") if code in _IN_TOKENS else ord(" ") for code in range(256))
_RUN = b"x" * 16
_SMALL = b"abcdefghijklmnopqrstuvwxyz_-"
_HEX = b"0123456789abcdef-"
_HEX_TOKENS = (b"fc-",)
_REACH = {
    ord("."): 12,
    ord("$"): 28,
    ord("%"): 28,
    ord("/"): 16,
    ord("+"): 5,
    ord(":"): 8,
    ord("~"): 3,
}
"""How far left of a run its token may begin, by the character before the run."""
_LONGEST_DISCORD = 30
_BLOCK_BEGIN, _BLOCK_END = "-----BEGIN", "-----END"
_LONGEST_BLOCK = 20_000
_LONGEST_CLOSING = 64
_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
_NEXT_LINE = re.compile(
    r"(?:\\[nr]){0,2}[^A-Za-z0-9+/]{0,24}(?:\d{1,6}[^\w\n]{1,3})?[A-Za-z0-9+/=]{40,}"
)

_DIGIT = re.compile("[0-9]")
_ADDRESSES = frozenset(("email", "home-name"))
_PLACEHOLDER_NAMES = words(
    "user username you me name yourname your-name shared public default linuxbrew"
)
_DISCORD = re.compile(r"[A-Za-z0-9_-]{23,28}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", re.ASCII)
_FILE_ENDS = words(
    "png jpg jpeg gif svg webp ico js ts jsx tsx py pyi css scss html json md txt c h cpp rs go "
    "service timer socket target mount sh so dll exe"
)
_NOBODY = re.compile(
    r"git@.*|(?:no-?reply|noreply)@(?!users\.).*|.*@(?:[\w-]+\.)*example\.(?:com|org|net|edu)"
    r"|.*\.(?:example|invalid|test|localhost|local)",
    re.IGNORECASE,
)


class Seen(NamedTuple):
    """A text with what is looked for in it by the cheap looks."""

    text: str
    plain: bytes
    """One byte a character, whatever the text is of: places in it are places in the text."""
    lowered: bytes


def seen(text: str) -> Seen:
    """Give a text with what is looked at first."""
    plain = text.encode("ascii", "replace")
    return Seen(text, plain, plain.lower())


def spans(each: Seen) -> Iterator[Span]:
    """Give what is secret in a text by itself; what overlaps is not yet joined."""
    text, _, lowered = each
    if len(text) < SHORTEST:
        return
    yield from _tokens(each)
    yield from _shaped(text, lowered)
    yield from assigned(text, lowered)
    yield from cookies_of_commands(text, lowered)
    yield from manifested(text, lowered)


# --- Tokens --------------------------------------------------------------------------------------


def _tokens(each: Seen) -> Iterator[Span]:
    text, plain, lowered = each
    runs = plain.translate(_RUNS)
    begin = runs.find(_RUN)
    if begin < 0:
        return
    anchors, rules = _anchors(), _rules_by_anchor()
    while begin >= 0:
        end = runs.find(b" ", begin)
        end = len(text) if end < 0 else end
        run = plain[begin:end]
        reach = _REACH.get(plain[begin - 1], 0) if begin else 0
        is_name = _is_name(run)
        if not is_name and begin and plain[begin - 1] in BEFORE:
            yield from _vendors(text, lowered, begin)
        if not is_name and (reach or not _is_hex(run)):
            done = 0
            for anchor in anchors.finditer(text, max(begin - reach, 0), end):
                if anchor.start() < done:
                    continue
                for rule in rules[anchor[0]]:
                    span = _token_at(text, anchor.start(), rule)
                    if span is not None:
                        done = span.end
                        yield span
                        break
            if text[end : end + 1] == "." and end - begin < _LONGEST_DISCORD:
                yield from _discord(text, begin)
        begin = runs.find(_RUN, end)


def _vendors(text: str, lowered: bytes, begin: int) -> Iterator[Span]:
    """Give a value that is given under a vendor's name."""
    if NAMED.search(lowered, max(begin - REACH, 0), begin):
        match = VALUE.match(text, begin)
        if match is not None:
            yield Span(begin, match.end(), VENDOR_RULE, Rank.ASSIGNED)


def _is_name(run: bytes) -> bool:
    """Tell whether a run is a name in a program: a token has digits or capitals."""
    return not run.strip(_SMALL)


def _is_hex(run: bytes) -> bool:
    """Tell whether a run is a hash or a UUID by itself."""
    return not run.strip(_HEX) and not run.startswith(_HEX_TOKENS)


def _token_at(text: str, place: int, rule: Rule) -> Span | None:
    match = compiled(rule.pattern).match(text, _start(text, place, rule))
    return None if match is None else Span(*match.span(), rule.id, Rank.TOKEN)


def _start(text: str, place: int, rule: Rule) -> int:
    """Give where a match with this anchor begins."""
    if not rule.before:
        return place
    start = max(place - rule.before, 0)
    if rule.left:
        before = text[start:place]
        start = place - (len(before) - len(before.rstrip(rule.left)))
        # The letter of an escape is none of the text.
        if text[start - 1 : start] == "\\" and start < place:
            start += 1
    return start


def _discord(text: str, begin: int) -> Iterator[Span]:
    """Give a bot's token, which is three parts and has no beginning of its own."""
    if text[begin - 1 : begin] == "\\":
        begin += 1
    match = _DISCORD.match(text, begin) if text[begin] in "MNO" else None
    if match is not None:
        yield Span(begin, match.end(), "discord-token", Rank.TOKEN)


@lru_cache(1)
def _rules_by_anchor() -> dict[str, tuple[Rule, ...]]:
    """Give the rules by the shortest anchor that theirs begin with, the longest first."""
    every = {anchor: rule for rule in TOKEN_RULES for anchor in rule.anchors}
    short = [each for each in every if not any(each != b and each.startswith(b) for b in every)]
    by_length = sorted(every, key=len, reverse=True)
    return {
        each: tuple(dict.fromkeys(every[long] for long in by_length if long.startswith(each)))
        for each in short
    }


@lru_cache(1)
def _anchors() -> re.Pattern[str]:
    return re.compile(any_of(sorted(_rules_by_anchor())))


# --- Shapes --------------------------------------------------------------------------------------


def _shaped(text: str, lowered: bytes) -> Iterator[Span]:
    for anchor, rules in _ANCHORED:
        place = lowered.find(anchor)
        while place >= 0:
            after = place + len(anchor)
            for rule in rules:
                span = _shape_at(text, place, rule)
                if span is not None:
                    after = max(after, span.end)
                    yield span
                    break
            place = lowered.find(anchor, after)


def _by_anchor(rules: Sequence[Rule]) -> tuple[tuple[bytes, tuple[Rule, ...]], ...]:
    anchors = dict.fromkeys(anchor for rule in rules for anchor in rule.anchors)
    return tuple(
        (anchor.lower().encode(), tuple(rule for rule in rules if anchor in rule.anchors))
        for anchor in anchors
    )


_ANCHORED = _by_anchor((*SHAPE_RULES, *BROKEN))


def _shape_at(text: str, place: int, rule: Rule) -> Span | None:
    pattern = compiled(rule.pattern)
    match = pattern.match(text, _start(text, place, rule))
    if match is None:
        return None
    group = match.lastindex or 0
    begin, end = match.span(group)
    if rule.id == "private-key":
        end = _block_end(text, begin, end)
    elif group and not _is_meant(rule.id, text[begin:end]):
        return None
    return Span(begin, end, rule.id, Rank.ADDRESS if rule.id in _ADDRESSES else Rank.SHAPE)


def _block_end(text: str, begin: int, end: int) -> int:
    """Give where a block ends whose body was read up to here: its own end, if that is there.

    Its lines may be those of a diff, a quotation or a program, each with more about it.
    """
    closing = text.find(_BLOCK_END, begin, begin + _LONGEST_BLOCK)
    opening = text.find(_BLOCK_BEGIN, begin + 1, closing)
    if closing >= 0 and opening < 0 and (closing < end or _BODY.search(text, begin, closing)):
        last = text.find("-----", closing + len(_BLOCK_END), closing + _LONGEST_CLOSING)
        return max(end, closing) if last < 0 else last + 5
    line = _NEXT_LINE.match(text, end)
    while line is not None:
        end = line.end()
        line = _NEXT_LINE.match(text, end)
    return end


def _is_bearer(value: str) -> bool:
    return _DIGIT.search(value) is not None or looks_scrambled(value)


_MEANT: dict[str, Callable[[str], bool]] = {
    "basic-credentials": is_user_and_password,
    "bearer-token": _is_bearer,
    "url-key": looks_random,
}


def _is_meant(rule: str, value: str) -> bool:
    """Tell whether what stands in the place of a secret is one."""
    if rule == "email":
        value = value.replace("%40", "@")
        return not _NOBODY.fullmatch(value) and value.rpartition(".")[2] not in _FILE_ENDS
    if rule == "home-name":
        return value.lower() not in _PLACEHOLDER_NAMES
    asked = _MEANT.get(rule)
    if asked is not None:
        return asked(value)
    if rule == "command-password":
        return is_worth_hiding(value) and not (is_number(value) or is_path(value))
    return is_worth_hiding(value)
