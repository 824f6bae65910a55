"""What is watched, in words: its value at a checkpoint, when it last changed, and when it will."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.paths import Path
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import cut, cut_left

CELL = 48
"""Characters of a value as it is kept for a column, and as the one that was before."""
_BEFORE = 24
_GAP = 2
_SIGN = 2
_SHORTEST = 8
_LIST = re.compile(r"\[([\d,]+) items?\]")


class Seen(msgspec.Struct, frozen=True):
    """A watched value at a checkpoint; rows count from 0.

    With a `percent` its changes are still looked for, and so much is looked through.
    """

    name: str
    value: str | None = None
    """What is there in few words, None for nothing."""
    sign: str = ""
    """How it changed here: + ~ - as in a state, = for written anew with the value it had."""
    before: str | None = None
    """What was there before it last changed."""
    last: int | None = None
    """The row at which it last changed, this one or one above."""
    ago: int = 0
    """How many checkpoints above that is."""
    next: int | None = None
    """The row at which it changes next."""
    percent: int | None = None
    is_unknown: bool = False
    """Whether its changes cannot be read."""
    happens: bool = False
    """Whether it is something that happens at a checkpoint, and does not stay."""
    is_chosen: bool = False
    """Whether it is the one of several that keys go by."""
    is_place: bool = True
    """Whether it is a place of the state, which is written; else it is worked out."""


def watched_lines(
    watched: Sequence[Seen], width: int, palette: Palette, glyphs: Glyphs, *, is_brief: bool
) -> Iterator[Text]:
    """Give each watched value and below it when it changed; in brief both on one line."""
    # Of several the chosen one has a sign before its name.
    mark = f"{glyphs.closed} " if any(each.is_chosen for each in watched) else ""
    names = [safe_line(each.name) for each in watched]
    most = max(width * 2 // 5 - cell_len(mark), _SHORTEST)
    room = min(max(map(cell_len, names), default=0), most)
    for seen, name in zip(watched, names, strict=True):
        line = Text(no_wrap=True, end="")
        line.append(f"{seen.sign:<{_SIGN}}", _sign_style(seen, palette))
        line.append(mark if seen.is_chosen else " " * cell_len(mark), palette.accent)
        shown = cut_left(name, room, glyphs)
        line.append(shown, palette.accent if seen.is_chosen else palette.text)
        line.append(" " * (room - cell_len(shown) + _GAP))
        left = max(width - line.cell_len, 0)
        value = value_text(seen)
        if is_brief:
            told = _fitting(_told(seen, glyphs), left - min(cell_len(value), left // 2) - _GAP)
            value = cut(value, left - cell_len(told) - _GAP * bool(told), glyphs)
            line.append(value, _value_style(seen, palette))
            line.append(" " * (left - cell_len(value) - cell_len(told)))
            line.append(told, palette.dim)
            yield line
            continue
        line.append(cut(value, left, glyphs), _value_style(seen, palette))
        yield line
        indent = _SIGN + cell_len(mark)
        told = _fitting(_told(seen, glyphs), width - indent)
        yield Text(" " * indent + told, palette.dim, no_wrap=True, end="")


def value_text(seen: Seen) -> str:
    """Give the value in few words, and in others where there is none."""
    if seen.happens:
        return "no" if seen.value is None else "yes"
    return "not there" if seen.value is None else seen.value


def _sign_style(seen: Seen, palette: Palette) -> str:
    styles = {"+": palette.add, "~": palette.change, "-": palette.remove}
    return styles.get(seen.sign, palette.dim)


def _value_style(seen: Seen, palette: Palette) -> str:
    if seen.value is None:
        return palette.dim
    return palette.strong if seen.sign in ("+", "~") else palette.text


def _fitting(told: Sequence[str], room: int) -> str:
    """Give the fullest of some texts that has room, nothing where none has."""
    return next((each for each in told if cell_len(each) <= room), "")


def _told(seen: Seen, glyphs: Glyphs) -> list[str]:
    """Tell when it last changed and when it changes next: in full, then in fewer words."""
    if seen.is_unknown:
        return ["its changes cannot be read", "unknown"]
    if seen.percent is not None:
        return [f"looking for its changes: {seen.percent}%", f"{seen.percent}%"]
    coming, soon = "", ""
    if seen.next is not None:
        coming, soon = f" · next at row {seen.next + 1}", f" · next {seen.next + 1}"
    past, near, short = _past(seen), _past(seen, is_near=True), _short_past(seen)
    was = "" if seen.before is None or seen.ago else f", was {cut(seen.before, _BEFORE, glyphs)}"
    return [
        f"{past}{was}{coming}",
        f"{past}{coming}",
        f"{near}{coming}",
        f"{short}{was}{soon}",
        f"{short}{soon}",
        short,
    ]


def _past(seen: Seen, *, is_near: bool = False) -> str:
    if seen.last is None and seen.happens:
        return "did not happen up to here"
    if seen.last is None:
        return "not written up to here" if seen.is_place else "no change up to here"
    if seen.ago == 0:
        return "happens here" if seen.happens else "changed here"
    ago = f"{seen.ago:,}" if is_near else counted(seen.ago, "checkpoint")
    verb = "happened" if seen.happens else "changed"
    again = "; written anew here" if seen.sign == "=" else ""
    return f"last {verb} at row {seen.last + 1} ({ago} ago){again}"


def _short_past(seen: Seen) -> str:
    if seen.last is None:
        return "not yet"
    return "here" if seen.ago == 0 else f"row {seen.last + 1} ({seen.ago:,} ago)"


def short_name(path: Path | None, text: str, width: int, glyphs: Glyphs) -> str:
    """Give what a column is called in so much room: a path by its end, which tells most."""
    if path is None:
        return cut(safe_line(text), width, glyphs)
    names = [str(key) for key in path if isinstance(key, str)] or [str(key) for key in path]
    return cut(safe_line(names[-1] if names else "state"), width, glyphs)


def cell_text(said: str) -> str:
    """Give a value as it is told for a column: a text without its quotes, a list by its size."""
    items = _LIST.fullmatch(said)
    if items is not None:
        return f"[{items[1]}]"
    return said[1:-1] if said.startswith('"') and said.endswith('"') else said
