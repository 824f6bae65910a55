"""The owner: who exports, and what in a text would give them away."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

import msgspec

from tt_debugger.core.redact.names import kind_of
from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.words import words
from tt_debugger.core.redact.worth import is_number, is_worth_hiding

SHORTEST_SECRET = 8
SHORTEST_NAME = 3
_SHORTEST_HOME = 4
# Names that many machines and users have tell of nobody, and are words of any text.
_ANYBODY = words(
    "root user users admin administrator test tester guest demo dev developer ubuntu debian "
    "fedora centos alpine runner node app web www www-data git build builder jenkins docker "
    "vagrant vscode codespace jovyan coder default nobody daemon service server client home "
    "localhost localdomain local host agent ec2-user azureuser postgres mysql redis nginx "
    "python main code work public the and for you com new"
)

_SECRET_VARIABLE = re.compile(
    r"(?:(?:\A|_)(?:DSN|WEBHOOK|WEBHOOK_URL|PAT|SK|PASS)|PWD|DATABASE_URL|NPM_CONFIG__AUTH)\Z",
    re.IGNORECASE,
)
"""Variables that hold a secret, though in a file what has such a name is often none."""
_LONG_LINE = 16
_SHORTEST_ENCODED = 12


class Owner(msgspec.Struct, frozen=True):
    """Who exports: what would give them away. An empty text is not looked for."""

    home: str = ""
    user: str = ""
    host: str = ""
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Values of environment variables whose names tell of a secret, by name."""


def secrets_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the variables of an environment that are secret by their name and worth hiding."""
    return {
        name: value
        for name, value in environment.items()
        if len(value) >= SHORTEST_SECRET
        and (kind_of(name) is not None or _SECRET_VARIABLE.search(name))
        and is_worth_hiding(value)
        and (value.isdecimal() or not is_number(value))
        and not value.startswith("/")
    }


class Traces:
    """What gives an owner away, ready to be looked for in many texts."""

    def __init__(self, owner: Owner) -> None:
        self._literals = [
            (form, "environment")
            for value in owner.secrets.values()
            if len(value) >= SHORTEST_SECRET
            for form in _forms(value)
        ]
        self._patterns = [*_homes(owner.home), *_names(owner.user, "user")]
        self._patterns += _names(owner.host, "host")
        if "." in owner.host:
            self._patterns += _names(owner.host.partition(".")[0], "host")

    def may_be_in(self, text: str) -> bool:
        """Tell whether anything of the owner can be in a text."""
        lowered = text.lower()
        return any(form in lowered for form, *_ in self._patterns) or any(
            literal in text for literal, _ in self._literals
        )

    def spans(self, text: str, lowered: bytes) -> Iterator[Span]:
        """Give where a text tells of the owner; `lowered` has a byte a character."""
        for literal, rule in self._literals:
            place = text.find(literal)
            while place >= 0:
                yield Span(place, place + len(literal), rule, Rank.OWNED)
                place = text.find(literal, place + len(literal))
        for form, pattern, rule, rank in self._patterns:
            if not form.isascii():
                yield from (Span(*each.span(), rule, rank) for each in pattern.finditer(text))
                continue
            sought = form.encode()
            place = lowered.find(sought)
            while place >= 0:
                match = pattern.match(text, place)
                if match is not None:
                    yield Span(*match.span(), rule, rank)
                place = lowered.find(sought, place + len(form))


_Pattern = tuple[str, re.Pattern[str], str, Rank]


def _forms(value: str) -> set[str]:
    """Give a value as it stands in a text, and as JSON, HTML, addresses and base64 write it."""
    encoded = json.dumps(value, ensure_ascii=False)[1:-1]
    forms = {value, encoded, json.dumps(value)[1:-1], html.escape(value), html.escape(encoded)}
    forms |= {each.replace("/", "\\/") for each in (value, encoded)}
    octets = value.encode("utf-8", "surrogatepass")
    forms |= {quote(octets, safe=""), quote(octets), quote_plus(octets)}
    forms |= {re.sub("%..", lambda each: each[0].lower(), each) for each in forms if "%" in each}
    if len(octets) >= _SHORTEST_ENCODED:
        forms.update(_in_base64(octets))
    if "\n" in value:
        lines = map(str.strip, value.splitlines())
        forms.update(line for line in lines if len(line) >= _LONG_LINE)
    return {each for each in forms if len(each) >= SHORTEST_SECRET}


def _in_base64(octets: bytes) -> Iterator[str]:
    """Give what of some bytes is the same in base64, whatever stands before and after them."""
    for before in range(3):
        # What the first and the last character tell is told by their neighbours too.
        skipped = -before % 3
        whole = octets[skipped : skipped + (len(octets) - skipped) // 3 * 3]
        encoded = b64encode(whole).decode()
        yield from {encoded, encoded.translate(_URL_SAFE)}


_URL_SAFE = str.maketrans("+/", "-_")


def _homes(home: str) -> Iterator[_Pattern]:
    home = home.rstrip("/\\")
    if len(home) < _SHORTEST_HOME:
        return
    forms = {home, home.replace("\\", "\\\\"), home.replace("\\", "/"), home.replace("/", "%2F")}
    # Agents name the folders of projects so.
    forms.add(re.sub("[^A-Za-z0-9]", "-", home))
    for form in sorted(forms, key=len, reverse=True):
        pattern = re.compile(rf"{re.escape(form)}(?![A-Za-z0-9_])", re.IGNORECASE)
        yield form.lower(), pattern, "home", Rank.ASSIGNED


def _names(name: str, rule: str) -> Iterator[_Pattern]:
    if len(name) >= SHORTEST_NAME and name.lower() not in _ANYBODY and not name.isdigit():
        word = re.escape(name)
        pattern = re.compile(
            rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])){word}(?![A-Za-z0-9])", re.IGNORECASE
        )
        yield name.lower(), pattern, rule, Rank.NAME
