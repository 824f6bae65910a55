"""The Statistics screen: what it shows, how one moves in it, and where it leads."""

import pytest
from tui.driving import SAMPLES, drive, place, press, said, seen, tree

from tt_debugger.tui.screens.stats import StatsScreen
from tt_debugger.tui.screens.timeline import TimelineScreen

CODEX = SAMPLES / "codex.jsonl"
COUNTS = "50 checkpoints, 2 branches, 43 messages, 14 tool calls, 4 errors"
SIZES = [(40, 12), (80, 24), (160, 50)]


def lines(pilot) -> list[str]:
    """Give all lines, in view or not."""
    return pilot.app.screen.lines.plain_lines


async def to_line(pilot, begin: str) -> None:
    """Put the cursor on the line that begins so."""
    place = next(n for n, line in enumerate(lines(pilot)) if line.startswith(begin))
    await press(pilot, "g")
    while pilot.app.screen.lines.cursor_place < place:
        await press(pilot, "j")


async def places(pilot, key: str) -> list[int]:
    """Give where the cursor is, and where a key takes it one time after the other."""
    found = [pilot.app.screen.lines.cursor_place]
    while True:
        await press(pilot, key)
        if pilot.app.screen.lines.cursor_place == found[-1]:
            return found
        found.append(pilot.app.screen.lines.cursor_place)


@pytest.mark.parametrize("size", SIZES)
def test_t_shows_the_statistics_of_all_bodies_in_every_size(size):
    async def script(pilot):
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, StatsScreen)
        assert place(pilot) == "statistics"
        assert (
            lines(pilot)[0] == "50 checkpoints, 2 branches, 43 messages, 14 tool calls, 4 errors"
        )
        assert any(line.startswith("loop: exec_command") for line in lines(pilot))
        assert not any("by the index alone" in line for line in lines(pilot))
        assert lines(pilot)[0][: size[0] - 2] in seen(pilot)
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, TimelineScreen)

    drive(script, CODEX, size=size)


def test_the_lines_are_those_of_the_command_line(capsys):
    from tt_debugger.cli.main import main

    async def script(pilot):
        await press(pilot, "t")
        shown.extend(lines(pilot))

    shown: list[str] = []
    drive(script, CODEX, size=(82, 24))
    main(["log", "--stat", str(CODEX)])
    assert shown == capsys.readouterr().out.splitlines()


def test_enter_goes_to_the_leaf_of_a_branch_the_longest_of_a_tool_and_where_a_loop_begins():
    async def script(pilot):
        for begin, row in (("exec_command", 41), ("row 28", 27), ("loop:", 13)):
            await press(pilot, "t")
            await to_line(pilot, begin)
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, TimelineScreen)
            assert tree(pilot).cursor_row == row
        await press(pilot, "alt+left")
        assert tree(pilot).cursor_row == 27

    drive(script, CODEX)


def test_other_lines_lead_nowhere_and_say_so():
    async def script(pilot):
        await press(pilot, "t", "enter")
        assert isinstance(pilot.app.screen, StatsScreen)
        assert said(pilot) == "only branches, tools and loops lead to a row"

    drive(script, CODEX)


def test_the_cursor_goes_to_both_ends_and_by_pages_and_stays_in_view():
    async def script(pilot):
        await press(pilot, "t", "G")
        last = lines(pilot).index("tokens over time, altogether")
        assert pilot.app.screen.lines.cursor_place == last
        assert lines(pilot)[last] in seen(pilot)
        assert lines(pilot)[-1].strip() in seen(pilot)
        await press(pilot, "j")
        assert pilot.app.screen.lines.cursor_place == last
        await press(pilot, "pageup")
        assert 0 < pilot.app.screen.lines.cursor_place < last
        await press(pilot, "g", "k")
        assert pilot.app.screen.lines.cursor_place == 0

    drive(script, CODEX, size=(80, 24))


def test_the_cursor_passes_blank_lines_and_pictures_both_ways():
    async def script(pilot):
        await press(pilot, "t")
        found = lines(pilot)
        down = await places(pilot, "j")
        passed = set(range(down[-1])) - set(down)
        assert [found[place] for place in down[-3:]] == [
            next(line for line in found if line.startswith("loop:")),
            "context in tokens, over all rows; ◆ 1 compaction",
            "tokens over time, altogether",
        ]
        pictures = range(down[-2] + 1, down[-1])
        assert passed == {n for n, line in enumerate(found) if not line} | set(pictures)
        assert await places(pilot, "k") == down[::-1]

    drive(script, CODEX, size=(80, 24))


def test_another_width_draws_the_pictures_anew():
    async def script(pilot):
        await press(pilot, "t")
        narrow = max(map(len, lines(pilot)))
        await pilot.resize_terminal(160, 40)
        await press(pilot, "g")
        assert narrow <= 78 < max(map(len, lines(pilot))) <= 158

    drive(script, CODEX, size=(80, 24))


def test_without_colour_and_in_ascii_it_is_all_there():
    environment = {"TERM": "xterm-256color", "NO_COLOR": "1", "LANG": "C", "LC_ALL": "C"}

    async def script(pilot):
        await press(pilot, "t")
        assert all(line.isascii() for line in lines(pilot))
        assert any("####" in line for line in lines(pilot))

    drive(script, CODEX, size=(80, 24), environment=environment)
