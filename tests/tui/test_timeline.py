"""The Timeline, driven by keys: what each does, and what is never done."""

import json
from pathlib import Path

import pytest
from textual.widgets import ContentSwitcher
from tui.driving import drive, inspector_text, press, settled, tree

from tt_debugger.errors import CannotReadError, UnknownRefError
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.keys import COMPARE, EXPORT, FORK, HELP, SESSIONS, STATS, TIMELINE, UNDO
from tt_debugger.tui.loader import RowInspected
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.tui.widgets.bars import TopBar
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.inspector import Inspector, TabBar, Waiting
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.message import PIECE


def write_pi(path: Path, *texts: str) -> Path:
    """Write a linear Pi session of user messages."""
    lines = [{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}]
    for number, text in enumerate(texts):
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        parent = f"e{number - 1}" if number else None
        lines.append(
            {"type": "message", "id": f"e{number}", "parentId": parent} | {"message": message}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_it_opens_at_the_active_leaf_and_shows_what_changed_there():
    async def script(pilot):
        assert tree(pilot).cursor_row == 62
        assert "+ messages[16]" in inspector_text(pilot)
        assert "Done: all 43 tests pass" in inspector_text(pilot)

    drive(script)


def test_a_ref_says_where_it_opens():
    async def script(pilot):
        assert tree(pilot).cursor_row == 19
        assert "pytest -q -n 8 --count 100" in inspector_text(pilot)

    drive(script, ref="row=20")


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (("j",), 20),
        (("down", "down"), 21),
        (("k",), 18),
        (("up", "j"), 19),
        (("g",), 0),
        (("g", "k"), 0),
        (("G",), 62),
        (("G", "j"), 62),
        (("p",), 18),
        (("p", "J"), 19),
        (("a",), 62),
    ],
)
def test_keys_move_the_cursor(keys, row):
    async def script(pilot):
        await press(pilot, *keys)
        assert tree(pilot).cursor_row == row
        assert pilot.app.screen.query_one(TopBar)._right == f"row {row + 1}/63 · default shows 56 "

    drive(script, ref="row=20")


def test_a_page_down_and_up_leads_back():
    async def script(pilot):
        await press(pilot, "pagedown")
        assert tree(pilot).cursor_row > 30
        await press(pilot, "pageup")
        assert tree(pilot).cursor_row == 9

    drive(script, ref="row=10")


def test_the_child_at_a_fork_is_the_one_on_the_active_path():
    async def script(pilot):
        await press(pilot, "J")
        assert tree(pilot).cursor_row == 28

    drive(script, ref="label=three ways".replace(" ", "%20"))


def test_stepping_shows_the_next_checkpoint_before_any_worker_has_run():
    async def script(pilot):
        app, before = pilot.app, inspector_text(pilot)
        tree(pilot).move_by(1)
        assert inspector_text(pilot) != before
        assert "22 assistant" not in before
        assert app.screen.query_one(Inspector).row == 20

    drive(script, ref="row=20")


def test_an_answer_for_a_row_that_is_no_longer_wanted_is_dropped():
    async def script(pilot):
        screen = pilot.app.screen
        late = RowInspected(screen.loader.known(19))
        tree(pilot).move_by(1)
        screen.inspector.update_from(screen.loader.known(20))
        screen.on_row_inspected(late)
        assert screen.inspector.row == 20

    drive(script, ref="row=20")


def test_the_tabs_show_message_state_facts_and_bytes():
    async def script(pilot):
        await press(pilot, "2")
        assert "pytest -q -n 8 --count 100" in inspector_text(pilot)
        await press(pilot, "4")
        assert "parent     bf824c72 (row 19)" in inspector_text(pilot)
        await press(pilot, "5")
        assert inspector_text(pilot).startswith('731 bytes\n{"type":"message"')
        await press(pilot, "full_stop")
        assert "+ messages[15]" in inspector_text(pilot)
        await press(pilot, "comma")
        assert pilot.app.screen.query_one(ContentSwitcher).current == "raw"

    drive(script, ref="row=20")


def test_the_state_unfolds_and_marks_what_changed():
    async def script(pilot):
        await press(pilot, "3", "tab")
        state = pilot.app.screen.query_one(StateTree)
        rows = list(state.rows)
        assert [row.path for row in rows][:3] == [("messages",), ("model",), ("provider",)]
        assert [row.path for row in rows if row.is_changed] == [("messages",), ("usage",)]
        await press(pilot, "enter")
        messages = [row for row in state.rows if row.depth == 1]
        assert [row.is_changed for row in messages] == [False] * 15 + [True]
        await press(pilot, "l", "l", "l", "h", "h")
        assert state.cursor_path == ("messages", 0)
        await press(pilot, "h", "h")
        assert len(state.rows) == 7

    drive(script, ref="row=20")


def test_what_is_unfolded_stays_so_from_checkpoint_to_checkpoint():
    async def script(pilot):
        await press(pilot, "3", "tab", "enter", "tab", "j")
        state = pilot.app.screen.query_one(StateTree)
        assert ("messages", 16) in [row.path for row in state.rows]

    drive(script, ref="row=20")


def test_tab_changes_the_pane_and_z_gives_it_the_screen():
    async def script(pilot):
        screen = pilot.app.screen
        assert isinstance(screen.focused, CheckpointTree)
        await press(pilot, "z")
        assert (
            not screen.query_one(Inspector).display or not screen.query_one(Inspector).size.width
        )
        await press(pilot, "tab")
        assert isinstance(screen.focused, Lines)
        assert screen.query_one(Inspector).size.width > 100
        await press(pilot, "z", "tab")
        assert isinstance(screen.focused, CheckpointTree)
        assert screen.query_one(CheckpointTree).size.width > 40

    drive(script)


@pytest.mark.parametrize(("size", "beside"), [((80, 24), False), ((100, 30), True)])
def test_the_inspector_stands_beside_the_tree_from_100_columns(size, beside):
    async def script(pilot):
        inspector = pilot.app.screen.query_one(Inspector)
        assert (inspector.region.x > 0) == beside

    drive(script, size=size)


def test_help_names_every_key_of_the_table():
    async def script(pilot):
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        keys = pilot.app.screen.query_one(Lines)
        keys._reach(200)
        text = "\n".join(keys.plain_lines)
        for key in pilot.app.screen._keys:
            assert key.title in text
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, size=(80, 24))


def test_in_80_columns_help_has_one_line_for_each_key():
    async def script(pilot):
        screen = pilot.app.screen
        for table in (TIMELINE, SESSIONS, COMPARE, STATS, EXPORT, FORK, UNDO):
            shown = HelpScreen(table, screen._palette, screen._glyphs)
            await pilot.app.push_screen(shown)
            await pilot.pause()
            keys = shown.query_one(Lines)
            keys._reach(300)
            wrapped = [line.plain.strip() for line in keys._wrapped]
            assert [each.title for each in table if not _ends_with(wrapped, each)] == []
            await press(pilot, "escape")

    drive(script, size=(80, 24))


def _ends_with(lines, key):
    return any(line.startswith(key.shown) and line.endswith(key.title) for line in lines)


@pytest.mark.parametrize(("screen", "keys"), [(TimelineScreen, TIMELINE), (HelpScreen, HELP)])
def test_every_key_leads_to_an_action_of_its_screen(screen, keys):
    for key in keys:
        name = key.action.partition("(")[0]
        owner, name = (TtdbgApp, name[4:]) if name.startswith("app.") else (screen, name)
        assert hasattr(owner, f"action_{name}"), key


def test_a_click_puts_the_cursor_on_a_row():
    async def script(pilot):
        await pilot.click(CheckpointTree, offset=(10, 3))
        await settled(pilot)
        line = tree(pilot).scroll_offset.y + 3
        assert (tree(pilot).cursor_place, tree(pilot).cursor_row) == (line, 6)

    drive(script, ref="row=20")


def test_q_leaves_without_an_error():
    async def script(pilot):
        await pilot.press("q")

    assert drive(script).return_value is None


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_opens_as_an_empty_session(tmp_path, content):
    async def script(pilot):
        assert tree(pilot).cursor_row is None
        await press(pilot, "j", "G", "J", "n", "p", "a", "m", "3", "tab", "enter", "z")
        assert pilot.app.screen.query_one(TopBar)._right == "row 0/0 · all shown "

    (tmp_path / "empty.jsonl").write_text(content)
    drive(script, tmp_path / "empty.jsonl")


def test_a_location_that_cannot_be_opened_ends_the_app_with_the_error(tmp_path):
    async def script(pilot):
        pass

    (tmp_path / "strange.txt").write_text("no session\n")
    assert isinstance(drive(script, tmp_path / "strange.txt").return_value, CannotReadError)


def test_a_ref_that_names_nothing_ends_the_app_with_the_error():
    async def script(pilot):
        pass

    assert isinstance(drive(script, ref="row=999").return_value, UnknownRefError)


def test_markup_in_content_is_text_and_a_click_on_it_does_nothing(tmp_path):
    async def script(pilot):
        assert "[@click=app.quit]quit[/]" in inspector_text(pilot)
        await pilot.click(Inspector, offset=(6, 5))
        await pilot.click(CheckpointTree, offset=(16, 0))
        await settled(pilot)
        assert isinstance(pilot.app.screen, TimelineScreen)

    path = write_pi(tmp_path / "markup.jsonl", "[@click=app.quit]quit[/] [/nope] [bold")
    assert drive(script, path).return_value is None


def test_the_first_wall_leaves_the_second_nothing_to_do(tmp_path):
    async def script(pilot):
        for tab in "12345":
            await press(pilot, tab)
        await press(pilot, "3", "tab", "enter", "j", "enter", "j", "enter")

    evil = "a\x1b]52;c;eA==\x07b\x1b[2Jc\x9b31md\u202ee\u200bf\x00g\rh\x7fi\U000e0041j"
    app = drive(script, write_pi(tmp_path / "evil.jsonl", evil, evil))
    assert app.safety.caught == 0


def test_a_message_of_megabytes_is_taken_only_as_far_as_it_is_seen(tmp_path):
    async def script(pilot):
        await press(pilot, "2")
        pane = pilot.app.screen.query_one(Inspector).pane
        assert len(pane.plain_lines) < 300
        await press(pilot, "tab", "pagedown", "pagedown")
        assert pane.scroll_offset.y > 20

    drive(script, write_pi(tmp_path / "long.jsonl", "line\n" * 500_000))


@pytest.mark.parametrize("tab", "12345")
def test_no_tab_shows_another_checkpoint_while_one_is_waited_for(tmp_path, tab):
    async def script(pilot):
        inspector = pilot.app.screen.inspector
        await press(pilot, tab)
        inspector.update_from(Waiting(pilot.app.screen._session, 0))
        if tab == "3":
            assert [row.path for row in inspector.pane.rows] == [("…",)]
        else:
            assert "second" not in inspector_text(pilot)
        assert inspector.row is None

    drive(script, write_pi(tmp_path / "two.jsonl", "first", "second"))


def test_a_row_that_was_read_between_two_looks_is_shown_all_the_same():
    async def script(pilot):
        screen = pilot.app.screen
        screen._wanted = 30
        screen.inspector.update_from(Waiting(screen._session, 30))
        assert screen.loader.known(30) is not None
        screen.loader.inspect(30)
        await settled(pilot)
        assert screen.inspector.row == 30

    drive(script, ref="row=30")


def test_a_row_that_cannot_be_read_says_why_in_every_tab(tmp_path):
    path = write_pi(tmp_path / "cut.jsonl", *(f"text {n}" for n in range(100)))

    async def script(pilot):
        # Followed, it would be shown as what it is now.
        await press(pilot, "F")
        path.write_bytes(b"")
        for tab in "12345":
            await press(pilot, tab, "g", "G")
            pane = pilot.app.screen.inspector.pane
            said = str([row.value for row in pane.rows]) if tab == "3" else inspector_text(pilot)
            assert "changed" in said
        pilot.app.screen.loader._known.clear()

    drive(script, path, ref="row=50")


def test_the_end_of_a_long_text_is_one_key_away(tmp_path):
    async def script(pilot):
        await press(pilot, "2", "tab", "G")
        pane = pilot.app.screen.query_one(Inspector).pane
        assert pane.plain_lines[-1] == "line 4999"
        assert pane.scroll_offset.y + pane.size.height >= 5000
        await press(pilot, "g")
        assert pane.scroll_offset.y == 0

    text = "\n".join(f"line {n}" for n in range(5000))
    drive(script, write_pi(tmp_path / "long.jsonl", text))


def test_escape_leads_back_to_the_tree_and_the_focus_is_told_by_a_sign():
    async def script(pilot):
        bar = pilot.app.screen.query_one(TabBar)
        assert bar.render().plain.startswith(" [1 Changes]")
        await press(pilot, "tab")
        assert bar.render().plain.startswith("▌[1 Changes]")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen.focused, CheckpointTree)
        assert bar.render().plain.startswith(" [1 Changes]")

    drive(script)


def test_a_line_of_megabytes_is_taken_in_pieces_and_never_before_there_is_room(tmp_path):
    async def script(pilot):
        for tab in "2513":
            await press(pilot, tab)
        await press(pilot, "2")
        pane = pilot.app.screen.inspector.pane
        assert len(pane._given) < 10
        assert {len(line) for line in pane.plain_lines[1:-1]} <= {
            pane.text_width,
            PIECE % pane.text_width,
        }

    drive(script, write_pi(tmp_path / "wide.jsonl", "x" * 3_000_000))


@pytest.mark.parametrize("size", [(160, 50), (60, 20), (40, 12)], ids=str)
def test_a_click_on_the_name_of_a_tab_shows_it_at_every_width(size):
    async def script(pilot):
        for tab in ("raw", "state", "changes", "meta"):
            bar = pilot.app.screen.query_one(TabBar)
            end = 1
            for name, text in bar._parts():
                if name == tab:
                    break
                end += len(text)
            assert end + 1 < bar.size.width
            await pilot.click(TabBar, offset=(end + 1, 0))
            await settled(pilot)
            assert pilot.app.screen.inspector.tab == tab
            assert f"{tab.capitalize()}]" in bar.render().plain

    drive(script, size=size)


def test_a_click_below_the_last_row_changes_nothing(tmp_path):
    async def script(pilot):
        await press(pilot, "g")
        await pilot.click(CheckpointTree, offset=(5, 20))
        await settled(pilot)
        assert tree(pilot).cursor_row == 0

    drive(script, write_pi(tmp_path / "two.jsonl", "first", "second"))


def test_nothing_is_read_any_more_once_the_screen_is_left():
    async def script(pilot):
        screen = pilot.app.screen
        screen.loader.stop()
        screen.loader._known.clear()
        screen.loader.inspect(30)
        while not all(worker.is_finished for worker in pilot.app.workers):
            await pilot.pause()
        assert screen.loader.known(30) is None

    drive(script)
