"""What the crash states of a traced run are, and which of them are not allowed."""

from __future__ import annotations

from collections.abc import Callable, Collection

import crash_states
import msgspec
from crash_states import Named, Step, Traced
from record.crash_runs import MARK, Files, Stage, rank

Asked = tuple[str, str | None]
"""The name of a run, and the bug of the log."""
Acked = tuple[Traced, tuple[Stage, ...]]
"""What was done in a folder, and what had been acknowledged after each number of steps."""


def acked(traced: Traced) -> Acked:
    """Take the marks out of what was done."""
    steps: list[Step] = []
    stages: list[Stage] = [None]
    for each in traced.steps:
        if isinstance(each, Named) and each.gains and each.gains.startswith(MARK):
            stages[-1] = int(each.gains.removeprefix(MARK))
            continue
        steps.append(each)
        stages.append(stages[-1])
    return msgspec.structs.replace(traced, steps=steps), tuple(stages)


def flaws(
    done: Acked, allowed: Collection[Stage], gone_on: Callable[[Files], Stage | str]
) -> tuple[set[Stage], list[object]]:
    """Give the stages that were met, and the states that are not allowed.

    `gone_on` opens a log as a crash has left it; it gives the stage, or in words what is wrong.
    """
    traced, acknowledged = done
    met: set[Stage] = set()
    bad: list[object] = []
    told: dict[frozenset[tuple[str, bytes]], Stage | str] = {}
    for count, state in crash_states.crash_states(traced, holes=True):
        key = frozenset(state.items())
        if key not in told:
            told[key] = gone_on(state)
        stage = told[key]
        if isinstance(stage, str) or stage not in allowed:
            bad.append((count, stage, state))
            continue
        met.add(stage)
        if rank(stage) < rank(acknowledged[count]):
            bad.append((count, "lost", stage, acknowledged[count], state))
    return met, bad
