"""Driving the app in tests: open it, wait until it has shown what was asked for, press keys."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.tui.app import TtdbgApp

SAMPLES = Path(__file__).parents[2] / "sample_sessions"
TERMINAL = {"TERM": "xterm-256color"}
Script = Callable[[Pilot], Awaitable[None]]


def drive(
    script: Script, path=SAMPLES / "pi.jsonl", ref="", size=(120, 36), environment=TERMINAL
) -> TtdbgApp:
    """Run a script against the app once its first screen is read."""
    app = TtdbgApp(str(path), parse_fragment(ref) if ref else Fragment(), environment)

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
