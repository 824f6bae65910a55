"""Headers: how HTTP says who asks, which part of that is secret and which is not."""

from __future__ import annotations

import re

SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|apikey|negotiate|ssws|key)(?:[ \t]{1,4}|%20|\+)", re.IGNORECASE
)
"""What stands before credentials and says of which kind they are."""

COOKIE = re.compile(r"([^;=\s]{1,256})=([^;]{1,16384})")
"""A cookie and its value where the whole text is a header."""
COOKIE_IN_TEXT = re.compile(r"([\w.!#$%&*+^`|~-]{1,128})=([^;\s\"'\\<>‹›]{6,8192})")
"""A cookie and its value in a text, which goes on behind the header."""

_ABOUT_COOKIES = frozenset(("path", "expires", "max-age", "domain", "samesite", "version"))


def is_about_cookies(name: str) -> bool:
    """Tell whether what is written as a cookie says what is to be done with one."""
    return name.lower() in _ABOUT_COOKIES
