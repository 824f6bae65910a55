"""The inspector, driven: what each tab remembers, shows, and offers to be copied."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl, pi, user
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Tree
from tui.driving import drive, press, settled

from tt_debugger.core.changes import Snapshot
from tt_debugger.core.folds import Fold
from tt_debugger.tui.widgets.inspector import Copyable, Folded, Inspector, Said
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import PathLine, StateTree
from tt_debugger.views.palette import ANSI, UNICODE
from tt_debugger.views.state import Marks


def inspector(pilot: Pilot) -> Inspector:
    return pilot.app.screen.query_one(Inspector)


def state(pilot: Pilot) -> StateTree:
    return inspector(pilot).state_tree


def text(pilot: Pilot) -> str:
    pane = inspector(pilot).pane
    assert isinstance(pane, Lines)
    return "\n".join(pane.plain_lines)


def path_line(pilot: Pilot) -> str:
    return inspector(pilot).query_one(PathLine).render().plain


def write(path: Path, *texts: str) -> Path:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}
    entries = [pi(f"e{n}", f"e{n - 1}" if n else None, user(each)) for n, each in enumerate(texts)]
    path.write_bytes(jsonl(header, *entries))
    return path


def long_text(name: str) -> str:
    return "\n\n".join(f"{name} {n}" for n in range(200))


def test_changes_stand_over_the_message_with_a_rule_between():
    async def script(pilot):
        title, *lines = text(pilot).split("\n")
        assert title == "63 assistant · 10:06:30 · +3.7s · 88 out · active leaf"
        assert "+ messages[16]  assistant: text of 271 characters" in lines
        (rule,) = (line for line in lines if line.startswith("── message ─"))
        assert len(rule) == inspector(pilot).pane.text_width

    drive(script, size=(160, 50))


def test_in_few_lines_nothing_stands_apart():
    async def script(pilot):
        lines = text(pilot).split("\n")
        assert lines[1].startswith("+ messages[16]")
        assert lines[4].startswith("── message ─")

    drive(script, size=(80, 24))


def test_changes_are_laid_out_anew_for_another_width():
    async def script(pilot):
        await pilot.resize_terminal(60, 24)
        await settled(pilot)
        assert "~ usage         input +145, output +88," in text(pilot).split("\n")
        await pilot.resize_terminal(120, 24)
        await settled(pilot)
        width = inspector(pilot).pane.text_width
        (rule,) = (line for line in text(pilot).split("\n") if line.startswith("── message ─"))
        assert len(rule) == width

    drive(script, size=(120, 24))


def test_each_tab_remembers_its_scroll_and_so_does_each_row(tmp_path):
    async def script(pilot):
        pane = inspector(pilot)
        await press(pilot, "2", "tab", "pagedown", "pagedown")
        seen = pane.pane.scroll_offset.y
        assert seen > 20
        await press(pilot, "5", "2")
        assert pane.pane.scroll_offset.y == seen
        first = pane._shown
        await press(pilot, "escape", "j")
        assert pane.row == 1
        assert pane.pane.scroll_offset.y == 0
        pane.update_from(first)
        await pilot.pause()
        assert pane.pane.scroll_offset.y == seen
        assert text(pilot).count("first 1") > 0

    drive(script, write(tmp_path / "long.jsonl", long_text("first"), long_text("second")), "row=1")


def test_the_path_under_the_cursor_is_shown_with_the_type_and_size_of_its_value():
    async def script(pilot):
        await press(pilot, "3")
        assert path_line(pilot) == "messages   list, 16 items"
        await press(pilot, "tab", "enter", "j", "enter", "j")
        assert path_line(pilot) == "messages[0].role   text, 6 characters"

    drive(script, ref="row=20")


def test_the_cursor_stays_on_its_path_from_checkpoint_to_checkpoint():
    async def script(pilot):
        await press(pilot, "3", "tab", "enter", *"jjj", "enter", "j")
        assert state(pilot).cursor_path == ("messages", 2, "role")
        await press(pilot, "tab", *"jj")
        assert state(pilot).cursor_path == ("messages", 2, "role")
        await press(pilot, "g")
        assert state(pilot).cursor_path == ("messages",)
        pilot.app.screen.tree_pane.move_to_row(19)
        await settled(pilot)
        assert state(pilot).cursor_path == ("messages", 2, "role")

    drive(script, ref="row=20")


def test_a_long_text_opens_to_its_lines_in_place(tmp_path):
    async def script(pilot):
        pane = state(pilot)
        await press(pilot, "3", "tab")
        pane.reveal(("messages", 0, "content", 0, "text"))
        before = len(pane.rows)
        await press(pilot, "enter", "j", "j", "j")
        assert len(pane.rows) > before + 300
        assert pane.rows[pane._cursor].value == "first 1"
        assert path_line(pilot).endswith("sages[0].content[0].text   text, 2,088 characters")
        await press(pilot, "h")
        assert pane.rows[pane._cursor].line is None
        await press(pilot, "h")
        assert len(pane.rows) == before

    drive(script, write(tmp_path / "long.jsonl", long_text("first")), size=(160, 50))


def test_the_next_change_is_opened_and_shown():
    async def script(pilot):
        pane = inspector(pilot)
        await press(pilot, "3", "tab")
        assert pane.to_next_change(1)
        assert state(pilot).cursor_path == ("messages", 15)
        assert pane.to_next_change(1)
        assert state(pilot).cursor_path == ("usage", "input")
        assert pane.to_next_change(-1)
        assert state(pilot).cursor_path == ("messages", 15)
        assert not pane.to_next_change(-1)
        row = state(pilot).rows[state(pilot)._cursor]
        assert (row.sign, row.path) == ("+", ("messages", 15))

    drive(script, ref="row=20")


def test_a_click_puts_the_cursor_and_a_click_on_the_sign_or_a_second_one_opens():
    async def script(pilot):
        pane = state(pilot)
        await press(pilot, "3")
        rows = len(pane.rows)
        await pilot.click(StateTree, offset=(12, 6))
        await settled(pilot)
        assert pane.cursor_path == ("usage",)
        assert len(pane.rows) == rows
        await pilot.click(StateTree, offset=(12, 6))
        await settled(pilot)
        assert len(pane.rows) > rows
        await pilot.click(StateTree, offset=(12, 6))
        await settled(pilot)
        assert len(pane.rows) == rows
        # The gutter takes four columns.
        await pilot.click(StateTree, offset=(7, 0))
        await settled(pilot)
        assert pane.cursor_path == ("messages",)
        assert len(pane.rows) > rows

    drive(script, ref="row=20")


def test_meta_tells_time_tokens_and_cost_of_the_checkpoint_and_of_its_path():
    async def script(pilot):
        await press(pilot, "4")
        lines = text(pilot).split("\n")
        assert "time       2026-09-14 10:06:30.897 UTC, +3.7s after its parent" in lines
        assert "tokens     145 in, 88 out; cache 5,479 read, 0 written" in lines
        assert "on path    14,841 in, 1,686 out; cache 52,942 read, 0 written" in lines
        assert "cost       $0.005664, $0.14 on its path" in lines
        assert "parent     37dbca6e (row 62)" in lines

    drive(script, size=(160, 50))


def test_each_tab_offers_what_one_would_copy_from_it():
    async def script(pilot):
        pane = inspector(pilot)
        await press(pilot, "2")
        said = pane.copyable()
        assert said.value.startswith("Done: all 43 tests pass, committed as `5d0c7e2`.")
        assert said.what == "message of checkpoint 63, 271 characters"
        await press(pilot, "1")
        assert [json.loads(line)["op"] for line in pane.copyable().value.split("\n")] == [
            "append",
            "put",
        ]
        await press(pilot, "5")
        assert json.loads(pane.copyable().value)["id"] == "1cf041ce"
        await press(pilot, "4")
        assert pane.copyable().value.startswith("id         1cf041ce\n")
        await press(pilot, "3", "tab", "enter", "j", "enter", "j")
        assert pane.copyable() == Copyable(
            "system",
            "messages[0].role, 6 characters",
            "messages[0].role",
            "/messages/0/role",
        )
        await press(pilot, "k")
        assert json.loads(pane.copyable().value)["role"] == "system"

    drive(script)


def test_a_sentence_is_copied_as_it_stands_and_nothing_as_nothing():
    async def script(pilot):
        pane = inspector(pilot)
        pane.update_from(Said("It cannot be read.", 3, is_error=True))
        assert pane.copyable() == Copyable("It cannot be read.", "18 characters")
        pane.update_from(Said(""))
        assert pane.copyable() is None

    drive(script)


@pytest.mark.parametrize("tab", "1245")
def test_a_fold_is_told_in_every_tab(tab):
    async def script(pilot):
        await press(pilot, tab)
        pane, loaded = inspector(pilot), pilot.app.screen._session
        rows = range(13, 23)
        pane.update_from(Folded(loaded, Fold(12, True, 10, 2, 1, 13, 22, None), rows))
        assert pane.row == 13
        assert "10 checkpoints, rows 14-23, folded: a branch that was left" in text(pilot)
        assert "why it was left  as row 24 sums it up" in text(pilot)
        assert pane.copyable().value.startswith("10 checkpoints")

    drive(script, size=(160, 50))


def test_a_fold_has_no_state_but_a_sentence():
    async def script(pilot):
        await press(pilot, "3")
        loaded = pilot.app.screen._session
        fold = Fold(12, True, 10, 2, 1, 13, 22, None)
        inspector(pilot).update_from(Folded(loaded, fold, range(13, 23)))
        assert state(pilot).render_line(0).text.strip() == (
            "10 checkpoints folded here; unfold them to see their states"
        )
        assert path_line(pilot) == ""
        assert not inspector(pilot).to_next_change(1)

    drive(script, size=(160, 50))


def test_what_a_person_opened_survives_a_sentence_in_its_place():
    async def script(pilot):
        pane = inspector(pilot)
        await press(pilot, "3", "tab", "enter", "j", "j")
        seen, rows = pane._shown, len(state(pilot).rows)
        pane.update_from(Said("gone", 19))
        await press(pilot, "j", "enter", "h", "G")
        pane.update_from(seen)
        assert len(state(pilot).rows) == rows
        assert state(pilot).cursor_path == ("messages", 1)

    drive(script, ref="row=20")


class _StateApp(App[None]):
    """A tree of a state, and Textual's own tree."""

    def compose(self):
        yield StateTree(ANSI, UNICODE)
        yield Tree("state")


def test_a_state_of_ten_thousand_messages_opens_in_a_hundredth_of_textuals_own_time():
    block = {"type": "text", "text": "words " * 20}
    messages = [{"role": "user", "content": [block], "n": n} for n in range(10_000)]
    big: Any = {"messages": messages, "model": "m"}

    async def script(pilot):
        ours, theirs = pilot.app.query_one(StateTree), pilot.app.query_one(Tree)
        begin = time.process_time()
        ours.update_from(big, Marks([("messages", 9_999)]))
        ours.toggle()
        drawn = [ours.render_line(y).text for y in range(ours.size.height)]
        took = time.process_time() - begin
        assert len(ours.rows) == 10_002
        assert any("9999" in line or "user: words" in line for line in drawn)
        begin = time.process_time()
        theirs.add_json(big)
        assert took <= 0.01 * (time.process_time() - begin)

    async def run() -> None:
        async with _StateApp().run_test(size=(160, 50)) as pilot:
            await script(pilot)

    asyncio.run(run())


def test_a_state_that_is_replaced_as_a_whole_opens_like_any_other():
    async def script(pilot):
        pane = state(pilot)
        await press(pilot, "3")
        pane.update_from({"a": 1}, Marks([Snapshot({}).path]))
        assert [row.sign for row in pane.rows] == [""]
        assert not pane.to_next_change(1)

    drive(script)
