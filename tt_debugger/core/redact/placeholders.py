"""Placeholders: what stands where something was taken out; one value has one in a whole export."""

from __future__ import annotations

import json
import re
from binascii import Error, a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from tt_debugger.core.redact.known import SHORTEST_KNOWN
from tt_debugger.core.redact.names import NAME_RULES
from tt_debugger.core.redact.shape_rules import SHAPE_RULES
from tt_debugger.core.redact.token_rules import TOKEN_RULES
from tt_debugger.core.redact.vendors import VENDOR_RULE
from tt_debugger.core.redact.worth import is_common, looks_random

OPEN, CLOSE = "‹", "›"

OWNED = ("home", "user", "host", "environment")
"""The rules of what is known of who exports."""

RULE_IDS = frozenset(
    (
        *(each.id for each in (*TOKEN_RULES, *SHAPE_RULES, *NAME_RULES)),
        *OWNED,
        "discord-token",
        VENDOR_RULE,
    )
)

# Words with a figure or two: a type is what a file says, and might be anything.
_TYPE = re.compile(
    r"(?=.{1,54}\Z)(?:image|audio|video|application|font|model)"
    r"/\d?[a-z]{1,24}\d{0,2}(?:[.+-][a-z]{1,24}\d{0,2}){0,6}"
)
_PLACEHOLDER = re.compile(
    r"‹(?:(?P<rule>(?!number:)[a-z0-9-]{1,40}):\d{1,9}"
    r"|[a-z0-9.+/-]{1,54} [\d,]{1,19} bytes sha256:[0-9a-f]{12}"
    r"|text [\d,]{1,19} chars:\d{1,9}|key:\d{1,9} [\d,]{1,19} chars|number:\d{1,9})›"
)


class Placeholders:
    """Numbers the values that were taken out, by rule and in the order of first sight."""

    def __init__(self) -> None:
        self._by_value: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._texts: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._named: set[str] = set()

    def of(self, value: str, rule: str) -> str:
        """Give what stands for a value: the same each time, whatever rule finds it again."""
        known = self._by_value.get(value)
        if known is None:
            number = self._counts[rule] = self._counts.get(rule, 0) + 1
            known = self._by_value[value] = f"{OPEN}{rule}:{number}{CLOSE}"
        return known

    def of_key(self, key: str) -> str:
        """Give what stands for the key of a map of which only the length is told."""
        number = self._keys.setdefault(key, len(self._keys) + 1)
        return f"{OPEN}key:{number} {len(key):,} chars{CLOSE}"

    def named(self, value: str, rule: str) -> str:
        """Give what stands for a value that the name before it told to be a secret."""
        self._named.add(value)
        return self.of(value, rule)

    def sought(self) -> list[str]:
        """Give the values that are looked for wherever else they stand: no common words.

        One that a name told needs not look like a secret.
        """
        return [
            each
            for each in self._by_value
            if len(each) >= SHORTEST_KNOWN
            and (looks_random(each) or (each in self._named and not is_common(each)))
        ]

    def learn_forms(self) -> None:
        """Know the values that are sought in JSON that stands in a longer text, too."""
        for value in self.sought():
            escaped = json.dumps(value)[1:-1]
            for form in (escaped, json.dumps(value, ensure_ascii=False)[1:-1]):
                if form != value:
                    self._by_value.setdefault(form, self._by_value[value])
                    self._named.add(form)

    def of_text(self, text: str) -> str:
        """Give what stands for a text of which only the length is told, and which are the same."""
        if not text or is_placeholder(text):
            return text
        number = self._texts.setdefault(text, len(self._texts) + 1)
        return f"{OPEN}text {len(text):,} chars:{number}{CLOSE}"

    def of_number(self, number: str) -> str:
        """Give what stands for a number of which only is told which are the same."""
        count = self._numbers.setdefault(number, len(self._numbers) + 1)
        return f"{OPEN}number:{count}{CLOSE}"

    @property
    def known(self) -> Mapping[str, str]:
        """The placeholders by value."""
        return self._by_value


def standing(text: str) -> list[tuple[int, int]]:
    """Give where placeholders stand in a text: these are done, nothing in them is looked at."""
    if OPEN not in text:
        return []
    return [
        match.span()
        for match in _PLACEHOLDER.finditer(text)
        if match["rule"] is None or match["rule"] in RULE_IDS
    ]


def outside(done: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Give the pieces of a stretch that are in no placeholder."""
    for begin, close in done:
        if begin < end and start < close:
            if start < begin:
                yield start, begin
            start = close
    if start < end:
        yield start, end


def is_placeholder(text: str) -> bool:
    """Tell whether a text is one placeholder and nothing else."""
    return text.startswith(OPEN) and standing(text)[:1] == [(0, len(text))]


def rule_of(placeholder: str) -> str:
    """Give the rule that a placeholder names."""
    return placeholder.strip(OPEN + CLOSE).partition(":")[0].partition(" ")[0]


def blob(kind: str, encoded: str) -> str:
    """Give what stands for base64 of which only the size and the hash are told."""
    try:
        padded = encoded.rstrip("=") + "=" * 3
        content = a2b_base64(padded.encode("ascii").translate(_STANDARD))
    except (Error, ValueError):
        content = encoded.encode("utf-8", "surrogatepass")
    named = kind if _TYPE.fullmatch(kind) or kind in _BLOBS else "data"
    digest = sha256(content).hexdigest()[:12]
    return f"{OPEN}{named} {len(content):,} bytes sha256:{digest}{CLOSE}"


_BLOBS = frozenset(("image", "signature", "encrypted", "bytes", "base64", "data"))
_STANDARD = bytes.maketrans(b"-_", b"+/")
