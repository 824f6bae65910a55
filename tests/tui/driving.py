"""Driving the app in tests: open it, wait until it has shown what was asked for, press keys."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.formats import is_session
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.choice_list import Choice, ChoiceList
from tt_debugger.tui.widgets.inspector import Inspector
from tt_debugger.tui.widgets.lines import Lines

SAMPLES = Path(__file__).parents[2] / "sample_sessions"
TERMINAL = {"TERM": "xterm-256color"}
Script = Callable[[Pilot], Awaitable[None]]


def drive(
    script: Script, path=SAMPLES / "pi.jsonl", ref="", size=(120, 36), environment=TERMINAL
) -> TtdbgApp:
    """Run a script against the app once its first screen is read."""
    app = TtdbgApp(
        str(path),
        parse_fragment(ref) if ref else Fragment(),
        environment,
        shows_sessions=Path(path).is_dir() and not is_session(str(path)),
    )

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await script(pilot)

    asyncio.run(run())
    return app


async def settled(pilot: Pilot) -> None:
    """Wait until no worker runs and our screens show what was asked for, or the app ends."""
    app = pilot.app
    while True:
        await pilot.pause()
        ours = [screen for screen in app.screen_stack if hasattr(screen, "is_settled")]
        is_idle = all(worker.is_finished for worker in app.workers)
        if app._exit or (is_idle and ours and all(screen.is_settled for screen in ours)):
            await pilot.pause()
            return


async def press(pilot: Pilot, *keys: str) -> None:
    """Press keys and wait for what they lead to."""
    await pilot.press(*keys)
    await settled(pilot)


def tree(pilot: Pilot) -> CheckpointTree:
    """Give the tree of the Timeline that is seen."""
    return pilot.app.screen.query_one(CheckpointTree)


def inspector(pilot: Pilot) -> Inspector:
    """Give the inspector of the Timeline that is seen."""
    return pilot.app.screen.query_one(Inspector)


def inspector_text(pilot: Pilot) -> str:
    """Give the text of the tab that is seen."""
    pane = inspector(pilot).pane
    assert isinstance(pane, Lines)
    return "\n".join(pane.plain_lines)


def said(pilot: Pilot) -> str:
    """Give what the bar at the bottom says in place of the keys."""
    return pilot.app.screen.query_one(BottomBar).said


def place(pilot: Pilot) -> str:
    """Give where one is, as the bar at the top tells it."""
    return pilot.app.screen.query_one(TopBar)._right.strip()


def seen(pilot: Pilot) -> str:
    """Give all that the screen shows."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


def choices(pilot: Pilot) -> list[Choice]:
    """Give what the chooser on the screen offers."""
    return list(pilot.app.screen.query_one(ChoiceList)._choices)
