#!/usr/bin/env python3
"""Makes the pictures beside this file: the sample session on screens of three sizes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from textual.pilot import Pilot

from tt_debugger.core.refs import parse_fragment
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.app import TtdbgApp
from tt_debugger.tui.screens.timeline import TimelineScreen

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "sample_sessions" / "pi.jsonl"
TITLE = "ttdbg open sample_sessions/pi.jsonl"

SHOTS = (
    ("timeline-80x24", (80, 24), "row=20", ()),
    ("timeline-120x36", (120, 36), "row=22", ()),
    ("timeline-160x50", (160, 50), "@", ()),
    ("state-120x36", (120, 36), "row=50", ("3", "tab", "enter")),
    ("help-80x24", (80, 24), "@", ("question_mark",)),
)
"""Name, size in columns and rows, where the cursor stands, and keys pressed before the picture."""


async def picture(size: tuple[int, int], ref: str, keys: tuple[str, ...]) -> str:
    """Give the screen as SVG once everything is read."""
    app = TtdbgApp(str(SAMPLE), parse_fragment(ref))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
        await settled(pilot)
        return app.export_screenshot(title=TITLE)


async def settled(pilot: Pilot[TtdbgError]) -> None:
    """Wait until the Timeline shows what was asked for."""
    shown = False
    while not shown:
        await pilot.pause()
        timelines = [each for each in pilot.app.screen_stack if isinstance(each, TimelineScreen)]
        is_idle = all(worker.is_finished for worker in pilot.app.workers)
        shown = is_idle and bool(timelines) and timelines[0].is_settled
    await pilot.pause()


def without_fonts(svg: str) -> str:
    """Give the picture without fonts from elsewhere and with the same names on every run."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    return re.sub(r"terminal-\d+", "terminal", svg)


def main() -> None:
    """Write all pictures."""
    for name, size, ref, keys in SHOTS:
        svg = without_fonts(asyncio.run(picture(size, ref, keys)))
        (HERE / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
