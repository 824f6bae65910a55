"""The Timeline of a session that is being written."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import FIXTURES, PI_HEADER, assistant, jsonl, pi, user
from textual.pilot import Pilot
from tui.driving import drive, inspector, inspector_text, place, press, said, seen, settled, tree
from writers import append, in_place, renamed_over

from tt_debugger.tui.widgets.bars import TopBar
from tt_debugger.tui.widgets.lines import Lines

PATIENCE = 60.0


def entries(first: int, behind: int, kind: Callable = user) -> bytes:
    """Give entries of a file, each hung on the one before: e0, e1, e2 ..."""
    parents = [f"e{row - 1}" if row else None for row in range(first, behind)]
    return jsonl(
        *(
            pi(f"e{row}", parent, kind(f"said {row}"))
            for row, parent in zip(range(first, behind), parents, strict=True)
        )
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(PI_HEADER) + entries(0, 4))
    return path


async def until(pilot: Pilot, holds: Callable[[], bool]) -> None:
    """Wait until something holds, and all that was asked for is shown."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, seen(pilot)
        await pilot.pause(0.01)
    await settled(pilot)


def rows(pilot: Pilot) -> int:
    return len(pilot.app.screen._session)


def mark(pilot: Pilot) -> str:
    return pilot.app.screen.query_one(TopBar).mark


def test_what_is_written_appears_and_a_cursor_at_the_active_leaf_moves_along(path: Path):
    async def script(pilot: Pilot) -> None:
        assert place(pilot) == "row 4/4 · all shown"
        append(path, entries(4, 5))
        await until(pilot, lambda: rows(pilot) == 5)
        assert place(pilot) == "row 5/5 · all shown"
        assert "said 4" in inspector_text(pilot)
        assert mark(pilot) == "● live"
        assert "· ● live" in seen(pilot).split("\n")[0]

    drive(script, path)


def test_a_cursor_elsewhere_stays_where_it_is_and_so_does_what_is_seen(path: Path):
    path.write_bytes(jsonl(PI_HEADER) + entries(0, 90))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "g", *["j"] * 40)
        before = tree(pilot).scroll_offset.y
        append(path, entries(90, 120))
        await until(pilot, lambda: rows(pilot) == 120)
        assert place(pilot) == "row 41/120 · all shown"
        assert tree(pilot).scroll_offset.y == before

    drive(script, path, size=(120, 24))


def test_what_was_scrolled_to_stays_in_view_though_the_cursor_is_not(path: Path):
    path.write_bytes(jsonl(PI_HEADER) + entries(0, 90))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "g")
        tree(pilot).scroll_to(y=30, animate=False, force=True, immediate=True)
        append(path, entries(90, 95))
        await until(pilot, lambda: rows(pilot) == 95)
        assert (place(pilot), tree(pilot).scroll_offset.y) == ("row 1/95 · all shown", 30)

    drive(script, path, size=(120, 24))


def test_a_torn_line_is_not_there_before_it_is_whole(path: Path):
    whole = entries(4, 5)

    async def script(pilot: Pilot) -> None:
        append(path, whole[:20])
        await until(pilot, lambda: "1 finding" in seen(pilot))
        assert rows(pilot) == 4
        append(path, whole[20:])
        await until(pilot, lambda: rows(pilot) == 5)
        assert "finding" not in seen(pilot).split("\n")[0]

    drive(script, path)


def test_f_ends_following_and_begins_it_again(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, "F")
        assert said(pilot).startswith("what is written from here on is not shown")
        assert mark(pilot) == "○ not followed"
        append(path, entries(4, 5))
        await pilot.pause(0.6)
        assert rows(pilot) == 4
        await press(pilot, "F")
        await until(pilot, lambda: rows(pilot) == 5)
        assert mark(pilot) == "● live"

    drive(script, path)


def test_an_old_session_is_not_called_live_before_it_grows(path: Path):
    os.utime(path, (1_000_000_000, 1_000_000_000))

    async def script(pilot: Pilot) -> None:
        await pilot.pause(0.3)
        assert mark(pilot) == ""
        append(path, entries(4, 5))
        await until(pilot, lambda: mark(pilot) == "● live")

    drive(script, path)


def test_a_session_is_called_live_only_as_long_as_it_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.tui.screens.panes.LOOK_AGAIN", 0.02)

    async def script(pilot: Pilot) -> None:
        append(path, entries(4, 5))
        await until(pilot, lambda: rows(pilot) == 5)
        assert mark(pilot) == "● live"
        monkeypatch.setattr("tt_debugger.tui.loader.FRESH", 0.0)
        await until(pilot, lambda: mark(pilot) == "")
        monkeypatch.setattr("tt_debugger.tui.loader.FRESH", 600.0)
        await until(pilot, lambda: mark(pilot) == "● live")

    drive(script, path)


def test_a_folder_that_was_opened_by_a_file_in_it_is_live_and_followed(tmp_path: Path):
    shutil.copytree(FIXTURES / "openhands" / "3f0c", tmp_path / "talk")
    events = tmp_path / "talk" / "events"
    for file in tmp_path.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))

    async def script(pilot: Pilot) -> None:
        assert (rows(pilot), mark(pilot)) == (9, "")
        event = {"id": "new", "kind": "PauseEvent", "source": "user"}
        (events / "event-00009-new.json").write_text(json.dumps(event))
        await until(pilot, lambda: rows(pilot) == 10)
        assert mark(pilot) == "● live"

    drive(script, events / "event-00001-ev-1.json")


@pytest.mark.parametrize("how", [in_place, renamed_over])
def test_a_file_that_was_cut_or_replaced_is_shown_anew_at_the_nearest_checkpoint(
    path: Path, how: Callable[[Path, bytes], None]
):
    other = jsonl(PI_HEADER, pi("new", None, user("another beginning"))) + jsonl(
        pi("e1", "new", user("said 1")), pi("x", "e1", user("and so on"))
    )

    async def script(pilot: Pilot) -> None:
        await press(pilot, "K")
        assert place(pilot) == "row 3/4 · all shown"
        how(path, other)
        await until(pilot, lambda: "another beginning" in seen(pilot))
        assert said(pilot) == "session.jsonl was cut or replaced; it is shown anew"
        # What the cursor was at is gone; its parent is not.
        assert place(pilot) == "row 2/3 · all shown"
        assert "said 1" in inspector_text(pilot)

    drive(script, path)


def test_an_emptied_file_is_shown_empty_and_filled_again(path: Path):
    async def script(pilot: Pilot) -> None:
        in_place(path, b"")
        await until(pilot, lambda: rows(pilot) == 0)
        assert "holds no checkpoints" in seen(pilot)
        in_place(path, jsonl(PI_HEADER) + entries(0, 2))
        await until(pilot, lambda: rows(pilot) == 2)
        assert place(pilot) == "row 2/2 · all shown"

    drive(script, path)


def test_a_blank_file_is_followed_from_its_first_line_on(path: Path):
    path.write_bytes(b"")

    async def script(pilot: Pilot) -> None:
        append(path, jsonl(PI_HEADER)[:30])
        await pilot.pause(0.3)
        append(path, jsonl(PI_HEADER)[30:] + entries(0, 3))
        await until(pilot, lambda: rows(pilot) == 3)
        assert seen(pilot).startswith(" ttdbg   pi ")

    drive(script, path)


def test_the_filter_holds_for_what_comes_and_a_cursor_at_what_stands_for_the_leaf_goes_on(
    path: Path,
):
    async def script(pilot: Pilot) -> None:
        pilot.app.screen.action_show("user only")
        await settled(pilot)
        append(path, jsonl(pi("a0", "e3", assistant("I see"))))
        await until(pilot, lambda: rows(pilot) == 5)
        assert place(pilot) == "row 4/5 · user only shows 4"
        append(path, jsonl(pi("e5", "a0", user("well?"))))
        await until(pilot, lambda: rows(pilot) == 6)
        assert place(pilot) == "row 6/6 · user only shows 5"
        assert "I see" not in seen(pilot)

    drive(script, path)


def test_a_search_goes_on_in_what_comes(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, "slash", *"said", "enter")
        assert said(pilot).startswith("said: 1/4 found")
        append(path, entries(4, 6))
        await until(pilot, lambda: rows(pilot) == 6)
        await press(pilot, "N")
        assert said(pilot).startswith("said: 6/6 found")
        in_place(path, jsonl(PI_HEADER) + entries(0, 2))
        await until(pilot, lambda: rows(pilot) == 2)
        await press(pilot, "n")
        assert "/2 found" in said(pilot)

    drive(script, path)


def test_folds_that_were_opened_stay_open(path: Path):
    branch = jsonl(
        *(pi(f"b{n}", f"b{n - 1}" if n else "e0", user(f"aside {n}")) for n in range(4))
    )
    path.write_bytes(jsonl(PI_HEADER) + entries(0, 2) + branch + entries(2, 4))

    async def script(pilot: Pilot) -> None:
        assert "aside 3" not in seen(pilot)
        await press(pilot, "g", "j", "j", "l")
        assert "aside 3" in seen(pilot)
        append(path, entries(4, 6))
        await until(pilot, lambda: rows(pilot) == 10)
        assert "aside 3" in seen(pilot)

    drive(script, path)


def test_what_is_under_the_cursor_tells_of_the_result_that_came_for_its_call(path: Path):
    more = pi("m", "c", type="model_change", provider="p", modelId="m")
    append(path, jsonl(pi("c", "e3", assistant("let me look", "call-1")), more))
    result = {"role": "toolResult", "toolCallId": "call-1", "toolName": "bash"}
    result |= {"content": [{"type": "text", "text": "forty-two"}], "isError": False}

    async def script(pilot: Pilot) -> None:
        await press(pilot, "K")
        assert inspector(pilot).row == 4
        append(path, jsonl(pi("r", "m", result)))
        await until(pilot, lambda: "forty-two" in inspector_text(pilot))
        assert place(pilot) == "row 5/7 · all shown"

    drive(script, path)


def test_an_inspector_that_tells_nothing_new_stays_as_it_is(path: Path):
    long = "\n".join(f"line {n}" for n in range(200))
    path.write_bytes(jsonl(PI_HEADER, pi("e0", None, user(long))) + entries(1, 4))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "g", "2", "tab", "pagedown", "pagedown")
        pane = inspector(pilot).pane
        assert isinstance(pane, Lines)
        before = pane.scroll_offset.y
        assert before > 0
        append(path, entries(4, 6))
        await until(pilot, lambda: rows(pilot) == 6)
        assert pane.scroll_offset.y == before

    drive(script, path)


def test_what_comes_while_another_screen_is_on_top_is_shown_once_that_is_left(path: Path):
    async def script(pilot: Pilot) -> None:
        timeline = pilot.app.screen
        await press(pilot, "d", "d")
        compared = seen(pilot)
        append(path, entries(4, 6))
        await pilot.pause(0.6)
        assert seen(pilot) == compared
        await press(pilot, "q")
        await until(pilot, lambda: len(timeline._session) == 6)
        assert place(pilot) == "row 6/6 · all shown"

    drive(script, path)


def test_many_lines_at_once_and_one_by_one_lead_to_the_same(path: Path):
    async def script(pilot: Pilot) -> None:
        for row in range(4, 60):
            append(path, entries(row, row + 1))
            await pilot.pause(0.005)
        await until(pilot, lambda: rows(pilot) == 60)
        assert list(pilot.app.screen._session.ids) == [f"e{row}" for row in range(60)]
        assert place(pilot) == "row 60/60 · all shown"

    drive(script, path)


def test_a_session_that_was_left_is_watched_no_more(path: Path):
    async def script(pilot: Pilot) -> None:
        loader = pilot.app.screen.loader
        assert loader._watch is not None
        await pilot.press("q")
        await asyncio.sleep(0)
        assert loader._watch is None

    drive(script, path)


def document(count: int) -> bytes:
    """Give one JSON value with so many messages, as it is written whole each time."""
    messages = [user(f"said {n}") for n in range(count)]
    return json.dumps({"messages": messages}, indent=1).encode()


def test_the_way_back_leads_only_to_checkpoints_that_are_still_there(path: Path):
    path.write_bytes(document(9))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "g", "j", "G", "g")
        renamed_over(path, document(4))
        await until(pilot, lambda: rows(pilot) == 4)
        assert place(pilot) == "row 1/4 · all shown"
        await press(pilot, "alt+left")
        assert place(pilot) == "row 2/4 · all shown"
        await press(pilot, "alt+left")
        assert said(pilot) == "there is nowhere to go back to"

    drive(script, path)


def test_a_comparison_that_was_left_is_gone_with_its_checkpoints(path: Path):
    path.write_bytes(document(9))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "d", "d")
        await press(pilot, "enter")
        renamed_over(path, document(4))
        await until(pilot, lambda: rows(pilot) == 4)
        await press(pilot, "D")
        assert said(pilot) == "no comparison was left for a checkpoint"

    drive(script, path)
