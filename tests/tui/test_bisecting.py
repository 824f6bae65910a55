"""Bisecting on the Timeline: by hand and by a condition, what is drawn, and how it ends."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import PI_HEADER, jsonl, pi, user
from textual.pilot import Pilot
from tui.driving import SAMPLES, drive, press, said, seen, settled, tree
from writers import append, in_place

from tt_debugger.core.bisect import Bisection, Stand, Verdict
from tt_debugger.errors import CannotReadError
from tt_debugger.tui.bisecting import Bisected
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.range_line import RangeLine

BY_HAND = ("B", "enter")
SMALL = (80, 24)


def entries(first: int, behind: int) -> bytes:
    """Give entries of a file, each hung on the one before: e1, e2 ... in rows 1, 2 ..."""
    numbers = range(first, behind)
    return jsonl(
        *(pi(f"e{n}", f"e{n - 1}" if n > 1 else None, user(f"said {n}")) for n in numbers)
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(PI_HEADER) + entries(1, 33))
    return path


def row(pilot: Pilot) -> int:
    """Give the number of the row under the cursor."""
    return tree(pilot).cursor_row + 1


def standing(pilot: Pilot) -> str:
    return pilot.app.screen.query_one(BottomBar).standing


def range_line(pilot: Pilot) -> str:
    line = pilot.app.screen.query_one(RangeLine)
    return "".join(segment.text for segment in line.render_line(0)) if line.display else ""


def line_of(pilot: Pilot, number: int) -> str:
    """Give the line of a row as it is seen."""
    return next(each for each in seen(pilot).split("\n") if each[:4].strip(" ▌") == str(number))


async def until_row(pilot: Pilot, count: int) -> None:
    """Wait until the session is seen with so many rows."""
    end = time.monotonic() + 60
    while len(pilot.app.screen._session) != count:
        assert time.monotonic() < end
        await pilot.pause(0.01)
    await settled(pilot)


def test_by_hand_the_cursor_goes_to_each_row_to_be_tested_until_the_first_bad_one(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, "g", *BY_HAND)
        visited = [row(pilot)]
        assert standing(pilot) == (
            "bisect: 32 of 32 left, about 6 tests: + bad, - good, 0 skip, Esc ends"
        )
        while "Esc ends" in standing(pilot) and "tested" not in standing(pilot):
            await press(pilot, "plus" if row(pilot) >= 11 else "minus")
            visited.append(row(pilot))

        assert visited == [32, 16, 8, 12, 10, 11, 11]
        assert standing(pilot) == (
            "bisect: row 11 is the first bad one (6 of 32 tested); Esc ends"
        )

    drive(script, path)


@pytest.mark.parametrize("size", [SMALL, (160, 50)], ids=str)
def test_what_is_known_is_drawn_in_the_graph_and_in_the_tree(path: Path, size):
    async def script(pilot: Pilot) -> None:
        assert range_line(pilot) == ""
        await press(pilot, *BY_HAND, "plus", "minus", "0")
        assert row(pilot) == 23
        assert standing(pilot).startswith("bisect: 16 of 32 left, about 4 tests: ")
        line = range_line(pilot)
        half = len(line) // 2
        assert line.strip("- ").startswith("good -")
        assert line.strip("? ").endswith("? 16 left")
        assert set(line[:half]) == set("- god")
        assert set(line[half + 1 :]) == set("? 16left")
        if size != SMALL:
            assert "- good" in line_of(pilot, 16)
        assert "- " not in line_of(pilot, 22)
        assert "? to test" in line_of(pilot, 23)
        assert "0 skipped" in line_of(pilot, 24)
        await press(pilot, "plus")
        assert "+ bad" in line_of(pilot, 23)
        if size != SMALL:
            assert "+ " in line_of(pilot, 25)
            assert "bad" not in line_of(pilot, 25)
        assert range_line(pilot).split()[-1].strip("+") == ""

    drive(script, path, size=size)


@pytest.mark.parametrize(
    ("location", "lines"),
    [(SAMPLES / "pi.jsonl", 3), (SAMPLES / "checkpoints.sqlite", 2)],
    ids=["with tokens", "without"],
)
def test_in_a_low_terminal_the_graph_leaves_the_tree_its_room(location: Path, lines: int):
    async def script(pilot: Pilot) -> None:
        height = tree(pilot).size.height
        await press(pilot, "w", *"length(messages)", "enter", *BY_HAND)
        assert tree(pilot).size.height == height - lines
        scrubber = pilot.app.screen.scrubber
        assert "no token counts" not in seen(pilot)
        marks = scrubber.render_line(scrubber.size.height - 1).text
        assert "▲" in marks
        await press(pilot, "escape")
        assert tree(pilot).size.height == height

    drive(script, location, size=SMALL)


def test_any_row_of_the_branch_may_be_judged_and_a_verdict_changed(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "g", "j", "j", "minus")
        assert row(pilot) == 32
        await press(pilot, "p", "p", "plus")
        assert standing(pilot).startswith("bisect: 27 of 32 left, about 5 tests: ")
        await press(pilot, "colon", *"row=30", "enter", "minus")
        # The last one is not judged yet.
        assert standing(pilot).startswith("bisect: 2 of 32 left, about 2 tests: ")

    drive(script, path)


def test_what_cannot_be_is_said_and_nothing_changes(path: Path):
    append(path, jsonl(pi("aside", "e3", user("aside"))))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "plus")
        assert said(pilot) == "no bisect is on; B begins one"
        await press(pilot, "colon", *"row=20", "enter", *BY_HAND)
        before = standing(pilot)
        await press(pilot, "colon", *"row=33", "enter", "plus")
        assert said(pilot) == "row 33 is not on the path to row 32"
        assert standing(pilot) == before
        await press(pilot, "colon", *"row=20", "enter", "plus")
        await press(pilot, "colon", *"row=25", "enter", "minus")
        assert said(pilot) == "row 20 is bad, but row 25 behind it good"
        assert "- good" not in line_of(pilot, 25)
        await press(pilot, "j")
        assert said(pilot) == ""

    drive(script, path)


def test_where_the_last_row_is_good_there_is_nothing_to_look_for(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "minus")
        assert standing(pilot) == (
            "bisect: row 32, the last one, is no bad one (1 of 32 tested); Esc ends"
        )

    drive(script, path)


def test_skipped_rows_before_a_bad_one_are_named(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "plus")
        while "tested" not in standing(pilot):
            key = {10: "0", 11: "0"}.get(row(pilot), "plus" if row(pilot) > 9 else "minus")
            await press(pilot, key)
        assert "the first bad one is among rows 10, 11, 12: all but the last" in standing(pilot)
        assert row(pilot) == 12
        assert "0 skipped" in line_of(pilot, 10)

    drive(script, path)


def test_escape_ends_it_and_takes_away_what_it_drew(path: Path):
    async def script(pilot: Pilot) -> None:
        before = seen(pilot)
        await press(pilot, *BY_HAND, "plus", "G", "escape")
        assert standing(pilot) == ""
        assert range_line(pilot) == ""
        assert seen(pilot) == before

    drive(script, path, size=SMALL)


def test_a_search_is_ended_before_a_bisect_is(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "slash", *"said 7", "enter")
        assert row(pilot) == 7
        await press(pilot, "escape")
        assert standing(pilot)
        await press(pilot, "escape")
        assert not standing(pilot)

    drive(script, path)


def test_a_fold_is_not_judged(path: Path):
    append(path, jsonl(*(pi(f"x{n}", f"x{n - 1}" if n else "e3", user("x")) for n in range(3))))

    async def script(pilot: Pilot) -> None:
        await press(pilot, "colon", *"row=20", "enter", *BY_HAND, "H", "g")
        while tree(pilot).cursor_fold is None:
            await press(pilot, "j")
        before = standing(pilot)
        await press(pilot, "plus")
        assert said(pilot) == "a fold is many rows; l unfolds it"
        assert standing(pilot) == before

    drive(script, path)


def test_it_goes_on_where_the_session_grows(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "plus")
        append(path, entries(33, 37))
        await until_row(pilot, 36)
        assert standing(pilot).startswith("bisect: 32 of 32 left, about 5 tests: ")
        assert row(pilot) == 16
        await press(pilot, "minus")
        assert standing(pilot).startswith("bisect: 16 of 32 left")
        assert "16 left" in range_line(pilot)
        # What came is on no path that is looked at.
        assert range_line(pilot).endswith("  ")

    drive(script, path)


def test_it_ends_where_the_session_is_another_one(path: Path):
    async def script(pilot: Pilot) -> None:
        await press(pilot, *BY_HAND, "plus")
        in_place(path, jsonl(PI_HEADER) + entries(40, 45))
        await until_row(pilot, 5)
        assert standing(pilot) == range_line(pilot) == ""

    drive(script, path)


# By a condition


async def asked(pilot: Pilot, condition: str) -> None:
    """Ask from where on a condition holds."""
    await press(pilot, "B", *condition, "enter")


def test_a_condition_is_tested_and_the_cursor_goes_where_it_holds_first(path: Path):
    async def script(pilot: Pilot) -> None:
        await asked(pilot, "messages>10")
        assert row(pilot) == 11
        assert standing(pilot) == (
            "bisect: messages>10 holds from row 11 on, if it lasts (6 of 32 tested); Esc ends"
        )
        assert "+ first to hold" in line_of(pilot, 11)
        assert "+ holds" in line_of(pilot, 12)
        await press(pilot, "alt+left")
        assert row(pilot) == 32

    drive(script, path)


def test_what_happens_at_a_checkpoint_is_looked_for_in_order():
    async def script(pilot: Pilot) -> None:
        await asked(pilot, "error")
        assert row(pilot) == 6
        assert "is the first where error holds (6 of 37 tested)" in standing(pilot)

    drive(script)


def test_where_a_condition_holds_nowhere_that_is_said(path: Path):
    async def script(pilot: Pilot) -> None:
        await asked(pilot, "error")
        assert standing(pilot) == (
            "bisect: there is none where error holds (32 of 32 tested); Esc ends"
        )
        await asked(pilot, "messages>100")
        assert standing(pilot) == (
            "bisect: there is none where messages>100 holds (32 of 32 tested); Esc ends"
        )

    drive(script, path)


@pytest.mark.parametrize(
    ("condition", "first", "until", "tested"),
    [
        ("messages>4 and messages<=9", 5, 9, 11),
        ("messages=32 or messages=5", 5, 5, 7),
        ("messages<4", 1, 3, 5),
        ("messages<32", 1, 31, 33),
    ],
)
def test_what_does_not_hold_at_the_last_row_is_looked_for_in_each(
    path: Path, condition: str, first: int, until: int, tested: int
):
    append(path, entries(33, 34))

    async def script(pilot: Pilot) -> None:
        await asked(pilot, condition)
        assert row(pilot) == first
        assert standing(pilot) == (
            f"bisect: row {first} is the first where {condition} holds, until row {until} "
            f"({tested} of 33 tested); Esc ends"
        )
        stands = pilot.app.screen._judged.stands
        above, below = [Stand.GOOD] * (first - 1), [Stand.BAD] * (until - first)
        # Of the rows behind nothing is known.
        assert [*stands] == [*above, Stand.LEFT, *below, *[0] * (33 - until)]

    drive(script, path)


def test_of_the_rows_behind_one_at_which_something_happens_nothing_is_known():
    async def script(pilot: Pilot) -> None:
        await asked(pilot, "error")
        stands = pilot.app.screen._judged.stands
        assert (stands[5], {*stands[6:]}) == (Stand.LEFT, {0})
        assert "+ " not in line_of(pilot, 7)

    drive(script, ref="row=6")


def test_what_is_no_condition_is_said_and_can_be_mended(path: Path):
    async def script(pilot: Pilot) -> None:
        await asked(pilot, "messages>")
        assert "something is missing behind messages>" in seen(pilot)
        await press(pilot, "3", "0", "enter")
        assert row(pilot) == 31

    drive(script, path)


@pytest.mark.parametrize("key", ["+", "-", "0"])
def test_a_key_that_judges_is_not_taken_where_a_condition_is_asked_for(path: Path, key: str):
    async def script(pilot: Pilot) -> None:
        await press(pilot, "B")
        assert "or just Enter: you judge row by row" in seen(pilot)
        await press(pilot, key, "enter")
        assert "leave this empty: Enter first, then + and -" in seen(pilot)
        await press(pilot, "backspace", "enter")
        assert standing(pilot).startswith("bisect: 32 of 32 left")

    drive(script, path)


def test_an_answer_that_nobody_waits_for_any_more_changes_nothing(path: Path):
    async def script(pilot: Pilot) -> None:
        screen = pilot.app.screen
        questions = []
        screen.loader.bisect = questions.append
        await pilot.press("B", *"messages>10", "enter")
        await pilot.pause()
        assert standing(pilot) == "bisect messages>10: testing; Esc ends"
        await pilot.press("escape")
        await pilot.pause()
        screen.post_message(Bisected(questions[0], Bisection.of((1, 2)).told(1, Verdict.BAD), 1))
        await settled(pilot)
        assert (standing(pilot), row(pilot)) == ("", 32)

    drive(script, path)


def test_a_condition_that_cannot_be_tested_is_told(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> bool:
        raise CannotReadError("cannot read it: it is gone")

    monkeypatch.setattr("tt_debugger.debugger.Debugger.holds", fail)

    async def script(pilot: Pilot) -> None:
        await asked(pilot, "messages>10")
        assert "cannot read it: it is gone" in seen(pilot)
        await press(pilot, "escape")
        assert (standing(pilot), row(pilot)) == ("", 32)

    drive(script, path)
