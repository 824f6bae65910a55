"""Rows of LangGraph's SQLite checkpointer, written without it: sound ones, and any others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

CHECKPOINTS = """
create table checkpoints (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id)
);
"""
WRITES = """
create table writes (
    thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
    task_id text not null, task_path text not null default '', idx integer not null,
    channel text not null, type text, value blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
"""
TABLES = CHECKPOINTS + WRITES
_COLUMNS, *_ = CHECKPOINTS.replace(" not null", "").partition(",\n    primary key")
UNKEYED = f"{_COLUMNS});{WRITES}"
"""The first table without its key, so that ids can be there twice, or be no text."""

MODULE = "langchain_core.messages."

packed = msgspec.msgpack.encode


def ext(code: int, *parts: Any) -> msgspec.msgpack.Ext:
    """Give an extension whose payload is a list of these parts."""
    return msgspec.msgpack.Ext(code, packed(list(parts)))


def message(kind: str, content: Any, **more: Any) -> msgspec.msgpack.Ext:
    """Give a message: human, ai, system or tool."""
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    name = names.get(kind, "SystemMessage")
    fields = {"content": content, "type": kind, "additional_kwargs": {}, "response_metadata": {}}
    return ext(5, MODULE + kind, name, fields | more, "model_validate_json")


def identity(step: int, moment: int = 0) -> str:
    """Give the id of a checkpoint: a UUID of version 6, which sorts by the time of its making."""
    ticks = 0x1F0_0000_0000_0000 + 10_000 * step + moment
    return (
        f"{ticks >> 28:08x}-{ticks >> 12 & 0xFFFF:04x}-6{ticks & 0xFFF:03x}-"
        f"{0x8000 | step & 0x3FFF:04x}-{step & (1 << 48) - 1:012x}"
    )


def version(count: int) -> str:
    """Give the version of a channel that has changed so many times."""
    return f"{count:032}.0.{count:016}"


def checkpoint(own: str, values: Mapping[str, Any], step: int, **more: Any) -> dict[str, Any]:
    """Give what a checkpoint holds, after which the node `agent` is next."""
    channels = {**values, "branch:to:agent": None}
    return {
        "v": 4,
        "id": own,
        "ts": "2026-01-01T00:00:00.000000+00:00",
        "channel_values": channels,
        "channel_versions": {name: version(step + 2) for name in channels},
        "versions_seen": {"__input__": {}, "agent": {"branch:to:agent": version(step + 1)}},
        "updated_channels": sorted(channels),
    } | more


def metadata(step: int, **more: Any) -> bytes:
    """Give what is said of a checkpoint."""
    source = "input" if step < 0 else "loop"
    return json.dumps({"source": source, "step": step, "parents": {}} | more).encode()


Row = tuple[Any, ...]


def row(
    values: Mapping[str, Any], step: int = 0, *, thread: Any = "t", parent: Any = None, **more: Any
) -> Row:
    """Give a sound row of a checkpoint with these values; `more` goes into what it holds."""
    own = identity(step)
    body = packed(checkpoint(own, values, step, **more))
    return (thread, "", own, parent, "msgpack", body, metadata(step))


def write(step: int, channel: Any, kind: Any, value: Any, *, idx: Any = 0) -> Row:
    """Give what a task of the step after a checkpoint wrote into a channel."""
    task, path = "00000000-0000-4000-8000-00000000000a", "~__pregel_pull, agent"
    return ("t", "", identity(step), task, path, idx, channel, kind, value)


def stored(
    path: Path, checkpoints: Iterable[Row] = (), writes: Iterable[Row] = (), tables: str = TABLES
) -> Path:
    """Write a database with these rows."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(tables)
        database.executemany("insert into checkpoints values (?, ?, ?, ?, ?, ?, ?)", checkpoints)
        database.executemany("insert into writes values (?, ?, ?, ?, ?, ?, ?, ?, ?)", writes)
        database.commit()
    return path
