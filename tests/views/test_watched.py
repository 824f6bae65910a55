"""What is watched, in words, in more room and in less."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tt_debugger.views.palette import ANSI, ASCII, UNICODE
from tt_debugger.views.watched import Seen, cell_text, short_name, watched_lines

HERE = Seen("usage.cost", "0.08", "~", "0.06", 49, 0, 52)
ABOVE = Seen("model", '"large"', last=29, ago=12)


def lines(*watched: Seen, width: int = 60, is_brief: bool = False, glyphs=UNICODE) -> list[str]:
    """Give the lines as text."""
    found = watched_lines(watched, width, ANSI, glyphs, is_brief=is_brief)
    return [line.plain for line in found]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (HERE, ["~ usage.cost  0.08", "  changed here, was 0.06 · next at row 53"]),
        (ABOVE, ['  model  "large"', "  last changed at row 30 (12 checkpoints ago)"]),
        (
            Seen("model", '"large"', "=", last=29, ago=1),
            ['= model  "large"', "  last changed at row 30 (1 checkpoint ago); written anew here"],
        ),
        (Seen("x", "1", "+", last=0), ["+ x  1", "  changed here"]),
        (
            Seen("x", None, "-", "1", 3),
            ["- x  not there", "  changed here, was 1"],
        ),
        (
            Seen("x", None, next=6),
            ["  x  not there", "  not written up to here · next at row 7"],
        ),
        (
            Seen("cost>1", "no", next=6, is_place=False),
            ["  cost>1  no", "  no change up to here · next at row 7"],
        ),
        (Seen("x", "1", percent=0, is_unknown=True), ["  x  1", "  its changes cannot be read"]),
        (Seen("x", "1", percent=34), ["  x  1", "  looking for its changes: 34%"]),
        (Seen("error", "yes", "~", last=5, happens=True), ["~ error  yes", "  happens here"]),
        (
            Seen("error", None, last=5, ago=2, happens=True),
            ["  error  no", "  last happened at row 6 (2 checkpoints ago)"],
        ),
        (
            Seen("error", None, next=5, happens=True),
            ["  error  no", "  did not happen up to here · next at row 6"],
        ),
    ],
)
def test_a_value_stands_over_when_it_changed(seen, told):
    assert lines(seen, width=66) == told


def test_of_several_the_chosen_one_has_a_sign_and_their_values_are_aligned():
    chosen = Seen("usage.cost", "0.08", last=3, is_chosen=True)

    assert lines(ABOVE, chosen)[::2] == ['    model       "large"', "  ▸ usage.cost  0.08"]
    assert lines(chosen, glyphs=ASCII)[0] == "  > usage.cost  0.08"


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (70, "~ usage.cost  0.08           changed here, was 0.06 · next at row 53"),
        (54, "~ usage.cost  0.08       changed here · next at row 53"),
        (40, "~ usage.cost  0.08        here · next 53"),
        (24, "~ …age.cost  0.08   here"),
        (20, "~ …ge.cost  0.08    "),
    ],
)
def test_in_brief_both_share_a_line_and_less_is_told_where_there_is_less_room(width, line):
    (found,) = lines(HERE, width=width, is_brief=True)

    assert found.split() == line.split()
    assert cell_len(found) == width


@pytest.mark.parametrize("width", range(1, 80, 3))
@pytest.mark.parametrize("is_brief", [False, True])
def test_no_line_is_wider_than_its_room(width, is_brief):
    wide = Seen("files.\N{CJK UNIFIED IDEOGRAPH-4E00}" * 9, "v" * 90, "~", "w" * 90, 9, 0, 12)

    for line in lines(wide, HERE, width=max(width, 14), is_brief=is_brief):
        assert cell_len(line) <= max(width, 14)


def test_what_came_from_a_file_is_made_safe():
    (line, _) = lines(Seen("a\x1b[31mb", "x"))

    assert "\x1b" not in line


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        (("usage", "cost"), "", "cost"),
        (("messages", 3), "", "messa…"),
        ((0, 1), "", "1"),
        ((), "", "state"),
        (None, "cost>1", "cost>1"),
        (None, "length(messages)", "lengt…"),
    ],
)
def test_a_column_is_named_by_the_end_of_its_path(path, text, name):
    assert short_name(path, text, 6, UNICODE) == name


@pytest.mark.parametrize(
    ("said", "text"),
    [('"large"', "large"), ("[17 items]", "[17]"), ("[1 item]", "[1]"), ("[]", "[]"), ("3", "3")],
)
def test_a_cell_has_a_value_without_what_only_takes_room(said, text):
    assert cell_text(said) == text
