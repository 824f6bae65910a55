"""The backends of a recorder, each with a place of its own for a test, and entries to put there.

A new backend is a line in `BACKENDS`; the conformance suite runs on it by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from repositories import Made
from servers import Postgres, Redis

from tt_debugger.core.changes import Append, Drop, Put, Snapshot, Splice
from tt_debugger.core.model import Usage
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    BranchSummarised,
    Changed,
    Compacted,
    EffectNoted,
    Entry,
    Failure,
    Forked,
    HandedOff,
    Header,
    Labelled,
    Migration,
    Recovered,
    Said,
    Snapshotted,
)
from tt_debugger.record.backends.git import GitLog
from tt_debugger.record.backends.jsonl import JsonlLog
from tt_debugger.record.backends.memory import MemoryLog
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.postgres import PostgresLog
from tt_debugger.record.backends.redis import RedisLog
from tt_debugger.record.backends.snapshot import SnapshotLog
from tt_debugger.record.backends.sqlite import SqliteLog
from tt_debugger.store import Records

Place = Callable[[pytest.FixtureRequest, Path], str]
"""Gives the location of a log that is not there yet, in a folder or on a server of the test."""


class Backend(msgspec.Struct, frozen=True):
    """A backend: how it is opened, and where.

    `stays` where it outlives being closed, `has_sessions` where a location has several of them,
    `has_tenants` where these are kept apart. `knows_outcome` where it is always known whether an
    append was done, so that nothing is ever given again that is there.
    """

    open: Callable[[str, Options], Records]
    place: Place
    stays: bool = True
    has_sessions: bool = False
    has_tenants: bool = False
    knows_outcome: bool = False


def _in_folder(name: str) -> Place:
    return lambda _request, folder: str(folder / name)


def _repository(_request: pytest.FixtureRequest, folder: Path) -> str:
    return f"git:{Made(folder / 'repository').folder}"


def _redis(request: pytest.FixtureRequest, _folder: Path) -> str:
    server: Redis = request.getfixturevalue("redis_server")
    with server.client(_REDIS) as client:
        client.flushdb()
    return server.address(_REDIS)


def _postgres(request: pytest.FixtureRequest, _folder: Path) -> str:
    server: Postgres = request.getfixturevalue("postgres")
    return server.made()


_REDIS = 8
"""The number of a database that nothing else uses."""


BACKENDS: dict[str, Backend] = {
    "memory": Backend(
        MemoryLog.open, lambda _request, _folder: "memory:", stays=False, knows_outcome=True
    ),
    "jsonl": Backend(JsonlLog.open, _in_folder("run.jsonl"), knows_outcome=True),
    "sqlite": Backend(
        SqliteLog.open,
        lambda _request, folder: f"sqlite:///{folder}/run.db",
        has_sessions=True,
        has_tenants=True,
    ),
    "postgres": Backend(PostgresLog.open, _postgres, has_sessions=True, has_tenants=True),
    "git": Backend(GitLog.open, _repository, has_sessions=True),
    "snapshot": Backend(SnapshotLog.open, _in_folder("state.json")),
    "redis": Backend(RedisLog.open, _redis, has_sessions=True, has_tenants=True),
}

HEADER = Header("main", "2026-01-01T00:00:00Z", title="a run")


def time_at(second: int) -> str:
    """Give the time of an entry."""
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"


def start(state: object = None, name: str = "e0") -> Snapshotted:
    """Give the entry with which a log begins."""
    return Snapshotted(name, None, time_at(0), state=state or {"messages": []}, why="start")


def changed(number: int, *, parent: str | None = None) -> Changed:
    """Give a step that puts its own number; its parent is the entry before, unless another is."""
    above = parent or f"e{number - 1}"
    return Changed(f"e{number}", above, time_at(number), changes=(Put(("n",), number),))


def some(count: int) -> list[Entry]:
    """Give a start and steps behind it, `count` entries together."""
    return [start(), *(changed(number) for number in range(1, count))]


EVERY: tuple[Entry, ...] = (
    Snapshotted(
        "s0",
        None,
        time_at(0),
        state={"messages": [], "n": 1.5, "big": 2**60, "none": None, "": {"": []}},
        version=3,
        effects=(Effect("k0", Status.DONE, "before", "mail", "ab", {"sent": True}),),
        migration=Migration(2, 3, ("rename",), ("n",), ("m",)),
        why="migration",
    ),
    Changed(
        "s1",
        "s0",
        time_at(1),
        name="plan",
        tool="search",
        event="plan",
        usage=Usage(1, 2, 3, 4, 10, 0.25),
        changes=(
            Put(("plan",), [1, "two"]),
            Append(("plan",), {"three": 3}),
            Splice(("plan",), 0, 1, ("one", "and a half")),
            Drop(("plan", 0)),
            Snapshot({"messages": []}),
        ),
    ),
    Said("s2", "s1", time_at(2), message={"role": "user", "content": "hi"}),
    Compacted("s3", "s2", time_at(3), replaces=("s2",), count=1, message={"role": "user"}),
    BranchSummarised("s4", "s1", time_at(4), branch="s3", message={"role": "assistant"}),
    Labelled("s5", "s4", time_at(5), target="s2", label="before"),
    Labelled("s6", "s5", time_at(6), target="s2"),
    EffectNoted("s7", "s6", time_at(7), tool="mail", event="effect", key="k1", input_hash="0c"),
    EffectNoted("s8", "s7", time_at(8), key="k1", phase="begun"),
    EffectNoted(
        "s9",
        "s8",
        time_at(9),
        key="k1",
        phase="done",
        result={"b": 1, "a": "ü"},
        changes=(Put(("sent",), value=True),),
    ),
    Forked("s10", "s1", time_at(10), note="again"),
    Changed("s11", "s10", time_at(11), event="error", failure=Failure("ValueError", "no")),
    HandedOff(
        "s12",
        "s11",
        time_at(12),
        path="h.md",
        text="# next\n",
        digest="d",
        next_step="go on",
        blockers=("b",),
        decisions=("c", "d"),
    ),
    Recovered("s13", "s12", time_at(13), dropped=12, digest="ff"),
)
"""An entry of every type, with every field that it can have."""
