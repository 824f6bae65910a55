"""The range line: which signs and words stand below the graph."""

from __future__ import annotations

import pytest
from builders import session

from tt_debugger.core.bisect import Bisection, Verdict, stands
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.scrub import scrub_index
from tt_debugger.tui.widgets.range_line import RangeLine
from tt_debugger.views.judged import Judged
from tt_debugger.views.palette import ANSI

TOKENS = Head(Kind.MESSAGE, Role.ASSISTANT, "asst", "done", usage=Usage(input=100))
#   a b c d e f g h     rows 1 to 8
#     └ x y             rows 9 and 10, in the way of i
SHOWN = session("a b c d e f g h x<b y i<h", active="i", heads={"a": TOKENS})
PATH = SHOWN.tree.path_to(SHOWN.rows["i"])


def line(width: int, shown=SHOWN, **verdicts: Verdict) -> str:
    """Give the line in so many cells once that was told of rows, by their ids."""
    known = Bisection.of(PATH)
    for name, verdict in verdicts.items():
        known = known.told(shown.rows[name], verdict)
    judged = Judged(stands(known, len(shown)), known.verdicts, None, None, len(known.left))
    widget = RangeLine(ANSI)
    widget.update_from(scrub_index(shown), judged)
    return widget.text(width).plain


@pytest.mark.parametrize(
    ("verdicts", "drawn"),
    [
        ({}, "???????????????????? 9 left ????????????????????            ??????"),
        ({"i": Verdict.BAD}, "???????????????????? 9 left ????????????????????            ??????"),
        (
            {"c": Verdict.GOOD, "g": Verdict.BAD},
            "------ good ------???????? 4 left ????????++++++            ++++++",
        ),
        (
            {"i": Verdict.GOOD},
            "--------------------- good ---------------------            ------",
        ),
    ],
    ids=str,
)
def test_words_stand_where_there_is_room_and_other_branches_are_left_out(verdicts, drawn):
    assert line(75, **verdicts) == f" bisect {drawn} "


def test_a_narrow_line_has_no_name_and_signs_alone():
    assert line(14, c=Verdict.GOOD, g=Verdict.BAD) == " ----????+  + "


def test_beside_a_watched_value_it_begins_where_the_graph_does():
    shown = session("a b c d")
    judged = Judged(stands(Bisection.of((0, 1, 2, 3)), 4), {}, 3, None, 4)
    widget = RangeLine(ANSI)
    widget.update_from(scrub_index(shown), judged)
    assert widget.text(75).plain.startswith(" ???")
    widget.update_from(scrub_index(shown), judged, is_watching=True)
    assert widget.text(75).plain.startswith(" bisect ???")


def test_where_nothing_is_known_the_line_is_blank():
    widget = RangeLine(ANSI)
    widget.update_from(None, None)

    assert widget.text(20).plain == " " * 20
