"""Two sides of a comparison in words: what each is, and where their branches part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from tt_debugger.core.diff.cause import Cause
from tt_debugger.core.diff.cause_told import cause_sentences
from tt_debugger.core.diff.divergence import Divergence
from tt_debugger.core.diff.edits import Op
from tt_debugger.core.diff.parting import first_sentences, normal_sentence, parting_sentences
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.side_by_side import SideBySide, ThreeWay
from tt_debugger.core.paths import Path, dotted
from tt_debugger.core.text import safe_line, summary_line
from tt_debugger.views.palette import Palette
from tt_debugger.views.values import preview

_LONGEST_SUMMARY = 60


def heading_lines(
    compared: SideBySide, parted: Divergence, why: Cause | None, palette: Palette
) -> Iterator[Text]:
    """Give what A and B are, why and where they part, and what was not looked at."""
    yield _side_line("A", compared.old, palette.remove, palette)
    yield _side_line("B", compared.new, palette.add, palette)
    yield from cause_lines(tuple(cause_sentences(why)), palette)
    for sentence in sentences(compared, parted):
        yield Text(safe_line(sentence), palette.dim)


def cause_lines(told: Sequence[str], palette: Palette) -> Iterator[Text]:
    """Give why two sides part, and what differed before, below it."""
    for number, sentence in enumerate(told):
        yield Text(safe_line(sentence), palette.dim if number else palette.strong)


def sentences(compared: SideBySide, parted: Divergence) -> Iterator[str]:
    """Say where both sides part, what each did first, and what was not looked at."""
    yield from parting_sentences(compared.old, compared.new, parted)
    yield from first_sentences(compared.old, compared.new, parted)
    if compared.is_normal:
        yield normal_sentence(compared.old, compared.new, compared.left_out)


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


def _path(path: Path) -> str:
    return safe_line(dotted(path)) or "(the state)"
