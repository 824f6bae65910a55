"""Driving the app in tests: open it, wait until it has shown what was asked for, press keys."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.screens.timeline import TimelineScreen

SAMPLES = Path(__file__).parents[2] / "sample_sessions"
Script = Callable[[Pilot], Awaitable[None]]


def drive(script: Script, path=SAMPLES / "pi.jsonl", ref="", size=(120, 36)) -> TtdbgApp:
    """Run a script against the app once its first screen is read."""
    app = TtdbgApp(str(path), parse_fragment(ref) if ref else Fragment())

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await script(pilot)

    asyncio.run(run())
    return app


async def settled(pilot: Pilot) -> None:
    """Wait until no worker runs and the Timeline shows what was asked for, or the app ends."""
    app = pilot.app
    while True:
        await pilot.pause()
        timelines = [screen for screen in app.screen_stack if isinstance(screen, TimelineScreen)]
        is_idle = all(worker.is_finished for worker in app.workers)
        if app._exit or (is_idle and timelines and timelines[0].is_settled):
            await pilot.pause()
            return


async def press(pilot: Pilot, *keys: str) -> None:
    """Press keys and wait for what they lead to."""
    await pilot.press(*keys)
    await settled(pilot)
