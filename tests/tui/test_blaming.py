"""The gutter of the state, and the way to who wrote a value."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from tui.driving import drive, inspector, place, press, said, settled, tree

from tt_debugger.tui.screens import blamed


def state_lines(pilot: Pilot) -> list[str]:
    """Give the lines of the state that are seen, as they are drawn."""
    pane = inspector(pilot).state_tree
    return [pane.render_line(y).text.rstrip() for y in range(min(len(pane.rows), 24))]


def test_each_line_of_the_state_tells_the_row_that_wrote_it():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3")
        lines = state_lines(pilot)
        assert any(line[1:4] == "30 " and '"coder-large"' in line for line in lines), lines
        assert any(line[1:4] == "63*" and " messages " in line for line in lines), lines

    drive(script, size=(160, 50))


def test_the_gutter_goes_with_the_row_and_with_what_is_opened():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab", "g", "l")
        opened = [line for line in state_lines(pilot) if "role" not in line and " 54  " in line]
        assert len(opened) >= 2
        await press(pilot, "escape", "K")
        assert any(line[1:4] == "62*" for line in state_lines(pilot))

    drive(script, size=(160, 50))


def test_i_takes_the_gutter_away_and_brings_it_back():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3")
        with_it = state_lines(pilot)
        await press(pilot, "i")
        without = state_lines(pilot)
        assert not any("30 " in line[:6] for line in without)
        assert "no longer" not in said(pilot)
        await press(pilot, "i")
        assert state_lines(pilot) == with_it
        assert said(pilot).endswith("i: no longer")

    drive(script, size=(160, 50))


def test_a_narrow_state_has_no_gutter():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3")
        assert inspector(pilot).state_tree._room == inspector(pilot).state_tree._whole_room

    drive(script, size=(100, 30))


def test_of_a_long_session_the_gutter_is_drawn_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(blamed, "MOST_UNASKED", 10)

    async def script(pilot: Pilot) -> None:
        await press(pilot, "3")
        assert not any("30 " in line[:6] for line in state_lines(pilot))
        await press(pilot, "i")
        assert any("30 " in line[:6] for line in state_lines(pilot))

    drive(script, size=(160, 50))


def test_b_goes_to_the_row_that_wrote_a_value_and_back():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(("model",))
        await press(pilot, "b")
        assert place(pilot).startswith("row 30/63")
        assert said(pilot) == "row 30 wrote it last"
        assert any("30* ~" in line and '"coder-large"' in line for line in state_lines(pilot))
        await press(pilot, "alt+left")
        assert place(pilot).startswith("row 63/63")

    drive(script, size=(160, 50))


def test_enter_on_a_leaf_goes_to_who_wrote_it():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(("model",))
        await press(pilot, "enter")
        assert tree(pilot).cursor_row == 29

    drive(script, size=(160, 50))


def test_b_on_what_a_compaction_brought_back_leads_to_it_and_on_to_who_said_it():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(("messages", 2))
        await press(pilot, "b")
        assert tree(pilot).cursor_row == 53
        assert said(pilot) == "row 54 wrote it last; brought back; first said by row 45"
        inspector(pilot).state_tree.reveal(("messages", 2))
        await press(pilot, "b")
        assert tree(pilot).cursor_row == 44
        assert said(pilot).startswith("said first here; brought back")

    drive(script, size=(160, 50))


def test_what_was_written_at_the_row_itself_is_said_to_be():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(("usage", "cost"))
        await press(pilot, "b")
        assert (tree(pilot).cursor_row, said(pilot)) == (62, "it was written here")

    drive(script, size=(160, 50))


def test_o_goes_to_where_a_text_was_first_said():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(("messages", 3, "toolCallId"))
        await press(pilot, "O")
        assert tree(pilot).cursor_row == 44
        assert said(pilot) == "row 45 said it first: the same text (a match, no proof)"

    drive(script, size=(160, 50))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (
            ("messages", 3, "role"),
            (
                "too short to tell where it was first said:"
                " less than 12 characters, of an odd word less than 6"
            ),
        ),
        (("usage", "cost"), "there is no text here"),
        (("messages", 3, "content", 0, "text"), "not said before on this branch"),
    ],
)
def test_what_has_no_origin_is_said_to_have_none(path: tuple[str | int, ...], words: str):
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3", "tab")
        inspector(pilot).state_tree.reveal(path)
        await press(pilot, "O")
        assert (tree(pilot).cursor_row, said(pilot)) == (62, words)

    drive(script, size=(160, 50))


def test_without_a_value_under_the_cursor_the_keys_say_what_to_do():
    async def script(pilot: Pilot) -> None:
        for key in ("b", "O"):
            await press(pilot, key)
            assert said(pilot) == "first choose a value of the state: 3, then Tab"

    drive(script)


def test_both_inspectors_have_a_gutter():
    async def script(pilot: Pilot) -> None:
        await press(pilot, "3")
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, blamed.BlamedScreen)
        assert len(screen.inspectors) == 2
        assert all(each.state_tree._gutter.writers for each in screen.inspectors)

    drive(script, size=(220, 50))
