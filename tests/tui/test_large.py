"""A large file: its newest checkpoints are seen at once, and one stays where one went."""

import asyncio
import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui.driving import (
    TERMINAL,
    inspector,
    inspector_text,
    place,
    press,
    said,
    seen,
    settled,
    tree,
)
from tui.test_timeline import write_pi

from tt_debugger import debugger as debugger_module
from tt_debugger.core.filters import Filter
from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.formats.shared import jsonl as jsonl_module
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.loader import RowGlimpsed
from tt_debugger.tui.widgets.inspector import Waiting
from tt_debugger.tui.widgets.lines import Lines


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large: 300 messages, of which the tail has about 20."""
    monkeypatch.setattr(jsonl_module, "LARGE", 20_000)
    monkeypatch.setattr(jsonl_module, "TAIL", 3_000)
    return write_pi(tmp_path / "large.jsonl", *(f"message number {n}" for n in range(300)))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What lets the whole session be read."""
    opened = threading.Event()
    load = Debugger.open.__func__

    def wait_and_open(cls, *arguments):
        assert opened.wait(60)
        return load(cls, *arguments)

    monkeypatch.setattr(Debugger, "open", classmethod(wait_and_open))
    return opened


async def glimpsed(pilot: Pilot) -> None:
    """Wait until the tail is seen."""
    while not {"message number 299", "the newest"} <= set(words(pilot)):
        await pilot.pause(0.01)


def words(pilot: Pilot) -> list[str]:
    """Give which of the words that tell of a tail are seen."""
    screen = seen(pilot)
    return [each for each in ("message number 299", "the newest") if each in screen]


def drive(path: Path, script, fragment=None) -> None:
    app = TtdbgApp(str(path), fragment or Fragment(), TERMINAL)

    async def run() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            await script(pilot)

    asyncio.run(run())


def test_the_newest_checkpoints_are_seen_while_the_others_are_read(path, gate):
    async def script(pilot):
        await glimpsed(pilot)
        assert " 300 ●" not in seen(pilot)
        assert "Its state is told when the rest is read." in inspector_text(pilot)

        gate.set()
        await settled(pilot)
        assert tree(pilot).cursor_row == 299
        assert "300 ●" in seen(pilot)
        assert place(pilot).startswith("row 300/300")
        assert "+ messages[299]" in inspector_text(pilot)

    drive(path, script)


def test_where_one_went_meanwhile_one_stays(path, gate):
    async def script(pilot):
        await glimpsed(pilot)
        await pilot.press("k", "k", "k")
        await pilot.pause()
        assert "message number 296" in inspector_text(pilot)

        gate.set()
        await settled(pilot)
        assert tree(pilot).cursor_row == 296
        assert "message number 296" in inspector_text(pilot)

    drive(path, script)


def test_keys_that_need_the_whole_session_do_no_harm_meanwhile(path, gate):
    async def script(pilot):
        await glimpsed(pilot)
        for key in "/:nNvVhlHLe]}cumyJKaA'":
            await pilot.press(key)
            await pilot.pause()
        assert len(pilot.app.screen_stack) == 1 or await escaped(pilot)
        gate.set()
        await settled(pilot)
        await press(pilot, "G")
        assert tree(pilot).cursor_row == 299

    async def escaped(pilot) -> bool:
        while len(pilot.app.screen_stack) > 2:
            await pilot.press("escape")
            await pilot.pause()
        return True

    drive(path, script)


def test_no_row_of_the_tail_is_taken_for_one_of_the_session(path, gate):
    async def script(pilot):
        await glimpsed(pilot)
        await pilot.press("m", "V", "h", "l", "k", "m")
        await pilot.pause()
        assert len(pilot.app.screen_stack) == 1
        gate.set()
        await settled(pilot)
        assert (tree(pilot).cursor_row, pilot.app.screen._filter) == (298, Filter.DEFAULT)
        await press(pilot, "m", "a")
        assert "row 299 is marked" in said(pilot)
        await press(pilot, "g", "alt+left")
        assert tree(pilot).cursor_row == 298

    drive(path, script)


def test_a_ref_is_waited_for(path, gate):
    async def script(pilot):
        await pilot.pause(0.2)
        assert "message number 299" not in seen(pilot)
        gate.set()
        await settled(pilot)
        assert tree(pilot).cursor_row == 4

    drive(path, script, parse_fragment("row=5"))


def test_before_a_state_that_takes_a_while_its_last_messages_are_seen(path, monkeypatch):
    monkeypatch.setattr(debugger_module, "FAR", 10)

    async def script(pilot):
        await settled(pilot)
        screen = pilot.app.screen
        inspector(pilot).update_from(Waiting(screen._session, 250))
        screen._wanted = 250
        screen.on_row_glimpsed(RowGlimpsed(250, ({"role": "user", "content": "soon"},)))
        await pilot.pause()
        text = inspector_text(pilot)
        assert "the last messages up to here" in text
        assert "soon" in text
        assert isinstance(inspector(pilot).pane, Lines)

    drive(path, script)


def test_the_end_of_a_state_is_told_before_the_whole_where_the_way_to_it_is_long(
    path, monkeypatch
):
    monkeypatch.setattr(debugger_module, "FAR", 10)
    with Debugger.open(str(path)) as opened:
        assert opened.is_far(200)
        recent = opened.recent(200, 2)
        assert [each["content"][0]["text"] for each in recent] == [
            "message number 199",
            "message number 200",
        ]
        assert opened.state(200)["messages"][-2:] == recent
        assert not opened.is_far(200)
        assert not opened.is_far(3)
