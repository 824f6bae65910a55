"""A record as it is stored, byte by byte where it must be: nothing of it is obeyed or hidden."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Palette

PIECE = 16_384
"""Bytes of one line of the view; a record is one long line and can be megabytes long."""


def raw_lines(raw: bytes, palette: Palette) -> Iterator[Text]:
    """Give the bytes of a record as lines, with everything but plain text escaped."""
    yield Text(f"{len(raw):,} bytes", palette.dim)
    for begin in range(0, len(raw), PIECE):
        piece = raw[begin : begin + PIECE]
        yield Text(_escaped(piece), palette.text, overflow="fold")


def _escaped(piece: bytes) -> str:
    r"""Give bytes as text: a newline as \\n, what is no UTF-8 as \\xNN, the rest as it is."""
    text = piece.decode(errors="backslashreplace")
    return safe_line(text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t"))
