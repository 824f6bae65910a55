"""Two sides of a comparison in words: what each is, and where their branches part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from tt_debugger.core.diff.divergence import By, Divergence
from tt_debugger.core.diff.edits import Op
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.side_by_side import SideBySide, ThreeWay
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path, dotted
from tt_debugger.core.text import safe_line, summary_line
from tt_debugger.views.palette import Palette
from tt_debugger.views.values import counted, preview

_LONGEST_SUMMARY = 60


def heading_lines(compared: SideBySide, parted: Divergence, palette: Palette) -> Iterator[Text]:
    """Give what A and B are, where they part, and what was not looked at."""
    yield _side_line("A", compared.old, palette.remove, palette)
    yield _side_line("B", compared.new, palette.add, palette)
    yield from (Text(line, palette.dim) for line in divergence_words(compared, parted))
    if compared.is_normal:
        yield Text(normal_words(compared), palette.dim)


def divergence_words(compared: SideBySide, found: Divergence) -> Iterator[str]:
    """Give where two sides part and whether they meet again, a sentence a line."""
    old, new = compared.old.session, compared.new.session
    if found.by is By.TREE and not (found.old_after and found.new_after):
        later = found.old_after or found.new_after
        if later:
            names = ("A", "B") if found.old_after else ("B", "A")
            yield f"{names[0]} stands {counted(len(later), 'checkpoint')} after {names[1]}"
        else:
            yield "A and B are one checkpoint"
        return
    yield _parting(found, old, new)
    after = [
        f"{name} {_after(rows)}" for name, rows in (("A", found.old_after), ("B", found.new_after))
    ]
    where = "in all" if found.old_point is None else "after it"
    yield f"{where}: {', '.join(after)}{_again(found)}"


def normal_words(compared: SideBySide) -> str:
    """Give how states of two formats are compared, and what is left out of that."""
    formats = f"{compared.old.session.format} and {compared.new.session.format}"
    left_out = ", ".join(map(safe_line, compared.left_out))
    what = f"{formats} are compared by what both can say"
    return f"{what}; left out: {left_out}" if left_out else what


def three_way_lines(found: ThreeWay, palette: Palette) -> Iterator[Text]:
    """Give what both sides made of the state they came from: alike, and each in its own way."""
    for edit in found.both:
        yield Text.assemble(
            ("both  ", palette.dim), f"{_path(edit.path)}  {preview(edit.new, _LONGEST_SUMMARY)}"
        )
    for mine, theirs in found.conflicts:
        name = _path(mine.path if mine.origin is None else mine.origin)
        for side, edit, style in (("A", mine, palette.remove), ("B", theirs, palette.add)):
            what = "(removed)" if edit.op is Op.REMOVE else preview(edit.new, _LONGEST_SUMMARY)
            yield Text.assemble((f"{side}     ", style), f"{name}  {what}")


def _side_line(name: str, side: Side, style: str, palette: Palette) -> Text:
    head = side.session.heads[side.row]
    said = safe_line(summary_line(head.summary, _LONGEST_SUMMARY))
    kind = str(head.role or head.kind).replace("_", " ")
    return Text.assemble(
        (f"{name} ", style),
        (f"{safe_line(side.name)} ", palette.strong),
        (f"row {side.row + 1} {kind}  ", palette.dim),
        said,
    )


def _parting(found: Divergence, old: Session, new: Session) -> str:
    if found.old_point is None or found.new_point is None:
        return "they have no beginning in common"
    place = f"row {found.old_point + 1}, {safe_line(old.ids[found.old_point])}"
    match found.by:
        case By.TREE:
            return f"fork point: {place}"
        case By.ID:
            return f"the same checkpoints up to {place}"
        case By.CONTENT | By.NOTHING:
            theirs = f"row {found.new_point + 1}, {safe_line(new.ids[found.new_point])}"
            return f"the same was said up to {place} in A, {theirs} in B"


def _after(rows: Sequence[int]) -> str:
    return counted(len(rows), "checkpoint") if rows else "nothing"


def _again(found: Divergence) -> str:
    if not found.old_after or not found.new_after:
        return ""
    if found.meets is not None:
        return f"; they meet again at {_rows(*found.meets)}"
    if not found.again:
        return "; they do not meet again"
    first = _rows(*found.again[0])
    times = (
        f"{len(found.again)} times, first at {first}" if found.again[1:] else f"once, at {first}"
    )
    return f"; they say the same {times}, but do not meet again"


def _rows(one: int, other: int) -> str:
    return f"rows {one + 1} and {other + 1}"


def _path(path: Path) -> str:
    return safe_line(dotted(path)) or "(the state)"
