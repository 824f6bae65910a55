"""How statistics are drawn: within every width, in signs of one cell, and safe."""

from __future__ import annotations

import msgspec
import pytest
from builders import session
from rich.cells import cell_len

from tt_debugger.core.answers import NO_CALL, Answers, Thing, ToolCall
from tt_debugger.core.loops import Loop
from tt_debugger.core.model import Head, Kind, Role, Session, Usage
from tt_debugger.core.stats import Stats, stats_of
from tt_debugger.views.area import area_line
from tt_debugger.views.palette import ANSI, ASCII, UNICODE, Glyphs
from tt_debugger.views.stats import AREA_HEIGHT, WIDTH, StatsView

WIDE = "wide \N{CJK UNIFIED IDEOGRAPH-6587} words "
NASTY = "\x1b]0;gone\x07\n[bold]ls[/] \u202e\u0301"


def lines(stats: Stats, width: int = WIDTH, glyphs: Glyphs = UNICODE, most: int = 12) -> list[str]:
    """Give the lines as text; the id of a row is its number."""
    view = StatsView(ANSI, glyphs, str, width, most)
    return [line.text.plain for line in view.lines(stats)]


def nasty() -> Session:
    """Give a session with long and hostile names, costs, times, a fork and a compaction."""
    used = Usage(12_345, 678, 90_123, 4, total=103_150, cost=12.5)
    return session(
        "u c r k a<u b",
        heads={
            "u": Head(
                Kind.MESSAGE, Role.USER, "user", f"{NASTY} wide \N{CJK UNIFIED IDEOGRAPH-6587}" * 9
            ),
            "c": Head(Kind.TOOL_CALL, Role.ASSISTANT, NASTY, time=1.0, usage=used),
            "r": Head(Kind.TOOL_RESULT, Role.TOOL, NASTY, time=9.0, failed=True),
            "k": Head(Kind.COMPACTION),
            "a": Head(Kind.MESSAGE, Role.USER, "user", NASTY * 9),
            "b": Head(Kind.MESSAGE, Role.ASSISTANT, "asst", time=20.0, usage=used),
        },
    )


def answers() -> Answers:
    """Give a loop of hostile calls."""
    calls = [ToolCall(1, 0, place - 1 if place else NO_CALL, 2) for place in range(3)]
    return Answers(calls, [Thing(NASTY, NASTY * 9)], {1: NASTY, 5: NASTY})


def looping(loop: Loop) -> Stats:
    """Give statistics with nothing but a loop."""
    return msgspec.structs.replace(stats_of(session("a"), Answers([], [], {})), loops=(loop,))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 250])
def test_tables_and_pictures_fit_every_width_and_nothing_in_them_acts(width, glyphs):
    found = lines(stats_of(nasty(), answers()), width, glyphs)

    said, drawn = found[:3], found[3:]
    assert sum(line.startswith("loop:") for line in drawn) == 1
    assert all(cell_len(line) <= width for line in drawn)
    assert not any(acting in line for line in found for acting in ("\x1b", "\x07", "\n", "\u202e"))
    assert all(line == line.rstrip() for line in drawn)
    assert said[0] == "6 checkpoints, 2 branches, 5 messages, 3 tool calls, 1 error"


def test_without_any_width_to_speak_of_nothing_breaks():
    assert lines(stats_of(nasty(), answers()), 1)


def test_ascii_glyphs_draw_all_of_it_in_ascii():
    told = session("a", heads={"a": Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage(10, 5))})

    assert all(line.isascii() for line in lines(stats_of(told), glyphs=ASCII))


def test_of_a_blank_session_only_the_counts_are_told():
    told = session("a", heads={"a": Head(Kind.CUSTOM)})

    assert lines(stats_of(told))[:2] == [
        "1 checkpoint, 1 branch, 0 messages, 0 tool calls, 0 errors",
        "by the index alone: of each message the first call",
    ]


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        (False, ["2 checkpoints, 1 branch", "messages, tool calls and errors"]),
        (True, ["2 checkpoints, 1 branch, 1 error", "messages and tool calls"]),
    ],
)
def test_of_whole_states_what_is_not_recorded_one_by_one_is_named_and_not_counted(failed, said):
    states = {"a": Head(Kind.SNAPSHOT), "b": Head(Kind.SNAPSHOT, failed=failed)}
    counts, names = said

    found = lines(stats_of(session("a b", heads=states), Answers([], [], {})))

    assert found[:2] == [counts, f"{names} are not recorded one by one"]


def test_a_tool_leads_to_where_it_took_the_longest_and_blanks_and_pictures_are_passed():
    view = StatsView(ANSI, ASCII, str)
    heads = {
        "c": Head(Kind.TOOL_CALL, Role.ASSISTANT, "ls", time=0.0, usage=Usage(8, total=8)),
        "r": Head(Kind.TOOL_RESULT, Role.TOOL, "ls", time=2.0),
    }

    found = list(view.lines(stats_of(session("c r", heads=heads), Answers([], [], {}))))
    by_index = list(view.lines(stats_of(session("c r", heads=heads))))

    (tool,) = (each for each in by_index if each.text.plain.startswith("ls "))
    assert (tool.text.plain.split()[:7], tool.row) == (
        ["ls", "1", "2.0s", "2.0s", "2.0s", "#row=2", "#" * 20],
        1,
    )
    assert [each.text.plain for each in found if not each.is_passed] == [
        "2 checkpoints, 1 branch, 2 messages, 0 tool calls, 0 errors",
        "8 tokens: 8 in",
        "2.0s from first to last, 2.0s for tools",
        "branch      rows  messages  in  out  cached  tools",
        "row 2 @ 1      2         2   8    0       0   2.0s",
        "context in tokens, over all rows",
        "tokens over time, altogether",
    ]


def test_what_summaries_used_has_a_name():
    summary = Head(Kind.COMPACTION, usage=Usage(10, 5, total=15, cost=0.25))
    told = session("a b", heads={"a": summary, "b": Head(Kind.MESSAGE, Role.ASSISTANT)})

    found = lines(stats_of(told))

    begin = found.index("model                      answers  in  out  cached     cost")
    assert found[begin + 1 : begin + 3] == [
        "compactions and summaries           10    5       0  $0.2500  ██████████████████",
        "no model told                    1",
    ]


def test_what_cannot_be_read_is_told():
    stats = stats_of(session("a"), Answers([], [], {}, unread=2))

    assert "x 2 checkpoints cannot be read: see `ttdbg doctor`" in lines(stats, glyphs=ASCII)


def test_what_has_no_line_of_its_own_shares_one():
    words = " ".join(f"b{number}<a" for number in range(5))
    told = session(f"a {words}")

    assert [line.split() for line in lines(stats_of(told), most=2) if "branches" in line][1:] == [
        ["3", "other", "branches", "3"]
    ]


@pytest.mark.parametrize(
    ("is_same", "end"),
    [
        (True, "3 times, rows 5..9, the same result each time"),
        (False, "3 times, rows 5..9, the results differ"),
        (None, "3 times, rows 5..9"),
    ],
)
def test_a_loop_says_what_was_called_how_often_where_and_what_came_of_it(is_same, end):
    loop = Loop((Thing("Bash", "npm test"),), 3, 4, 8, is_same)
    shown = looping(loop)

    assert f"loop: Bash `npm test` {end}" in lines(shown)


def test_two_calls_in_turn_are_told_as_such_and_cut_to_the_width():
    things = Thing("edit", "a/long/path/of/a/file.py"), Thing("bash", "pytest -q tests/of/it")
    shown = looping(Loop(things, 6, 0, 10, is_same=True))

    assert lines(shown, 160)[-1] == (
        "loop: edit `a/long/path/of/a/file.py` and bash `pytest -q tests/of/it` in turn,"
        " 6 calls, rows 1..11, the same results"
    )
    assert lines(shown, 90)[-1] == (
        "loop: edit `a/long/p…` and bash `pytest -…` in turn,"
        " 6 calls, rows 1..11, the same results"
    )
    assert lines(shown, 60)[-1] == "loop: edit `a/lon…` and bash `pytes…` in turn, 6 calls, row…"


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_an_area_is_as_high_as_what_it_shows_and_shows_all_that_is_known(glyphs):
    most = 8 * AREA_HEIGHT
    sizes = [0, 1, 8, 9, most]
    drawn = [area_line(sizes, most, y, AREA_HEIGHT, glyphs) for y in range(AREA_HEIGHT)]
    low, high = glyphs.levels[0], glyphs.levels[-1]

    assert drawn == [
        [" ", " ", " ", " ", high],
        [" ", " ", " ", " ", high],
        [" ", " ", " ", low, high],
        [" ", low, high, high, high],
    ]
