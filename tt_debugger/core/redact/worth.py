"""Worth: whether what stands behind a telling name is a secret, or a word, a name or a gap."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

from tt_debugger.core.redact.words import words

SHORTEST = 4
_LONGEST_IN_PATH = 24
_LONGEST_WITH_NUMBER = 16
_LONGEST_WORD = 11
"""Characters of a word that many texts may have; a longer one is more likely several."""

_WORDS_OF_NO_WORTH = words(
    "none null nil true false yes no on off string str text bytes number object optional "
    "required hidden redacted masked removed unset empty default undefined unknown missing "
    "invalid valid expired bearer basic digest token tokens secret password passwd pass "
    "cookie key auth oauth oauth2 apikey api_key api-key api_token access_token value env "
    "environment file vault keyring header query session never always auto "
    "disabled enabled placeholder omitted filtered ask stdin prompt self undisclosed "
    "inherit public private anonymous any str. n/a tbd todo user username login email"
)
# Gaps for a value: <x>, ${X}, {{x}}, %(x)s, %s, $X, [x], ***, xxxx, ... and what is redacted.
_GAP = re.compile(
    r"<[^<>]*>|(?:‹[^‹›]{1,80}›)+|\$\{.*\}|\$\(.*\)|\$[A-Z_][A-Z0-9_]*|\{.*\}|\[.*\]|%\(?\w*\)?[sd]?%?|&[a-z.]+;?"
    r"|[*x.X•_#-]+|(?:your|my|the|some|insert|enter|replace|example|sample|dummy|fake"
    r"|changeme|change)(?:[-_ ].*)?|.*(?:\.\.\.|…|xxxx|XXXX|\*\*\*\*)|.*[-_](?:here|goes-here)",
    re.IGNORECASE | re.DOTALL,
)
_CODE_NAME = re.compile(r"[A-Za-z$]*\d{0,2}(?:[._-][A-Za-z$]*\d{0,2})*")
_ONE_NUMBER = re.compile(r"[A-Za-z_.$-]*\d{1,2}[A-Za-z_.$-]*")
_SHORTEST_SCRAMBLED = 20
_CONSONANTS = re.compile("[b-df-hj-np-tv-xz]{5}", re.IGNORECASE)
_MIXED = re.compile("[A-Z]{2,}|(?<=[A-Z])[a-z](?=[A-Z])")
"""What words that are written together have at most once or twice."""
_MOST_MIXED = 4
_USER = re.compile(rb"[\w.@+-]{1,64}:")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile("[A-Za-z]")
_SIGN = re.compile(r"[!#$%^&*+?~@]")
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]{1,31}|\d[\d_.,:eE+-]*)[a-zA-Z]{0,2}")


def is_worth_hiding(value: str) -> bool:
    """Tell whether a value that is said to be a secret can be one: no gap, no common word."""
    return (
        len(value) >= SHORTEST
        and value.lower() not in _WORDS_OF_NO_WORTH
        and not _GAP.fullmatch(value)
    )


def is_common(value: str) -> bool:
    """Tell whether a value is a word that could stand in any text, or a number."""
    is_word = value.isalpha() and (value.istitle() or value.islower() or value.isupper())
    return (
        (is_word and len(value) < _LONGEST_WORD)
        or (is_number(value) and len(value) < _LONGEST_WORD)
        or not is_worth_hiding(value)
    )


def is_number(value: str) -> bool:
    """Tell whether a value is a number, a size or a time."""
    return _NUMBER.fullmatch(value) is not None


def is_path(value: str) -> bool:
    """Tell whether a value says where a secret is kept."""
    is_rooted = value.startswith(("/", "./", "~/", "../"))
    return is_rooted and max(map(len, value.split("/"))) < _LONGEST_IN_PATH


def looks_random(value: str) -> bool:
    """Tell whether a value is more than a word or a name in code: what a generator would give."""
    if not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    if len(value) < _LONGEST_WITH_NUMBER or "." in value:
        return not (_ONE_NUMBER.fullmatch(value) or _CODE_NAME.fullmatch(value))
    return not (_CODE_NAME.fullmatch(value) or _NUMBER.fullmatch(value))


def looks_scrambled(value: str) -> bool:
    """Tell whether a value is many letters that make no words, as a generator gives them."""
    if len(value) < _SHORTEST_SCRAMBLED or not (value.isascii() and value.isalpha()):
        return False
    if value.islower() or value.isupper():
        return _CONSONANTS.search(value) is not None
    return len(_MIXED.findall(value)) >= _MOST_MIXED


def looks_chosen(value: str) -> bool:
    """Tell whether a value could be a password that somebody thought out: letters and more."""
    return bool(_LETTER.search(value) and (_DIGIT.search(value) or _SIGN.search(value)))


def is_user_and_password(encoded: str) -> bool:
    """Tell whether a text is what HTTP sends for a user and a password."""
    try:
        plain = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (Error, ValueError):
        return False
    return _USER.match(plain) is not None
