"""Conditions in the Timeline: searched for, stepped through, and as a filter of rows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from textual.pilot import Pilot
from textual.widgets import Input
from tui.driving import SAMPLES, choices, drive, place, press, said, seen, settled, tree

from tt_debugger.core.filters import Filter, Where
from tt_debugger.tui.loader import Searched, Selected
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.screens.prompt import LineScreen
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree

ERRORS = [5, 16, 20, 35]
"""The rows of the sample at which a tool failed."""


async def look_for(pilot: Pilot, text: str) -> None:
    await press(pilot, "slash", "ctrl+u", *text, "enter")


def marked(pilot: Pilot) -> list[int]:
    """Give the rows that the tree marks as found, of those that are drawn."""
    pane = pilot.app.screen.query_one(CheckpointTree)
    view, outline = pane._view, pane._outline
    assert view is not None
    assert outline is not None
    found = []
    for line, lanes in zip(outline.lines, outline.lanes, strict=True):
        if line >= 0:
            text = view.text(outline.tree.session, line, lanes, 80)
            if any(span.style == view.palette.found for span in text.spans):
                found.append(line)
    return found


async def until(pilot: Pilot, holds) -> None:
    for _ in range(3000):
        if holds():
            return
        await asyncio.sleep(0.02)
        await pilot.pause()
    raise AssertionError("it did not come to that")


def test_a_condition_is_looked_for_stepped_through_and_marked_in_the_tree():
    async def script(pilot):
        await look_for(pilot, "when error")
        assert tree(pilot).cursor_row == 5
        assert said(pilot) == ("when error: 1/4 found (n N next, Esc ends)   stopped at run 7")
        rows = [5]
        for key in ("n", "n", "n", "n", "N"):
            await press(pilot, key)
            rows.append(tree(pilot).cursor_row)
        assert rows == [5, 16, 20, 35, 5, 35]
        assert "4/4 found" in said(pilot)
        assert set(marked(pilot)) <= set(ERRORS)
        assert 35 in marked(pilot)
        await press(pilot, "escape")
        assert (said(pilot), marked(pilot)) == ("", [])
        await press(pilot, "n")
        assert said(pilot) == "search first: press /"

    drive(script, ref="row=3")


def test_what_stays_true_is_found_where_it_becomes_true_on_each_branch():
    async def script(pilot):
        await look_for(pilot, "when length(messages) >= 16")
        rows = [tree(pilot).cursor_row]
        for _ in range(3):
            await press(pilot, "n")
            rows.append(tree(pilot).cursor_row)
        # On three branches the state grows so far; the last is cut short, and grows again.
        assert rows == [19, 45, 61, 19]
        assert "1/3 found" in said(pilot)

    drive(script, ref="row=3")


def test_nowhere_is_said_and_a_text_is_a_text_again():
    async def script(pilot):
        await look_for(pilot, "when tool=nothing")
        assert (tree(pilot).cursor_row, said(pilot)) == (2, "when tool=nothing: not found")
        await look_for(pilot, "changelog")
        assert tree(pilot).cursor_row == 53
        await press(pilot, "slash")
        assert pilot.app.screen.query_one(Input).value == "changelog"
        await press(pilot, "escape")
        await look_for(pilot, "when error")
        await press(pilot, "slash")
        assert pilot.app.screen.query_one(Input).value == "when error"

    drive(script, ref="row=3")


@pytest.mark.parametrize("keys", [("slash", *"when "), ("v", *"where a cond", "enter")])
def test_what_is_wrong_with_a_condition_is_said_while_it_is_typed_and_not_taken(keys):
    async def script(pilot):
        await press(pilot, *keys, *"messages[")
        assert isinstance(pilot.app.screen, LineScreen)
        wrong = pilot.app.screen.query_one("#wrong")
        assert wrong.display
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, LineScreen)
        await press(pilot, *"*]")
        assert not wrong.display
        await press(pilot, "escape")
        assert tree(pilot).cursor_row == 2

    drive(script, ref="row=3")


def test_the_prompt_says_that_a_condition_may_be_typed():
    async def script(pilot):
        await press(pilot, "slash")
        assert "when CONDITION" in seen(pilot)

    drive(script)


def test_a_filter_shows_the_rows_alone_at_which_a_condition_holds():
    async def script(pilot):
        await press(pilot, "v")
        assert choices(pilot)[-1].text == "where a condition holds ..."
        await press(pilot, *"where a cond", "enter", *"error", "enter")
        assert place(pilot) == "row 6/63 · where error shows 4"
        outline = pilot.app.screen._outline
        assert [row for row, shown in enumerate(outline.mask) if shown] == ERRORS
        assert said(pilot) == "where error: 4 checkpoints"
        await press(pilot, "v", *"where a cond", "enter")
        assert pilot.app.screen.query_one(Input).value == "error"
        await press(pilot, "escape", "V")
        assert pilot.app.screen._filter is Filter.DEFAULT

    drive(script, ref="row=6")


@pytest.mark.parametrize(
    ("typed", "first", "count"),
    [
        ("cost>0.05", "where cost>0.05 holds", 31),
        ("kind=compaction", "where kind=compaction holds", 1),
        ("last_error", "where last_error holds", None),
        ("error", "errors", 4),
        ("tools", "no tools", None),
        ("cost>", None, None),
    ],
)
def test_in_the_choice_of_filters_a_condition_may_be_typed(typed, first, count):
    async def script(pilot):
        await press(pilot, "v", *typed)
        assert [each.text for each in choices(pilot)][:1] == ([] if first is None else [first])
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ChooserScreen) == (first is None)
        if count is not None:
            assert pilot.app.screen._outline.mask.count(1) == count

    drive(script)


def test_a_condition_of_the_state_shows_all_rows_at_which_it_holds():
    async def script(pilot):
        await press(pilot, "v", *"where a cond", "enter", *"length(messages) >= 16", "enter")
        outline = pilot.app.screen._outline
        shown = [row for row, is_shown in enumerate(outline.mask) if is_shown]
        session = pilot.app.screen._session
        debugger = pilot.app.screen.loader._debugger
        held = [
            row
            for row in range(len(session))
            if len(debugger.state(row).get("messages", ())) >= 16
        ]
        assert shown == held

    drive(script)


def test_a_condition_that_holds_nowhere_changes_no_filter():
    async def script(pilot):
        await press(pilot, "v", *"where a cond", "enter", *"tool=nothing", "enter")
        assert said(pilot) == "where tool=nothing: no checkpoint"
        assert pilot.app.screen._filter is Filter.DEFAULT

    drive(script)


def test_a_row_that_such_a_filter_hides_is_shown_when_one_goes_there():
    async def script(pilot):
        await press(pilot, "v", *"where a cond", "enter", *"error", "enter")
        await press(pilot, "colon", *"row=12", "enter")
        assert said(pilot) == "all rows are shown: where error hides row 12"
        assert tree(pilot).cursor_row == 11

    drive(script)


def test_answers_to_what_is_no_longer_asked_are_dropped():
    async def script(pilot):
        screen = pilot.app.screen
        await look_for(pilot, "when error")
        old = screen.finder.sought
        await look_for(pilot, "when role=user")
        hits = dict(screen.finder._search.hits)
        late = screen.finder._search.__class__
        assert late is not None
        from tt_debugger.core.search import Found, Hit

        screen.on_searched(Searched(old, Found((Hit(5, "", "late", ""),), 63, 63)))
        assert screen.finder._search.hits == hits
        screen.on_selected(Selected("error", Where("error", b"\1" * 63)))
        assert screen._filter is Filter.DEFAULT

    drive(script, ref="row=3")


def write(path: Path, *texts: str) -> Path:
    rows = [pi(f"e{n}", f"e{n - 1}" if n else None, user(text)) for n, text in enumerate(texts)]
    path.write_bytes(jsonl(PI_HEADER, *rows))
    return path


def test_search_and_filter_go_on_in_what_comes(tmp_path):
    path = write(tmp_path / "s.jsonl", "one", "two", "three")

    def more(*records):
        with path.open("ab") as file:
            file.write(jsonl(*records))

    async def script(pilot):
        screen = pilot.app.screen
        await look_for(pilot, "when role=user")
        await press(pilot, "v", *"where a cond", "enter", *"role=user", "enter")
        assert place(pilot).endswith("all shown")
        more(pi("a3", "e2", assistant("I see")), pi("e4", "a3", user("well")))
        await until(pilot, lambda: len(screen._session) == 5)
        await settled(pilot)
        assert place(pilot) == "row 1/5 · where role=user shows 4"
        await press(pilot, "N")
        assert said(pilot).startswith("when role=user: 4/4 found")
        assert tree(pilot).cursor_row == 4

    drive(script, path)


def test_one_comes_back_to_the_filter_one_left(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "pi.jsonl").write_bytes((SAMPLES / "pi.jsonl").read_bytes())

    async def script(pilot):
        await press(pilot, "enter", "v", *"where a cond", "enter", *"error", "enter")
        assert "where error shows 4" in place(pilot)
        await press(pilot, "q", "enter")
        assert "where error shows 4" in place(pilot)

    drive(script, folder)


def test_what_a_filter_hides_is_found_still_once_the_session_has_grown(tmp_path: Path):
    lines = (SAMPLES / "pi.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "pi.jsonl"
    path.write_bytes(b"".join(lines[:40]))

    async def script(pilot):
        await look_for(pilot, "when error")
        await press(pilot, "V")
        assert pilot.app.screen._filter is Filter.NO_TOOLS
        path.write_bytes(b"".join(lines))
        await until(pilot, lambda: len(pilot.app.screen._session) == len(lines) - 1)
        await until(pilot, lambda: pilot.app.screen.finder.is_done)
        assert pilot.app.screen.finder.said(0) == "when error: 4 found (n N next, Esc ends)"

    drive(script, path, ref="row=3")
