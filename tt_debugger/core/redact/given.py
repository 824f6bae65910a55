"""Given: a value behind a telling name, and whether it is believed to be what the name says.

In ordinary text and code most of what follows such a name is no secret, so the way it is written
decides how much it must look like one: a variable of an environment is believed at once, a bare
word in a program only if it is random.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tt_debugger.core.redact.worth import (
    is_common,
    is_number,
    is_path,
    looks_chosen,
    looks_random,
    looks_scrambled,
)

OPTION = b"--"
"""The sign of what is given to an option of a command."""
_SHORTEST_RANDOM = 8
_SHORTEST_BESIDE = 16
_SHORTEST_BELOW = 20
_NEAR = 120
_WORD = re.compile("[a-z][a-z0-9-]{5,}")
_SETTER = re.compile("set|with|use|add", re.IGNORECASE)
_USER_BEFORE = re.compile(
    r"(?i:user(?: id)?|login|uid|email)\w{0,12}\\{0,8}[\"']?\s{0,2}[:=]\s{0,2}\S.{0,80}\Z",
    re.DOTALL,
)
_ENDS_VALUE = frozenset(("", "\n", "\r", ";", "&", " ", "'", '"'))
_ONLY_PASSWORD = re.compile(r"(?:password|passwd|passphrase|secret[_-]?key)\Z", re.IGNORECASE)
_SENTENCE = re.compile(r"pass|secret|enter|[%{}<>\\$]|[.:?!]\Z", re.IGNORECASE)
_LINE_END = re.compile(r"[ \t]{0,20}(?:[\r\n]|#|\Z)")
# A name in a program: with a dot or a line in it, or capitals that begin its later words.
_IN_CODE = re.compile(
    r"_*[A-Za-z]\w{0,80}(?:\.[A-Za-z_]\w{0,80}){1,8}|_*[A-Za-z]+(?:_[A-Za-z0-9]*){1,12}"
    r"|[a-z]{1,40}(?:[A-Z][a-z]{0,40}){1,12}|_\w{0,80}|[^\w]*|.*[:/*].*"
)
_LINE_BEFORE = re.compile(r"(?:\A|\n)[ \t+-]{0,20}(?:export |set |local )?[\w.-]{0,60}\Z")


class Given(NamedTuple):
    """A value as it is written behind a name."""

    text: str
    start: int
    """Where the telling word of the name begins."""
    end: int
    """Where the value ends."""
    name: str
    kind: str
    """The rule that knows the name."""
    value: str
    sign: bytes
    is_spaced: bool
    """Whether a blank stands behind the sign."""
    is_quoted: bool
    is_map: bool
    """Whether the name is quoted too."""
    is_told: bool
    """Whether the sign only tells that a value comes, and gives none."""
    is_below: bool
    """Whether the value stands in the line below."""

    @property
    def is_variable(self) -> bool:
        """Whether it is given as a shell gives it: NAME=value, with no space between."""
        return self.name.isupper() and self.sign == b"=" and not self.is_spaced


def is_secret(given: Given) -> bool:
    """Tell whether a value, written as it is, is what its name says."""
    if given.sign == OPTION:
        is_meant = given.is_quoted or looks_chosen(given.value) or _is_option_password(given)
        return is_meant and not given.value.startswith("-")
    if given.is_told:
        return _is_told(given)
    if given.is_variable:
        return _is_no_number(given)
    if _is_plain_password(given) or _is_only_password(given):
        return True
    if given.is_below and len(given.value) < _SHORTEST_BELOW:
        return False
    return _looks_secret(given)


def _is_no_number(given: Given) -> bool:
    return given.kind == "password" or not (is_number(given.value) or is_path(given.value))


def _looks_secret(given: Given) -> bool:
    value = given.value
    if not given.is_quoted:
        value = value.rstrip(".:")
    elif " " in value.strip():
        return False
    if given.kind != "password":
        if looks_scrambled(value):
            return True
        return len(value) >= _SHORTEST_RANDOM and looks_random(value)
    if given.is_quoted:
        return looks_chosen(value) or (given.is_map and not value.isalpha())
    return looks_chosen(value) and looks_random(value)


def _is_option_password(given: Given) -> bool:
    """Tell whether a word given to an option is a password, as one is at the end of a command."""
    following = given.text[given.end : given.end + 2]
    is_last = following[:1] in {"", "\n", "\r"} or following == " -"
    is_word = given.value.isalpha() and not is_common(given.value)
    return is_last and given.kind == "password" and is_word


def _is_only_password(given: Given) -> bool:
    """Tell whether a value is a password since its name can be that of nothing else.

    It is the whole rest of its line, and no code: no name, no attribute, no type.
    """
    if given.sign not in {b"=", b":"} or not _says_password(given):
        return False
    value = given.value
    if value.isdigit():
        return given.is_quoted or not given.is_spaced
    begin = max(given.start - _NEAR, 0)
    if given.is_below or _LINE_BEFORE.search(given.text, begin, given.start) is None:
        return False
    if given.is_quoted:
        is_sentence = _SENTENCE.search(value) is not None
        return given.sign == b"=" and not (given.is_map or is_sentence)
    if not _LINE_END.match(given.text, given.end):
        return False
    is_type = given.sign == b":" and value[0].isupper() and value.isalpha()
    return not (is_type or is_path(value) or _IN_CODE.fullmatch(value))


def _says_password(given: Given) -> bool:
    is_long = len(given.value) >= _SHORTEST_RANDOM and not is_common(given.value)
    return is_long and _ONLY_PASSWORD.search(given.name) is not None


def _is_plain_password(given: Given) -> bool:
    """Tell whether a plain word after a password's name is one by where it stands."""
    if given.kind != "password" or not _WORD.fullmatch(given.value):
        return False
    if given.is_quoted and given.sign == b"=":
        return True
    following = given.text[given.end : given.end + _NEAR].lstrip()[:1]
    if not given.is_quoted and (following == ")" or not _is_last(given)):
        return False
    begin = max(given.start - _NEAR, 0)
    if given.name.isupper() or _USER_BEFORE.search(given.text, begin, given.start):
        return True
    is_line = _LINE_BEFORE.search(given.text, begin, given.start) is not None
    return given.sign == b"=" and is_line


def _is_last(given: Given) -> bool:
    """Tell whether a bare word ends what it stands in, as no word in a program does."""
    following = given.text[given.end : given.end + 1]
    if given.sign == b"=":
        return not given.is_spaced and following in _ENDS_VALUE
    return following in {"", "\n", "\r"}


def _is_told(given: Given) -> bool:
    """Tell whether what stands beside a name, with no sign between that gives it, is its value."""
    told, value, kind = given.sign, given.value, given.kind
    if told.endswith((b":", b"=")):
        is_believed = given.name.isupper() or (given.is_quoted and kind == "password")
        return _is_no_number(given) if is_believed else _looks_secret(given)
    if told == b">":
        return kind == "password" or looks_random(value)
    match told:
        case b"(":
            is_beside = given.is_quoted and _SETTER.match(given.name) is not None
        case b",":
            is_beside = given.is_quoted and given.is_map
        case b"||" | b"??":
            is_beside = given.is_quoted
        case b"is" | b"was" | b"|":
            is_beside = True
        case _:
            is_beside = given.name.isupper() and "_" in given.name
    is_short = kind == "password" or not told
    shortest = _SHORTEST_RANDOM if is_short else _SHORTEST_BESIDE
    return is_beside and len(value) >= shortest and looks_random(value) and "://" not in value
