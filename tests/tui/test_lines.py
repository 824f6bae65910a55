"""The pane of lines: how it wraps, how far it reads, and where it begins."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from rich.console import Console
from rich.text import Text
from textual.app import App, ComposeResult

from tt_debugger.tui.widgets.lines import AHEAD, Lines, wrapped


class Shown(App[None]):
    """Nothing but a pane."""

    def __init__(self, lines: Iterator[Text], top: int) -> None:
        super().__init__()
        self.pane = Lines()
        self.pane.update_from(lines, top)

    def compose(self) -> ComposeResult:
        yield self.pane


def shown(
    lines: Iterator[Text], script: Callable[[Lines, object], Awaitable[None]], top: int = 0
) -> None:
    async def run() -> None:
        app = Shown(lines, top)
        async with app.run_test(size=(21, 10)) as pilot:
            await pilot.pause()
            await script(app.pane, pilot)

    asyncio.run(run())


def plain(line: str, width: int) -> list[str]:
    return [each.plain.rstrip() for each in wrapped(Text(line), width, Console())]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("one two three", ["one two", "three"]),
        ("  one two three", ["  one two", "  three"]),
        ("• one two three", ["• one two", "  three"]),
        ("│ one two three", ["│ one two", "│ three"]),
        ("12. one two", ["12. one", "    two"]),
        ("- 1. one two", ["- 1. one", "     two"]),
        ("└── • • • • • • x", ["└── • • •", "• • • x"]),
        ("a.b: one two", ["a.b: one", "two"]),
    ],
)
def test_what_a_line_goes_on_with_stands_under_its_words(line, expected):
    assert plain(line, 10) == expected


def test_the_style_of_a_bar_goes_on_with_it():
    line = Text.assemble(("│ ", "red"), ("one two three", "blue"))

    _, second = wrapped(line, 10, Console())

    assert [(second.plain[each.start : each.end], each.style) for each in second.spans] == [
        ("│ ", "red"),
        ("three", "blue"),
    ]


def test_only_the_lines_in_view_and_a_few_ahead_are_taken():
    taken = []

    def lines():
        for number in range(100_000):
            taken.append(number)
            yield Text(str(number))

    async def script(pane, pilot):
        assert len(taken) == 10 + AHEAD
        pane.move_by(5)
        await pilot.pause()
        assert len(taken) == 10 + 5 + AHEAD

    shown(lines(), script)


def test_it_begins_where_it_was_told_even_before_it_is_laid_out():
    async def script(pane, pilot):
        assert pane.scroll_offset.y == 300
        pane.update_from((Text(str(each)) for each in range(1000)), 700)
        await pilot.pause()
        assert pane.scroll_offset.y == 700
        pane.update_from(Text(str(each)) for each in range(1000))
        await pilot.pause()
        assert pane.scroll_offset.y == 0

    shown((Text(str(each)) for each in range(1000)), script, 300)


def test_a_place_beyond_the_end_is_the_end():
    async def script(pane, _pilot):
        assert pane.scroll_offset.y == pane.max_scroll_y == 10

    shown((Text(str(each)) for each in range(20)), script, 300)


def test_the_line_at_the_top_stays_there_when_the_width_changes():
    async def script(pane, pilot):
        pane.move_by(60)
        await pilot.pause()
        before = pane._wrapped[pane.scroll_offset.y].plain
        await pilot.resize_terminal(60, 10)
        await pilot.pause()
        after = pane._wrapped[pane.scroll_offset.y].plain
        assert after.startswith(before.rstrip())
        assert before.startswith("30 ")

    shown((Text(f"{each} some more words than fit") for each in range(500)), script)
