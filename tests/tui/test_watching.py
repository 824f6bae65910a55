"""Watching a value on the Timeline: where it is seen, and how one goes from change to change."""

from __future__ import annotations

import msgspec
import pytest
from builders import PI_HEADER, jsonl, pi, user
from textual.widgets import Input
from tui.driving import SAMPLES, choices, drive, inspector, press, said, seen, tree
from tui.test_live import until
from writers import append

from tt_debugger.core.tracks import Stop, Track
from tt_debugger.core.watch import Watch
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.tracker import Asked, Tracked
from tt_debugger.tui.widgets.scrubber import Scrubber

NOTHING = "nothing is watched: w on a value of the state, or in the tree"


def watched(pilot) -> list[str]:
    """Give the lines that tell of what is watched."""
    return inspector(pilot).watch_pane.plain_lines


def names(pilot) -> list[str]:
    return [each.name for each in pilot.app.screen.watching.watches]


def column(pilot) -> dict[int, str]:
    """Give what the column of the watched value has for each row that is drawn."""
    pane = tree(pilot)
    view, width = pane._view, pane.scrollable_content_region.width - 2
    right = sum(each.width for each in view._columns_at(width)[-2:])
    room = next(each.width for each in view._columns_at(width) if each.name == "value")
    found: dict[int, str] = {}
    for y in range(pane.size.height):
        line = pane.render_line(y).text[1 : width + 1]
        if line[:3].strip().isdigit():
            found[int(line[:3])] = line[len(line) - right - room : len(line) - right].strip()
    return found


async def watch(pilot, text: str) -> None:
    """Watch what is typed, with the keys in the tree."""
    await press(pilot, "w", *text, "enter")


def test_w_on_a_value_of_the_state_watches_it_and_takes_it_off_again():
    async def script(pilot):
        await press(pilot, "3", "tab", "j", "w")
        assert said(pilot) == "model is watched: r R last and next change, w again: no longer"
        assert watched(pilot)[1:] == [
            '  model  "coder-large"',
            "  last changed at row 30 (25 checkpoints ago)",
        ]
        await press(pilot, "w")
        assert said(pilot) == "model is watched no longer"
        assert (names(pilot), watched(pilot)) == ([], [])

    drive(script)


def test_w_in_the_tree_asks_and_completes_the_keys_of_the_state():
    async def script(pilot):
        await press(pilot, "w")
        assert isinstance(pilot.app.screen, ChooserScreen)
        offered = [each.text for each in choices(pilot)]
        assert offered[:7] == [
            *("messages", "model", "provider", "thinking_level", "title", "cwd", "usage"),
        ]
        assert "error" in offered
        await press(pilot, *"usage.c")
        assert [each.text for each in choices(pilot)] == [
            *("usage.cache_read", "usage.cache_write", "usage.cost", "usage.c"),
        ]
        await press(pilot, "down", "down", "tab")
        assert pilot.app.screen.query_one(Input).value == "usage.cost"
        await press(pilot, "enter")
        assert names(pilot) == ["usage.cost"]

    drive(script)


@pytest.mark.parametrize("text", ["/usage/cost", "usage.cost", ' usage."cost" '])
def test_a_path_can_be_typed_in_each_form_and_is_the_same_watch(text):
    async def script(pilot):
        await watch(pilot, text)
        assert names(pilot) == ["usage.cost"]
        await watch(pilot, "/usage/cost")
        assert names(pilot) == []

    drive(script)


def test_what_cannot_be_read_is_told_and_not_taken():
    async def script(pilot):
        await press(pilot, "w", *"usage.[", "enter")
        assert isinstance(pilot.app.screen, ChooserScreen)
        await press(pilot, "escape")
        assert names(pilot) == []

    drive(script)


def test_both_keys_go_to_the_changes_of_what_is_watched_and_alt_left_back():
    async def script(pilot):
        await watch(pilot, "usage.cost")
        went = []
        for _ in range(6):
            await press(pilot, "r")
            went.append(tree(pilot).cursor_row + 1)
        assert went == [61, 59, 57, 54, 53, 50]
        assert said(pilot) == "usage.cost: 0.0664 → 0.0798 at row 50"
        await press(pilot, "R", "R")
        assert tree(pilot).cursor_row + 1 == 54
        await press(pilot, "alt+left", "alt+left")
        assert tree(pilot).cursor_row + 1 == 50
        await press(pilot, "alt+right")
        assert tree(pilot).cursor_row + 1 == 53

    drive(script)


def test_at_the_first_and_the_last_change_it_is_said_that_there_is_none():
    async def script(pilot):
        await watch(pilot, "usage.cost")
        assert watched(pilot)[1:] == [
            "  usage.cost  not there",
            "  not written up to here · next at row 5",
        ]
        await press(pilot, "r")
        assert said(pilot) == "usage.cost: not written before row 3"
        await press(pilot, "R", "r")
        assert said(pilot) == "usage.cost: first set at row 5"
        await press(pilot, "G", "R")
        assert said(pilot) == "usage.cost: does not change after row 63 on this branch"
        assert tree(pilot).cursor_row == 62

    drive(script, ref="row=3")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("messages>3", "messages>3: first holds at row 6"),
        ("usage.[cost]", "usage.[cost]: first set at row 5"),
    ],
)
def test_what_is_worked_out_is_not_said_to_be_written(text, first):
    async def script(pilot):
        await watch(pilot, text)
        assert watched(pilot)[-1].startswith("  no change up to here · next at row")
        await press(pilot, "r")
        assert said(pilot) == f"{text}: no change before row 3"
        await press(pilot, "R", "r")
        assert said(pilot) == first

    drive(script, ref="row=3")


def test_the_next_change_is_that_on_the_branch_one_is_on():
    async def script(pilot):
        await watch(pilot, "usage.cost")
        await press(pilot, "R")
        assert tree(pilot).cursor_row + 1 == 14
        await press(pilot, "r")
        assert tree(pilot).cursor_row + 1 == 10

    drive(script, ref="row=13")


def test_r_in_the_state_goes_by_the_value_under_the_cursor():
    async def script(pilot):
        await press(pilot, "3", "tab", "j", "r")
        assert tree(pilot).cursor_row + 1 == 30
        assert said(pilot).startswith("model: ")
        assert inspector(pilot).state_tree.cursor_path == ("model",)
        await press(pilot, "r")
        assert tree(pilot).cursor_row + 1 == 1
        await press(pilot, "r")
        assert said(pilot) == "model: not written before row 1"
        assert names(pilot) == []

    drive(script)


def test_without_a_watch_the_keys_say_what_to_do():
    async def script(pilot):
        for key in ("r", "R", "W", "vertical_line"):
            await press(pilot, key)
            assert said(pilot) == NOTHING

    drive(script)


def test_of_several_the_one_that_was_watched_last_is_gone_by_until_another_is_chosen():
    async def script(pilot):
        await watch(pilot, "model")
        await watch(pilot, "usage.cost")
        assert [line for line in watched(pilot) if "▸" in line] == ["~ ▸ usage.cost  0.142826"]
        await press(pilot, "r")
        assert tree(pilot).cursor_row + 1 == 61
        await press(pilot, "W")
        assert [each.text for each in choices(pilot)] == [
            *("model", "usage.cost", "watch model no longer", "watch usage.cost no longer"),
        ]
        await press(pilot, "up", "enter")
        assert said(pilot) == "r R go by model"
        await press(pilot, "r")
        assert tree(pilot).cursor_row + 1 == 30
        await press(pilot, "W", *"model no longer", "enter")
        assert names(pilot) == ["usage.cost"]

    drive(script)


def test_the_column_tells_the_value_at_each_row_on_every_branch_and_marks_its_changes():
    async def script(pilot):
        await watch(pilot, "usage.cost")
        found = column(pilot)
        assert {row: found[row] for row in (10, 13, 24, 29, 30, 41)} == {
            10: "•0.032507",
            13: "0.032507",
            24: "•0.043537",
            29: "•0.039867",
            30: "0.039867",
            41: "•0.045742",
        }
        await press(pilot, "vertical_line")
        assert said(pilot) == "the tree shows no watched value; | does"
        assert "0.043537" not in seen(pilot)
        await press(pilot, "vertical_line")
        assert column(pilot) == found

    drive(script, ref="row=30", size=(120, 50))


@pytest.mark.parametrize(
    ("size", "is_shown"),
    [((160, 50), True), ((80, 24), True), ((64, 24), True), ((60, 24), False)],
)
def test_the_column_is_there_as_long_as_there_is_room_for_it(size, is_shown):
    async def script(pilot):
        await watch(pilot, "usage.cost")
        assert ("•0.083379" in seen(pilot)) == is_shown

    drive(script, ref="row=51", size=size)


def test_the_graph_has_a_line_for_what_is_watched():
    async def script(pilot):
        scrubber = pilot.app.screen.query_one(Scrubber)
        height = scrubber.size.height
        await watch(pilot, "model")
        assert scrubber.size.height == height + 1
        line = scrubber.render_line(height).text
        assert line.startswith("  model •────────")
        assert line.count("•") == 2
        await watch(pilot, "messages")
        assert set(scrubber.render_line(height).text[9:].strip()) <= set("▁▂▃▄▅▆▇█ ")
        await watch(pilot, "messages")
        await watch(pilot, "model")
        assert scrubber.size.height == height

    drive(script)


@pytest.mark.parametrize(("ref", "end"), [("row=63", 63), ("row=15", 23)])
def test_the_line_is_that_of_the_branch_one_is_on(ref, end):
    async def script(pilot):
        await watch(pilot, "messages")
        assert pilot.app.screen.query_one(Scrubber).watched.track.leaf == end - 1

    drive(script, ref=ref)


def test_a_condition_that_happens_is_gone_to_where_it_does():
    async def script(pilot):
        await watch(pilot, "error")
        assert "  did not happen up to here" not in watched(pilot)
        went = []
        for _ in range(3):
            await press(pilot, "r")
            went.append((tree(pilot).cursor_row + 1, said(pilot)))
        assert went == [
            (6, "error: row 6"),
            (6, "error: does not happen before row 6"),
            (6, "error: does not happen before row 6"),
        ]
        assert watched(pilot)[1] == "~ error  yes"

    drive(script)


def test_a_condition_that_stays_is_gone_to_where_it_becomes_another():
    async def script(pilot):
        await watch(pilot, "messages>10")
        await press(pilot, "r", "r")
        assert said(pilot) == "messages>10: yes → no at row 54"
        assert watched(pilot)[1:] == [
            "~ messages>10  no",
            "  changed here, was yes · next at row 57",
        ]

        await press(pilot, "g", "R")
        assert watched(pilot)[1:] == [
            "~ messages>10  yes",
            "  changed here, was no · next at row 54",
        ]

    drive(script)


def test_a_formula_over_the_state_is_gone_to_where_its_value_changes():
    async def script(pilot):
        await watch(pilot, "length(messages[?role=='user'])")
        await press(pilot, "r")
        assert said(pilot) == "length(messages[?role=='user']): 0 → 1 at row 56"

    drive(script)


def test_what_is_watched_stays_from_row_to_row_and_is_told_of_each():
    async def script(pilot):
        await watch(pilot, "thinking_level")
        assert watched(pilot)[1:] == [
            '~ thinking_level  "medium"',
            '  changed here, was "off" · next at row 31',
        ]
        await press(pilot, "j")
        assert watched(pilot)[1:] == [
            '  thinking_level  "medium"',
            "  last changed at row 2 (1 ago) · next at row 31",
        ]
        await press(pilot, "g")
        assert watched(pilot)[1] == '+ thinking_level  "off"'

    drive(script, ref="row=2")


def test_in_a_low_terminal_each_watched_value_has_one_line():
    async def script(pilot):
        await watch(pilot, "usage.cost")
        assert [line.split("   ")[0] for line in watched(pilot)] == ["~ usage.cost  0.0798"]
        assert watched(pilot)[0].endswith("changed here, was 0.0664 · next at row 53")

    drive(script, ref="row=50", size=(80, 24))


def test_a_session_that_grows_is_watched_on(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("e0", None, user("one")), pi("e1", "e0", user("two"))))

    async def script(pilot):
        await watch(pilot, "messages")
        assert watched(pilot)[1:] == ["~ messages  [2 items]", "  changed here, was [1 item]"]
        append(path, jsonl(pi("e2", "e1", user("three"))))
        await until(pilot, lambda: tree(pilot).cursor_row == 2)
        assert watched(pilot)[1:] == ["~ messages  [3 items]", "  changed here, was [2 items]"]
        await press(pilot, "r", "R")
        assert said(pilot) == "messages: [2 items] → [3 items] at row 3"

    drive(script, path)


def test_a_session_that_was_replaced_is_looked_through_anew(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(
        jsonl(PI_HEADER, *(pi(f"e{n}", f"e{n - 1}" if n else None, user("x")) for n in range(4)))
    )

    async def script(pilot):
        await watch(pilot, "messages")
        path.write_bytes(jsonl(PI_HEADER, pi("n0", None, user("new"))))
        await until(pilot, lambda: tree(pilot).cursor_row == 0)
        assert watched(pilot)[1:] == ["+ messages  [1 item]", "  changed here"]

    drive(script, path)


def test_what_is_watched_is_watched_again_where_one_comes_back_to_a_session():
    async def script(pilot):
        await press(pilot, "enter")
        await watch(pilot, "model")
        await watch(pilot, "jmes:length(messages)")
        await watch(pilot, "error")
        await press(pilot, "q", "enter")
        assert names(pilot) == ["model", "length(messages)", "error"]
        assert pilot.app.screen.watching.chosen.name == "error"

    drive(script, SAMPLES, size=(120, 36))


@pytest.mark.parametrize(
    "text", ["/model", "jmes:@", "jmes:length(messages)", "error", "tokens>1k"]
)
def test_the_text_of_a_watch_makes_the_same_watch(text):
    watch = Watch.parse(text)

    assert (watch.text, Watch.parse(watch.text).key) == (text, watch.key)


def test_a_branch_that_cannot_be_walked_is_told_and_nothing_waits_for_it(monkeypatch):
    def refuse(*_):
        raise CannotReadError("the file is gone")

    async def script(pilot):
        monkeypatch.setattr(Debugger, "changes_along", refuse)
        await watch(pilot, "model")
        assert said(pilot) == "model: the file is gone"
        assert watched(pilot)[1:] == ['  model  "coder-large"', "  its changes cannot be read"]

    drive(script)


def test_an_answer_for_a_session_that_is_another_by_now_is_dropped():
    async def script(pilot):
        screen = pilot.app.screen
        await watch(pilot, "model")
        watching, chosen = screen.watching, screen.watching.chosen
        other = msgspec.structs.replace(screen._session)
        track = Track(62, (Stop(0, 0, "stale"),))
        screen.on_tracked(Tracked(Asked(other, chosen, 62), track))
        assert watching.track(chosen, 62).stops[0].said == '"coder-small"'

    drive(script)
