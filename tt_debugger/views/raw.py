"""A record as it is stored, byte by byte where it must be: nothing of it is obeyed or hidden."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterator

from rich.text import Text

from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Palette

PIECE = 16_384
"""Bytes of one line of the view; a record is one long line and can be megabytes long."""


def raw_lines(raw: bytes, palette: Palette, size: int | None = None) -> Iterator[Text]:
    """Give the bytes of a record as lines, with everything but plain text escaped.

    `size` is the length of the record, of which these may be the first bytes only.
    """
    is_cut = size is not None and size > len(raw)
    yield Text(f"{len(raw):,}{f' of {size:,}' if is_cut else ''} bytes", palette.dim)
    # Incremental: a character that ends in the next piece is no broken one.
    decoder = getincrementaldecoder("utf-8")("backslashreplace")
    for begin in range(0, len(raw), PIECE):
        text = decoder.decode(raw[begin : begin + PIECE], final=begin + PIECE >= len(raw))
        yield Text(_escaped(text), palette.text, overflow="fold")


def _escaped(text: str) -> str:
    """Give text in one line, line ends as escapes; what acts or hides is made visible."""
    return safe_line(text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t"))
