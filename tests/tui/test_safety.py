"""The second wall: whatever a widget draws, nothing in it acts on the terminal."""

import asyncio

import pytest
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.color import Color
from textual.widgets import DataTable, Label, OptionList, Static, Tree

from tt_debugger.tui.safety import SafetyFilter

PAYLOADS = {
    "osc 52": "\x1b]52;c;U0VDUkVU\x07",
    "title": "\x1b]0;pwned\x07",
    "osc 8": "\x1b]8;;http://e.invalid\x1b\\x\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "c1 csi": "\x9b2J",
    "c1 osc": "\x9d52;c;eA==\x9c",
    "dcs": "\x1bP1$r0m\x1b\\",
    "apc": "\x1b_Gf=100\x1b\\",
    "query": "\x1b[6n\x1b[c",
    "carriage return": "good\rbad",
    "backspace": "abc\x08\x08\x08xyz",
    "unterminated osc": "\x1b]0;never ended",
    "reset": "\x1bc\x1b[?1049l",
    "shift out": "\x0eabc\x0f",
    "nul": "a\x00b",
    "bidi": "a\u202eb\u202c",
    "zero width": "a\u200bb\ufeffc",
    "tags": "a\U000e0041b",
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_the_filter_makes_every_payload_visible(payload):
    wall = SafetyFilter()
    segments = wall.apply([Segment(f"before {payload} after")], Color(0, 0, 0))
    text = "".join(segment.text for segment in segments)
    assert wall.caught == 1
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert all(character.isprintable() for character in text)


def test_plain_segments_pass_untouched():
    wall = SafetyFilter()
    segments = [Segment("Grüße, 世界 ● │", Style(bold=True))]
    assert wall.apply(segments, Color(0, 0, 0)) is segments
    assert wall.caught == 0


def test_links_are_taken_away():
    wall = SafetyFilter()
    [segment] = wall.apply([Segment("x", Style(link="http://e.invalid"))], Color(0, 0, 0))
    assert segment.style is not None
    assert not segment.style.link


class _Careless(App[None]):
    """An app that hands payloads to widgets as they are, with our filter in place."""

    def __init__(self, payload: str) -> None:
        self.wall = SafetyFilter()
        super().__init__()
        self.payload = payload

    def get_line_filters(self):
        return (self.wall, *super().get_line_filters())

    def compose(self):
        yield Static(Text(self.payload))
        yield Label(Text(self.payload))
        yield OptionList(Text(self.payload))
        tree = Tree(Text(self.payload))
        tree.root.add_leaf(Text(self.payload))
        yield tree
        table = DataTable()
        table.add_column(Text(self.payload))
        table.add_row(Text(self.payload))
        yield table


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_no_widget_of_textual_gets_a_payload_past_the_filter(payload):
    app = _Careless(payload)

    async def run() -> str:
        async with app.run_test(size=(80, 40)) as pilot:
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            return "".join(segment.text for strip in strips for segment in strip)

    text = asyncio.run(run())
    assert all(character.isprintable() for character in text)
