"""The scrubber, alone in an app: what it draws, what a click or drag chooses, what it says."""

import asyncio
from itertools import product

import pytest
from builders import session
from textual.app import App

from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.scrub import columns_of, scrub_index
from tt_debugger.core.text import acting
from tt_debugger.tui.widgets.scrubber import NOTE_WIDTH, Scrubber
from tt_debugger.views.palette import ANSI, ASCII, UNICODE

SIZES = [(160, 50), (80, 24)]
LEFT = 8
"""Where the graph begins beside its scale."""


def answer(tokens, text="done"):
    return Head(Kind.MESSAGE, Role.ASSISTANT, "asst", text, usage=Usage(input=tokens))


def run_of(size, **heads):
    """Give a session of a run of `size` rows m0 m1 ..., the context growing with each."""
    words = [f"m{row}" for row in range(size)]
    grown = {word: answer(100 * (row + 1), f"answer {row}") for row, word in enumerate(words)}
    return session(
        " ".join(words), labels={"m40": "look here"} if size > 40 else {}, heads=grown | heads
    )


LONG = run_of(
    1000,
    m300=Head(Kind.TOOL_RESULT, Role.TOOL, "bash", "1 failed", failed=True),
    m500=Head(Kind.COMPACTION, None, "compact", "what was said"),
    m700=Head(Kind.MESSAGE, Role.USER, "user", "go on"),
)
ROWS = 1000


class _Alone(App):
    """An app with a scrubber of a height and nothing else."""

    AUTO_FOCUS = None

    def __init__(self, shown, height, glyphs):
        super().__init__()
        self.scrubber = Scrubber(ANSI, glyphs)
        self.scrubber.styles.height = height
        self.shown = shown
        self.chosen = []

    def compose(self):
        yield self.scrubber

    def on_mount(self):
        if self.shown is not None:
            self.scrubber.update_from(scrub_index(self.shown), 0)

    def on_scrubber_chosen(self, event):
        self.chosen.append(event.row)
        self.scrubber.cursor_row = event.row


def drive(script, shown=LONG, size=(160, 50), height=3, glyphs=UNICODE):
    """Run a script against the scrubber of a session."""
    app = _Alone(shown, height, glyphs)

    async def run():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(pilot, app.scrubber)

    asyncio.run(run())
    return app


def lines(scrubber):
    """Give what is drawn, line by line."""
    strips = (scrubber.render_line(y) for y in range(scrubber.size.height))
    return ["".join(segment.text for segment in strip) for strip in strips]


def x_of(scrubber, row):
    """Give the cell of a row's column."""
    width = scrubber.size.width - LEFT - 1
    columns = columns_of(scrub_index(LONG), width)
    return LEFT + next(x for x, each in enumerate(columns) if each.first <= row <= each.last)


def test_a_graph_with_its_scale_marks_and_cursor():
    shown = session(
        "a b c d e<c",
        active="d",
        labels={"a": "begun"},
        heads={
            "a": answer(100),
            "b": answer(800),
            "c": answer(1600),
            "d": Head(Kind.COMPACTION),
            "e": Head(Kind.INTERRUPT),
        },
    )

    async def script(_pilot, scrubber):
        scrubber.cursor_row = 1
        assert lines(scrubber) == [
            f"   1.6k {' ' * 22}{'█' * 11}{' ' * 11}{'█' * 11} ",
            f"      0 {'▁' * 11}{'█' * 22}{' ' * 11}{'█' * 11} ",
            " tokens      ⚑          ▲          ┬          ◆          ‖      ",
        ]

    drive(script, shown, size=(64, 24))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_each_mark_stands_where_its_row_is(size):
    async def script(_pilot, scrubber):
        marks = lines(scrubber)[-1]
        shown = {x: sign for x, sign in enumerate(marks) if x >= LEFT and sign != " "}
        assert shown == {
            LEFT: "▲",
            x_of(scrubber, 40): "⚑",
            x_of(scrubber, 300): "✗",
            x_of(scrubber, 500): "◆",
            x_of(scrubber, 700): "·",
        }

    drive(script, size=size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_click_chooses_the_first_row_of_its_column(size):
    async def script(pilot, scrubber):
        columns = columns_of(scrub_index(LONG), scrubber.size.width - LEFT - 1)
        for x in (LEFT, LEFT + 20, x_of(scrubber, 700)):
            pilot.app.chosen.clear()
            await pilot.click(scrubber, offset=(x, 1))
            assert pilot.app.chosen == [columns[x - LEFT].first]
            assert scrubber.cursor_row == columns[x - LEFT].first
            assert lines(scrubber)[-1][x] == "▲"

    drive(script, size=size)


@pytest.mark.parametrize("row", [40, 300, 500])
def test_a_click_on_a_mark_chooses_its_row(row):
    async def script(pilot, scrubber):
        await pilot.click(scrubber, offset=(x_of(scrubber, row), 2))
        assert pilot.app.chosen == [row]

    drive(script)


def test_the_last_column_leads_to_the_last_row():
    async def script(pilot, scrubber):
        await pilot.click(scrubber, offset=(scrubber.size.width - 2, 1))
        assert pilot.app.chosen == [ROWS - 1]

    drive(script)


def test_a_click_beside_the_graph_chooses_nothing():
    async def script(pilot, scrubber):
        await pilot.click(scrubber, offset=(2, 1))
        await pilot.click(scrubber, offset=(scrubber.size.width - 1, 1))
        assert pilot.app.chosen == []

    drive(script)


def test_a_click_leaves_the_focus_where_it_is():
    async def script(pilot, scrubber):
        await pilot.click(scrubber, offset=(30, 1))
        assert pilot.app.chosen
        assert not scrubber.has_focus

    drive(script)


def test_a_drag_chooses_on_until_the_button_is_up():
    async def script(pilot, scrubber):
        columns = columns_of(scrub_index(LONG), scrubber.size.width - LEFT - 1)
        await pilot.mouse_down(scrubber, offset=(LEFT + 10, 1))
        await pilot.hover(scrubber, offset=(LEFT + 30, 1))
        await pilot.hover(scrubber, offset=(x_of(scrubber, 300), 1))
        await pilot.hover(scrubber, offset=(1, 1))
        await pilot.hover(scrubber, offset=(scrubber.size.width - 1, 30))
        await pilot.mouse_up(scrubber, offset=(scrubber.size.width - 1, 1))
        await pilot.hover(scrubber, offset=(LEFT + 50, 1))
        at_error = columns[x_of(scrubber, 300) - LEFT].first
        expected = [columns[10].first, columns[30].first, at_error, 0, ROWS - 1]
        assert pilot.app.chosen == expected

    drive(script)


def test_of_several_choices_that_wait_the_newest_counts():
    newer, older = Scrubber.Chosen(2), Scrubber.Chosen(1)
    assert newer.can_replace(older)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_hovering_says_what_a_click_would_choose_until_the_mouse_leaves(size):
    async def script(pilot, scrubber):
        before = lines(scrubber)
        said = {}
        for row in (40, 300, 500, 700):
            await pilot.hover(scrubber, offset=(x_of(scrubber, row), 0))
            said[row] = scrubber.note
            assert f" {scrubber.note} " in lines(scrubber)[-1]
            assert lines(scrubber)[-1][x_of(scrubber, row)] == before[-1][x_of(scrubber, row)]
            assert lines(scrubber)[:-1] == before[:-1]
        user_column = columns_of(scrub_index(LONG), scrubber.size.width - LEFT - 1)[
            x_of(scrubber, 700) - LEFT
        ]
        assert said[40] == "row 41 · ⚑ look here · asst: answer 40 · 4.1k tokens"
        assert said[300] == "row 301 · ✗ bash: 1 failed · 30.0k tokens"
        assert said[500] == "row 501 · ◆ compact: what was said"
        assert said[700].startswith(f"row {user_column.first + 1} · asst: answer")
        await pilot.hover(None, offset=(3, 20))
        assert scrubber.note == ""
        assert lines(scrubber) == before

    drive(script, size=size)


def test_with_the_focus_it_says_what_is_under_the_cursor():
    async def script(pilot, scrubber):
        scrubber.focus()
        scrubber.cursor_row = 300
        await pilot.pause()
        assert scrubber.note == "row 301 · ✗ bash: 1 failed · 30.0k tokens"
        assert scrubber.note in lines(scrubber)[-1]
        scrubber.cursor_row = 301
        assert scrubber.note == "row 302 · asst: answer 301 · 30.2k tokens"
        pilot.app.set_focus(None)
        await pilot.pause()
        assert scrubber.note == ""

    drive(script)


def test_steps_lead_from_mark_to_mark_and_stop_at_the_last():
    async def script(pilot, scrubber):
        for step in (1, 1, 1, 1, 1, -1, -1, -1, -1):
            scrubber.to_mark(step)
            await pilot.pause()
        assert pilot.app.chosen == [40, 300, 500, 700, 500, 300, 40]

    drive(script)


def test_a_fork_says_how_many_branches_begin_there():
    async def script(pilot, scrubber):
        scrubber.focus()
        scrubber.cursor_row = 1
        await pilot.pause()
        assert scrubber.note == "row 2 · ┬ 3 branches · asst: three ways · 900 tokens"

    forked = session("a b c d<b e<b", heads={"b": answer(900, "three ways")})
    drive(script, forked)


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_every_size_is_filled_to_the_cell(rows):
    shown = LONG if rows == ROWS else run_of(rows)

    async def script(pilot, scrubber):
        for width, height in product((1, 12, 40, 59, 60, 300), (1, 2, 3, 4)):
            scrubber.styles.height = height
            await pilot.resize_terminal(width, 10)
            await pilot.pause()
            for row in {0, rows // 2, max(rows - 1, 0)}:
                scrubber.cursor_row = row
                assert [len(line) for line in lines(scrubber)] == [width] * height
                assert lines(scrubber)[-1].count("▲") == (1 if rows and width > 2 else 0)

    drive(script, shown)


def test_a_resize_keeps_the_cursor_in_the_column_of_its_row():
    async def script(pilot, scrubber):
        scrubber.cursor_row = 600
        for width in (160, 80, 300, 80):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert scrubber.size.width == width
            assert lines(scrubber)[-1].index("▲") == x_of(scrubber, 600)

    drive(script)


def test_a_resize_away_from_the_mouse_says_nothing_of_what_is_gone():
    async def script(pilot, scrubber):
        await pilot.hover(scrubber, offset=(150, 1))
        assert scrubber.note
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert scrubber.note == ""
        assert len(lines(scrubber)[-1]) == 80

    drive(script)


def test_a_drag_goes_on_while_the_session_grows():
    async def script(pilot, scrubber):
        await pilot.mouse_down(scrubber, offset=(LEFT, 1))
        scrubber.update_from(scrub_index(run_of(10)), 0)
        await pilot.hover(scrubber, offset=(scrubber.size.width - 2, 1))
        await pilot.mouse_up(scrubber, offset=(scrubber.size.width - 2, 1))
        assert pilot.app.chosen == [0, 9]

    drive(script, run_of(9))


def test_a_session_that_grew_is_shown_anew():
    async def script(_pilot, scrubber):
        scrubber.update_from(scrub_index(run_of(9)), 8)
        assert lines(scrubber)[0].startswith("    900 ")
        scrubber.update_from(scrub_index(run_of(10)), 9)
        assert lines(scrubber)[0].startswith("   1.0k ")
        assert lines(scrubber)[-1].rindex("▲") > 140

    drive(script, run_of(9))


def test_without_token_counts_it_says_so_and_still_shows_marks():
    async def script(_pilot, scrubber):
        top, bottom, marks = lines(scrubber)
        assert top.strip() == ""
        assert bottom.strip() == "no token counts recorded"
        assert marks.split() == ["▲", "✗"]

    unknown = session("a b c", heads={"c": Head(Kind.GAP)})
    drive(script, unknown)


def test_before_a_session_is_read_it_is_empty():
    async def script(pilot, scrubber):
        assert "".join(lines(scrubber)).strip() == ""
        scrubber.to_mark(1)
        scrubber.focus()
        await pilot.click(scrubber, offset=(20, 1))
        assert scrubber.note == ""
        assert pilot.app.chosen == []

    drive(script, None)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_content_cannot_act_and_is_cut_to_fit(width):
    evil = "\x1b]0;pwned\x07\n\u202e世界" * 30
    shown = session(
        "a b c",
        labels={"b": evil},
        heads={"a": Head(Kind.CUSTOM, None, evil, evil), "c": answer(5, evil)},
    )

    async def script(pilot, scrubber):
        scrubber.focus()
        for row in range(3):
            scrubber.cursor_row = row
            await pilot.pause()
            strip = scrubber.render_line(2)
            text = "".join(segment.text for segment in strip)
            assert acting(text) == set()
            assert "\n" not in text
            assert "…" in text
            assert strip.cell_length == width
            assert len(scrubber.note) <= NOTE_WIDTH

    drive(script, shown, size=(width, 24))


def test_without_unicode_all_signs_are_ascii():
    async def script(pilot, scrubber):
        scrubber.focus()
        scrubber.cursor_row = 40
        await pilot.pause()
        assert "".join(lines(scrubber)).replace(" · ", " ").isascii()
        pilot.app.set_focus(None)
        await pilot.pause()
        assert lines(scrubber)[-1].split() == ["tokens", "^", "x", "#", "."]

    drive(script, glyphs=ASCII)


def test_a_move_within_its_column_repaints_nothing():
    async def script(_pilot, scrubber):
        painted = []
        scrubber.refresh = lambda *regions: painted.append([each.x for each in regions])
        scrubber.cursor_row = 1
        scrubber.cursor_row = 1
        assert painted == []
        scrubber.cursor_row = 300
        assert painted == [[LEFT, x_of(scrubber, 300)]]

    drive(script)
