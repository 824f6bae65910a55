"""Whether a file is a JSON value a line, or one JSON value that is spread over its lines."""

from __future__ import annotations

from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.records import Refused, records
from tt_debugger.store import Probe


def is_spread(head: bytes) -> bool:
    """Tell by the first two lines that are not blank whether they are parts of one value.

    An object is told by where its first line ends and how its second one is indented; a list by
    its first line, for each line of a file may be a list too, but then a whole one.
    """
    begin, second = _first_two(head.removeprefix(BYTE_ORDER_MARK))
    first = begin.lstrip(b" \t")
    if not first.startswith((b"{", b"[")) or _is_whole(first):
        return False
    if first.startswith(b"["):
        opening = first[1:].lstrip()
        return not second.startswith(b"[") and (not opening or opening.startswith(b"{"))
    is_open = first.rstrip()[-1:] in (b"{", b"[", b",")
    is_indented = second[:1] in (b" ", b"\t") and second.lstrip()[:1] in (b'"', b"{")
    return (is_open and is_indented) or (first.strip() == b"{" and second.startswith(b'"'))


def whole_lines(probe: Probe) -> list[bytes]:
    """Give the lines that a probe sees whole."""
    found = probe.head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    return found if len(probe.head) == probe.size else found[:-1]


def _first_two(head: bytes) -> tuple[bytes, bytes]:
    found: list[bytes] = []
    place = 0
    while place < len(head) and len(found) < 2:  # noqa: PLR2004 - as the name says
        end = head.find(b"\n", place)
        end = len(head) if end < 0 else end
        line = head[place:end]
        found += [line] if line.strip() else []
        place = end + 1
    return (*found, b"", b"")[0], (*found, b"", b"")[1]


def _is_whole(line: bytes) -> bool:
    """Tell whether a line begins with a value that also ends there."""
    piece = records(line)[0]
    return not (isinstance(piece, Refused) and piece.why.startswith("no JSON"))
