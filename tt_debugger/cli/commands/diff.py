"""`ttdbg diff`: what differs between two checkpoints, two branches, two sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, two_points, unshielded
from tt_debugger.core.changes import State
from tt_debugger.core.diff.cause import Cause, cause
from tt_debugger.core.diff.cause_told import cause_json
from tt_debugger.core.diff.divergence import Divergence, divergence
from tt_debugger.core.diff.edits import edit_json
from tt_debugger.core.diff.side_by_side import SideBySide, ThreeWay, compare_sides, three_way
from tt_debugger.errors import UsageError
from tt_debugger.exports.diff_json import diff_json

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.debugger import Debugger

DIFFERENT = 1


@click.command("diff")
@click.argument("a", metavar="A", callback=unshielded)
@click.argument("b", metavar="B", callback=unshielded)
@json_option
@click.option("--stat", is_flag=True, help="Only which messages differ, and by how much.")
@click.option("--no-mask", is_flag=True, help="Also what differs in any two runs: times, ids ...")
@click.option("--three-way", is_flag=True, help="Compare each side with the fork point.")
@click.option("--uncompacted", is_flag=True, help="Compare all that was ever said.")
@click.option("--no-pager", is_flag=True, help="Write to the terminal at once.")
def command(a: str, b: str, *, as_json: bool, **wanted: bool) -> int:
    """Show what differs between A and B, each a LOCATION[#REF].

    Without a ref the active leaf is meant: two files are compared as whole sessions. A B that
    begins with # is a ref in the location of A. Exits with 1 where anything differs.
    """
    mask, uncompacted = not wanted["no_mask"], wanted["uncompacted"]
    with two_points(a, b) as ((mine, row), (theirs, other)):
        compared = compare_sides(
            mine.side(row, uncompacted=uncompacted),
            theirs.side(other, uncompacted=uncompacted),
            mask=mask,
        )
        parted = divergence(compared.old, compared.new)
        why = cause(compared.old, compared.new, parted)
        against = None
        if wanted["three_way"]:
            base = _base(compared, parted, mine, uncompacted=uncompacted)
            against = three_way(base, compared.old.state, compared.new.state, mask=mask)
        if as_json:
            output.json_line(_answer(compared, parted, why, against))
        else:
            write = output.lines if wanted["no_pager"] else output.paged
            write(_lines(compared, parted, why, against, is_brief=wanted["stat"]))
        return 0 if compared.comparison.equal else DIFFERENT


def _base(
    compared: SideBySide, parted: Divergence, debugger: Debugger, *, uncompacted: bool
) -> State:
    """Give the state from which both sides came."""
    if parted.old_point is None or compared.is_normal:
        raise UsageError(
            "a three-way comparison needs two sides of one format that begin alike",
            "leave out --three-way",
        )
    return debugger.state(parted.old_point, uncompacted=uncompacted)


def _answer(
    compared: SideBySide, found: Divergence, why: Cause | None, against: ThreeWay | None
) -> dict[str, Any]:
    """Give the object of CONTRACT, with how and why they part; of two formats, that they are."""
    old, new = compared.old.session, compared.new.session
    point = None if found.old_point is None else old.ids[found.old_point]
    answer = diff_json(compared.comparison, compared.old.name, compared.new.name, point)
    answer["divergence"] = {
        "by": str(found.by),
        "a_point": point,
        "b_point": None if found.new_point is None else new.ids[found.new_point],
        "a_after": [old.ids[row] for row in found.old_after],
        "b_after": [new.ids[row] for row in found.new_after],
        "again": [[old.ids[one], new.ids[other]] for one, other in found.again],
        "meets": None
        if found.meets is None
        else [old.ids[found.meets[0]], new.ids[found.meets[1]]],
    }
    answer["cause"] = cause_json(why, old, new)
    if compared.is_normal:
        answer["normal_form"] = {"left_out": compared.left_out}
    if against is not None:
        answer["three_way"] = {
            "a": [edit_json(each) for each in against.old.edits()],
            "b": [edit_json(each) for each in against.new.edits()],
            "both": [edit_json(each) for each in against.both],
            "conflicts": [[edit_json(each) for each in pair] for pair in against.conflicts],
        }
    return answer


def _lines(
    compared: SideBySide,
    parted: Divergence,
    why: Cause | None,
    against: ThreeWay | None,
    *,
    is_brief: bool,
) -> Iterator[Text]:
    from rich.text import Text

    from tt_debugger.views.branches import heading_lines, three_way_lines
    from tt_debugger.views.compare import ComparisonView, counts_text
    from tt_debugger.views.compare_layout import Layout
    from tt_debugger.views.compare_stat import stat_lines

    palette, glyphs = output.palette(), output.glyphs()
    yield from heading_lines(compared, parted, why, palette)
    yield Text(counts_text(compared.comparison.counts), palette.strong)
    if against is not None:
        yield Text()
        yield from three_way_lines(against, palette)
        for name, each in (("A", against.old), ("B", against.new)):
            yield Text(f"{name} since the fork point: {counts_text(each.counts)}", palette.accent)
            yield from stat_lines(each, palette, glyphs)
        return
    yield Text()
    if is_brief:
        yield from stat_lines(compared.comparison, palette, glyphs)
        return
    view = ComparisonView(compared.comparison, palette, glyphs, "--no-mask shows them")
    layout = Layout(output.width(), view.digits, palette, glyphs)
    for block in view.blocks():
        yield from (row.text for row in layout.unified(view.lines(block)))
