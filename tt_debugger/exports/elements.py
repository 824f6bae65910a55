"""Elements of HTML and SVG: the one place where data becomes markup, escaped once."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tt_debugger.core.text import safe_text


class Markup(str):
    """Text that is markup already; any other is data."""

    __slots__ = ()


def element(name: str, /, *content: str | None, **attributes: str | None) -> Markup:
    """Give an element; what is no markup in it is escaped, what is None is left out.

    An attribute that Python has a word for ends in an underscore.
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(safe_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(content)}</{name}>")


def joined(content: Iterable[str | None], between: str = "") -> Markup:
    """Give several pieces as one."""
    return Markup(between.join(_markup(each) for each in content if each is not None))


def _markup(piece: str) -> str:
    return piece if isinstance(piece, Markup) else escape(safe_text(piece))


_EMPTY = frozenset(("meta", "hr", "br"))
