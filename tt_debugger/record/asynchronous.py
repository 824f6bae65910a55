"""The recorder for programs that await: the same, with everything that may wait in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Checkpoint, Usage
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import Entry
from tt_debugger.record.recorder import Recorder
from tt_debugger.record.retention import Retention
from tt_debugger.record.settings import Settings, StepSettings
from tt_debugger.record.step import Step

if TYPE_CHECKING:
    from tt_debugger.core.diff.side_by_side import SideBySide


class AsyncRecorder:
    """A recorder whose methods are awaited; what each gives and raises is told by `Recorder`.

    Steps are used in an `async with` block. Whoever is cancelled while something is written still
    has it written.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    @classmethod
    async def open(cls, location: str, **settings: Unpack[Settings]) -> Self:
        """Open a session to go on with it, or begin one."""
        return cls(await asyncio.to_thread(Recorder.open, location, **settings))

    @property
    def state(self) -> Any:
        """The state now, in the type of its model: a copy."""
        return self.recorder.state

    @property
    def leaf(self) -> str:
        """The id of the last entry of the branch."""
        return self.recorder.leaf

    @property
    def effects(self) -> Mapping[str, Effect]:
        """What is known of each effect of the session."""
        return self.recorder.effects

    @property
    def unsaved(self) -> tuple[Entry, ...]:
        """The entries that are not written yet."""
        return self.recorder.unsaved

    def step(self, name: str = "", **more: Unpack[StepSettings]) -> Step:
        """Give the step that an agent is about to take, to be used in an `async with` block."""
        return self.recorder.step(name, **more)

    async def record(
        self, fields: Mapping[str, Any], name: str = "", **more: Unpack[StepSettings]
    ) -> str:
        """Record a step that is over already."""
        return await asyncio.to_thread(self.recorder.record, fields, name, **more)

    async def save(self, state: Any, name: str = "", **more: Unpack[StepSettings]) -> str:
        """Record that the state is this one now."""
        return await asyncio.to_thread(self.recorder.save, state, name, **more)

    async def message(self, message: Any, *, usage: Usage | None = None) -> str:
        """Record a message."""
        return await asyncio.to_thread(self.recorder.message, message, usage=usage)

    async def compact(self, message: Any, *, first: int = 0, keep_last: int = 0) -> str:
        """Record that messages gave way to one that sums them up."""
        return await asyncio.to_thread(
            self.recorder.compact, message, first=first, keep_last=keep_last
        )

    async def summarise_branch(self, ref: str, message: Any) -> str:
        """Record what came of another branch."""
        return await asyncio.to_thread(self.recorder.summarise_branch, ref, message)

    async def label(self, label: str | None, ref: str | None = None) -> str:
        """Give a checkpoint a name, or take it away again."""
        return await asyncio.to_thread(self.recorder.label, label, ref)

    async def settle(self, key: str, *, done: bool, result: Any = None) -> Effect:
        """Say of an effect whether it happened."""
        return await asyncio.to_thread(self.recorder.settle, key, done=done, result=result)

    async def fork(self, ref: str, note: str | None = None) -> Self:
        """Give a recorder of a new branch."""
        return type(self)(await asyncio.to_thread(self.recorder.fork, ref, note))

    async def handoff(
        self,
        path: str | Path,
        *,
        next_step: str | None = None,
        blockers: tuple[str, ...] = (),
        decisions: tuple[str, ...] = (),
    ) -> str:
        """Leave a handoff to the next session."""
        return await asyncio.to_thread(
            self.recorder.handoff,
            path,
            next_step=next_step,
            blockers=blockers,
            decisions=decisions,
        )

    async def prune(self, retention: Retention) -> int:
        """Forget checkpoints, but for those that are to be kept."""
        return await asyncio.to_thread(self.recorder.prune, retention)

    async def history(self) -> list[Checkpoint]:
        """Give the checkpoints of the session."""
        return await asyncio.to_thread(self.recorder.history)

    async def inspect(self, point: str | datetime) -> State:
        """Give the state at a ref, or as it was at a time."""
        return await asyncio.to_thread(self.recorder.inspect, point)

    async def diff(self, old: str | datetime, new: str | datetime) -> SideBySide:
        """Compare the states and paths at two points."""
        return await asyncio.to_thread(self.recorder.diff, old, new)

    async def replay(
        self, first: str | datetime, last: str | datetime
    ) -> list[tuple[Checkpoint, tuple[Change, ...]]]:
        """Give each checkpoint from one to a later one on its path, with what it changed."""
        return await asyncio.to_thread(lambda: [*self.recorder.replay(first, last)])

    async def flush(self) -> None:
        """Write all that is not written yet."""
        await asyncio.shield(asyncio.to_thread(self.recorder.flush))

    async def close(self) -> None:
        """Write all that is not written yet, and let go of the log."""
        await asyncio.shield(asyncio.to_thread(self.recorder.close))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
