"""What a checkpoint changed: one line a path, with a sign, the old value and the new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, dotted, value_at
from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import counted, preview

_ABSENT: Any = object()
_NUMBERS_APART = 1


def change_lines(
    changes: Sequence[Change], before: State, palette: Palette, glyphs: Glyphs
) -> Iterator[Text]:
    """Give the changes as lines. `before` is the state they were made to, None at a root."""
    lengths: dict[Path, int] = {}
    for change in changes:
        yield from _lines(change, before, lengths, palette, glyphs)


def _lines(
    change: Change, before: State, lengths: dict[Path, int], palette: Palette, glyphs: Glyphs
) -> Iterator[Text]:
    match change:
        case Append(path=path, value=value):
            length = lengths.get(path, _length(before, path))
            lengths[path] = length + 1
            yield _line("+", (*path, length), preview(value), palette.add)
        case Drop(path=path):
            yield _line("-", path, preview(_old(before, path)), palette.remove)
        case Splice(path=path, index=index, count=count, values=values):
            lengths[path] = lengths.get(path, _length(before, path)) - count + len(values)
            yield from _splice_lines(path, index, count, values, palette)
        case Snapshot(value=value) if before is None:
            yield _titled("+", "(the state begins)", preview(value), palette.add)
        case Snapshot(value=value):
            yield _line("~", (), preview(value), palette.change)
        case Put(path=path, value=value):
            yield from _put_lines(path, _old(before, path), value, palette, glyphs)


def _put_lines(path: Path, old: Any, new: Any, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    """Give a put as lines; of two objects only the members that differ."""
    left, right = as_map(old), as_map(new)
    counts = _grown_counts(left, right)
    if counts:
        yield _line("~", path, counts, palette.change)
    elif left and right and "role" not in right:
        for key in dict.fromkeys((*left, *right)):
            mine, theirs = left.get(key, _ABSENT), right.get(key, _ABSENT)
            if mine is _ABSENT:
                yield _line("+", (*path, key), preview(theirs), palette.add)
            elif theirs is _ABSENT:
                yield _line("-", (*path, key), preview(mine), palette.remove)
            elif mine != theirs:
                yield from _put_lines((*path, key), mine, theirs, palette, glyphs)
    elif old is _ABSENT or old is None:
        yield _line("+", path, preview(new), palette.add)
    elif old == new and type(old) is type(new):
        yield _line("=", path, f"{preview(new)} (rewritten, the same)", palette.dim)
    else:
        yield _line("~", path, f"{preview(old)} {glyphs.arrow} {preview(new)}", palette.change)


def _grown_counts(left: dict[str, Any], right: dict[str, Any]) -> str:
    """Give in one line by how much the numbers of an object went up or down; else nothing."""
    if left.keys() != right.keys() or not all(map(_is_number, (*left.values(), *right.values()))):
        return ""
    steps = {key: right[key] - value for key, value in left.items() if right[key] != value}
    return ", ".join(f"{key} {_signed(step)}" for key, step in steps.items())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _signed(step: float) -> str:
    return f"{step:+,}" if isinstance(step, int) else f"{step:+.4g}"


def _splice_lines(
    path: Path, index: int, count: int, values: Sequence[Any], palette: Palette
) -> Iterator[Text]:
    if count:
        last = f"..{index + count - 1}" if count > _NUMBERS_APART else ""
        where = f"{dotted(path)}[{index}{last}]"
        yield _titled("-", where, f"{counted(count, 'item')} dropped", palette.remove)
    for place, value in enumerate(values, index):
        yield _line("+", (*path, place), preview(value), palette.add)


def _line(sign: str, path: Path, what: str, style: str) -> Text:
    return _titled(sign, dotted(path) or "(the whole state)", what, style)


def _titled(sign: str, where: str, what: str, style: str) -> Text:
    return Text.assemble((f"{sign} {safe_line(where)}", style), f"  {what}" if what else "")


def _old(before: State, path: Path) -> Any:
    try:
        return value_at(before, path)
    except KeyError:
        return _ABSENT


def _length(before: State, path: Path) -> int:
    return len(as_list(_old(before, path)))
