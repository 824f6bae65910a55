"""Prose: text of which its writer meant Markdown, read into tokens that are safe to write anew.

Nothing in it leads anywhere: a link, an image, an address and HTML are the text as it was
written. What the parser cannot hold within bounds is not read at all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST = 20
MOST = 100_000
"""Characters of a text that is read; for some texts a parser takes the square of their length."""
_LEADING = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")


def prose_tokens(text: str) -> Sequence[Token] | None:
    """Give the tokens of a text, None where it is to be shown as it was written."""
    if len(text) > MOST:
        return None
    try:
        tokens = _parser().parse(text)
    except (RecursionError, ValueError, IndexError):
        return None
    if any(each.level >= DEEPEST - 1 for each in tokens):
        # The parser leaves out what is deeper.
        return None
    return tokens


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    return parser.enable("table").disable(_LEADING)
