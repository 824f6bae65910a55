"""The number of the row that wrote a line, beside it."""

from __future__ import annotations

from tt_debugger.core.paths import Path
from tt_debugger.views.gutter import NARROWEST, Gutter
from tt_debugger.views.palette import ANSI
from tt_debugger.views.state import StateRow


def row(path: Path, line: int | None = None) -> StateRow:
    return StateRow(path, "x", 0, 1, False, False, line=line)


def test_a_gutter_takes_no_room_until_something_is_known():
    gutter = Gutter(ANSI)

    assert (gutter.cells(80), gutter.text(row(("a",)), 80).plain) == (0, "")


def test_each_line_has_the_number_of_the_row_that_wrote_it():
    gutter = Gutter(ANSI).told({("a",): 6, ("b",): 41}, here=41, width=3)

    shown = [gutter.text(row((key,)), 80).plain for key in "abc"]

    assert shown == ["  7  ", " 42* ", "     "]
    assert {len(each) for each in shown} == {gutter.cells(80)}


def test_the_lines_of_an_open_text_have_no_numbers_of_their_own():
    gutter = Gutter(ANSI).told({("a",): 6}, here=6, width=1)

    assert gutter.text(row(("a",), line=0), 80).plain == "   "


def test_there_is_no_gutter_where_there_is_no_room():
    gutter = Gutter(ANSI).told({("a",): 6}, here=6, width=1)

    assert [gutter.cells(room) for room in (NARROWEST - 1, NARROWEST)] == [0, 3]
    assert gutter.text(row(("a",)), NARROWEST - 1).plain == ""


def test_what_is_known_of_one_row_is_not_taken_for_another():
    gutter = Gutter(ANSI).told({("a",): 6}, here=6, width=1)

    assert gutter.told({("b",): 2}, here=6, width=1).writers == {("a",): 6, ("b",): 2}
    assert gutter.told({("b",): 2}, here=7, width=1).writers == {("b",): 2}
    assert gutter.cleared().cells(80) == 3
    assert gutter.cleared().text(row(("a",)), 80).plain == "   "
