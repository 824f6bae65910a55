"""Manifests: what the secrets of a cluster hold, whatever the names in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tt_debugger.core.redact.spans import Rank, Span
from tt_debugger.core.redact.worth import is_worth_hiding

_HOLDERS = frozenset(("data", "stringData"))
_DATA = re.compile(
    r"(?:stringData|data):\r?\n((?:[ \t]{1,20}[\w.-]{1,128}:[^\n]{0,8192}\n?){1,64})", re.ASCII
)
_VALUE = re.compile(r":[ \t]{1,4}[\"']?([^\s\"'‹›]{4,8192})")


def manifested(text: str, lowered: bytes) -> Iterator[Span]:
    """Give the values of the secrets in a manifest; `lowered` has a byte a character."""
    if b"kind: secret" not in lowered:
        return
    for block in _DATA.finditer(text):
        for each in _VALUE.finditer(text, *block.span(1)):
            if is_worth_hiding(each[1]):
                yield Span(*each.span(1), "secret", Rank.ASSIGNED)


def holds_secrets(manifest: Mapping[str, Any], key: str) -> bool:
    """Tell whether all that stands under a key of a map is secret, since it is a manifest."""
    return key in _HOLDERS and manifest.get("kind") == "Secret"
