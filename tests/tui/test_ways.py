"""Ways through a session and between sessions: what keys and mouse do together."""

import asyncio
import json
from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from textual.widgets import Input
from tui.driving import (
    SAMPLES,
    choices,
    drive,
    inspector,
    inspector_text,
    place,
    press,
    said,
    seen,
    settled,
    tree,
)

from tt_debugger.core.filters import Filter
from tt_debugger.core.refs import parse_fragment
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.sessions import SessionsScreen
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.choice_list import ChoiceList
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.scrubber import Scrubber
from tt_debugger.tui.widgets.session_list import SessionList

SIZES = [(40, 12), (80, 24), (120, 36), (160, 50), (220, 60)]


def write(folder: Path, *texts: str, name: str = "s.jsonl") -> Path:
    """Write a Pi session in which the user speaks and the agent says `done`, by turns."""
    rows, before = [], None
    for number, text in enumerate(texts):
        rows += [
            pi(f"u{number}", before, user(text)),
            pi(f"a{number}", f"u{number}", assistant("done")),
        ]
        before = f"a{number}"
    path = folder / name
    path.write_bytes(jsonl(PI_HEADER, *rows))
    return path


def test_a_jump_to_nothing_says_so_and_stays(tmp_path):
    async def script(pilot):
        for key, aim in (
            ("e", "no error below this row"),
            ("C", "no compaction above this row"),
            ("right_square_bracket", "no branch below this row"),
            ("left_curly_bracket", "no fork point above this row"),
            ("K", "no parent above this row"),
        ):
            await press(pilot, key)
            assert (tree(pilot).cursor_row, said(pilot)) == (0, aim)
        await press(pilot, "alt+left")
        assert said(pilot) == "there is nowhere to go back to"
        await press(pilot, "A", "J")
        assert (tree(pilot).cursor_row, said(pilot)) == (3, "no child below this row")

    drive(script, write(tmp_path, "first", "second"), "row=1")


def test_go_to_completes_previews_and_reveals_what_is_hidden():
    async def script(pilot):
        preview = lambda: "\n".join(pilot.app.screen.query_one("#preview", Lines).plain_lines)  # noqa: E731
        await press(pilot, "colon", *"row=999")
        assert "no row" in preview().lower() or "999" in preview()
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ChooserScreen)
        pilot.app.screen.query_one(Input).value = ""
        await press(pilot, *"label=dead", "tab")
        assert pilot.app.screen.query_one(Input).value == "label=dead%20end%3A%20polling"
        assert "Still 1 of 100" in preview()
        await press(pilot, "enter")
        assert (tree(pilot).cursor_row, tree(pilot).cursor_fold) == (21, None)
        await press(pilot, "alt+left")
        assert tree(pilot).cursor_row == 62
        await press(pilot, "alt+right")
        assert tree(pilot).cursor_row == 21
        await press(pilot, "apostrophe", "apostrophe")
        assert tree(pilot).cursor_row == 62

    drive(script)


def test_go_to_reveals_a_row_that_both_a_filter_and_a_fold_hide():
    async def script(pilot):
        await press(pilot, "colon", *"row=23", "enter")
        assert said(pilot) == "all rows are shown: default hides row 23"
        assert (tree(pilot).cursor_row, tree(pilot).cursor_fold) == (22, None)

    drive(script)


def test_a_search_finds_bodies_labels_and_folded_rows_and_is_forgotten_by_escape():
    async def script(pilot):
        async def find(text):
            await press(pilot, "slash", "ctrl+u", *text, "enter")
            return tree(pilot).cursor_row

        assert await find("5.02s") == 20
        assert tree(pilot).cursor_fold is None
        assert (
            said(pilot) == "5.02s: 1/1 found (n N next, Esc ends)   1 failed, 99 passed in 5.02s"
        )
        assert await find("dead end") == 21
        assert await find("no such thing") == 21
        assert said(pilot) == "no such thing: not found"
        assert await find("changelog") == 53
        await press(pilot, "N")
        assert "went around the end" in said(pilot)
        await press(pilot, "escape")
        assert said(pilot) == ""
        await press(pilot, "n")
        assert said(pilot) == "search first: press /"

    drive(script)


def test_what_a_filter_hides_is_found_only_where_nothing_that_is_shown_matches():
    async def script(pilot):
        await press(pilot, "v", *"what the user", "enter", "slash", *"polling", "enter")
        assert pilot.app.screen._filter is Filter.ALL
        await press(pilot, "v", *"what the user", "enter", "slash", "ctrl+u", *"flush", "enter")
        assert (pilot.app.screen._filter, tree(pilot).cursor_row) == (Filter.USER, 39)
        assert said(pilot).startswith("flush: 1/1 found")

    drive(script)


def test_marks_are_kept_until_the_session_is_opened_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def mark(pilot):
        await press(pilot, "m", "escape", "m", "b", "g", "apostrophe", "z")
        assert (tree(pilot).cursor_row, said(pilot)) == (0, "there is no mark z")

    async def go_there(pilot):
        await press(pilot, "apostrophe", "b")
        assert tree(pilot).cursor_row == 20

    drive(mark, ref="row=21")
    drive(go_there)


def test_a_filter_keeps_the_cursor_at_the_nearest_ancestor_and_an_empty_one_says_so(tmp_path):
    async def script(pilot):
        await press(pilot, "v", *"what the user", "enter")
        assert (tree(pilot).cursor_row, place(pilot)) == (2, "row 3/4 · user only shows 2")
        await press(pilot, "v")
        assert choices(pilot)[4].detail.split()[0] == "0"
        await press(pilot, *"failed", "enter")
        assert "shows none of 4 rows" in inspector_text(pilot)
        await press(pilot, "v", *"every", "enter")
        assert len(tree(pilot)._outline) == 4

    drive(script, write(tmp_path, "first", "second"))


def test_a_fold_tells_what_it_holds_and_a_click_opens_it():
    async def script(pilot):
        tree(pilot).move_to(10)
        await settled(pilot)
        assert "9 checkpoints" in inspector_text(pilot)
        await pilot.click(CheckpointTree, offset=(12, 10 - tree(pilot).scroll_offset.y))
        await settled(pilot)
        assert (tree(pilot).cursor_row, tree(pilot).cursor_fold) == (13, None)

    drive(script, ref="row=10")


def test_what_each_key_copies_is_told_and_nothing_is_copied_by_others():
    async def script(pilot):
        path = SAMPLES / "pi.jsonl"
        for keys, text in (
            ("yc", f"ttdbg show '{path}#36bf'"),
            ("yr", f"{path}#36bf"),
            ("3yp", "messages"),
        ):
            await press(pilot, *keys)
            assert (pilot.app.clipboard, said(pilot)[:6]) == (text, "copied")
        await press(pilot, "1", "y", "x")
        assert (pilot.app.clipboard, said(pilot)) == ("messages", "nothing is copied")
        await press(pilot, "2", "y", "v")
        assert "pytest -q -n 8 --count 100" in pilot.app.clipboard
        await press(pilot, "y", "escape")
        assert "pytest" in pilot.app.clipboard

    drive(script, ref="row=20")


def test_a_surrogate_alone_is_copied_as_the_sign_for_what_is_no_character(tmp_path):
    async def script(pilot):
        await press(pilot, "2", "y", "y")
        assert pilot.app.clipboard == "a\ufffdb"

    drive(script, write(tmp_path, "a\ud800b"), "row=1")


def test_the_palette_runs_commands_filters_and_themes_by_name():
    async def script(pilot):
        await press(pilot, "ctrl+p", *"show user", "enter")
        assert pilot.app.screen._filter is Filter.USER
        await press(pilot, "ctrl+p", *"theme: light", "enter")
        assert pilot.app.theme == "light"
        await press(pilot, "ctrl+p", *"ids, time", "enter")
        assert inspector(pilot).tab == "meta"

    drive(script)


def test_a_session_left_for_the_list_is_found_again_as_it_was(tmp_path):
    write(tmp_path, "first", "second", "third")

    async def script(pilot):
        await press(pilot, "enter", "v", *"what the user", "enter", "k", "2")
        before = (tree(pilot).cursor_row, place(pilot), inspector(pilot).tab)
        assert before == (2, "row 3/6 · user only shows 3", "message")
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, SessionsScreen)
        await press(pilot, "enter")
        assert (tree(pilot).cursor_row, place(pilot), inspector(pilot).tab) == before
        await press(pilot, "o")
        assert isinstance(pilot.app.screen, SessionsScreen)
        next(tmp_path.glob("*.jsonl")).unlink()
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ErrorScreen)
        await settled(pilot)
        assert "no such file" in " ".join(pilot.app.screen.query_one("#said", Lines).plain_lines)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, SessionsScreen)

    drive(script, tmp_path)


def test_the_mouse_works_the_footer_the_list_the_graph_and_the_wheel():
    async def script(pilot):
        bar = pilot.app.screen.query_one(BottomBar)
        keys = bar.render().plain
        await pilot.click(BottomBar, offset=(keys.index("filter"), 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, ChooserScreen)
        await pilot.click(ChoiceList, offset=(5, 2))
        await settled(pilot)
        assert pilot.app.screen._filter is list(Filter)[2]
        graph = pilot.app.screen.query_one(Scrubber)
        await pilot.hover(Scrubber, offset=(60, 1))
        assert graph.note.startswith("row ")
        await pilot.click(Scrubber, offset=(60, 1))
        await settled(pilot)
        assert tree(pilot).cursor_row < 62
        await press(pilot, "v", *"every", "enter", "L", "g")
        tree(pilot).scroll_relative(y=10, animate=False)
        await settled(pilot)
        await pilot.click(CheckpointTree, offset=(5, 0))
        await settled(pilot)
        assert tree(pilot).cursor_place == 10

    drive(script, size=(160, 50))


def test_every_screen_stands_every_size_and_the_cursor_stays_in_view():
    async def script(pilot):
        for keys in ("", "question_mark", "ctrl+p", "colon", "s"):
            if keys:
                await press(pilot, keys)
            for size in SIZES:
                await pilot.resize_terminal(*size)
                await settled(pilot)
                if isinstance(pilot.app.screen, TimelineScreen):
                    lines = tree(pilot)
                    y = lines.cursor_place - lines.scroll_offset.y
                    assert 0 <= y < max(lines.size.height, 1)
                assert all(len(line) <= size[0] for line in seen(pilot).split("\n"))
            await press(pilot, "escape")

    drive(script, ref="row=40")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_sessions_stand_every_size(size):
    async def script(pilot):
        assert pilot.app.screen.query_one(SessionList).cursor_entry is not None
        await press(pilot, "question_mark", "escape", "slash", "escape")

    drive(script, SAMPLES, size=size)


def test_a_crash_shows_where_it_broke_but_nothing_of_the_session(tmp_path, capsys):
    path = write(tmp_path, "-".join("xyzzy"))
    app = TtdbgApp(str(path), parse_fragment("row=1"), {"TERM": "xterm-256color"})

    async def run():
        async with app.run_test() as pilot:
            await settled(pilot)
            secret = inspector_text(pilot)
            assert "-".join("xyzzy") in secret

            def broken(what=secret):
                return len(what) / 0

            pilot.app.screen.action_first = broken
            await press(pilot, "g")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    with app.console.capture() as captured:
        for each in app._exit_renderables:
            app.console.print(each)
    shown = captured.get() + "".join(capsys.readouterr())
    assert "ZeroDivisionError" in shown
    assert "-".join("xyzzy") not in shown
    assert "locals" not in shown


def test_a_session_of_which_the_default_filter_shows_nothing_can_be_shown_all_the_same(tmp_path):
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}
    level = {"type": "thinking_level_change", "id": "a", "parentId": None, "thinkingLevel": "high"}
    path = tmp_path / "quiet.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in (header, level)))

    async def script(pilot):
        assert tree(pilot).cursor_row is None
        assert "shows none of 1 rows" in inspector_text(pilot)
        await press(pilot, "v", *"every", "enter")
        assert tree(pilot).cursor_row == 0

    drive(script, path)
