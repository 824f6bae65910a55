"""What a new rollout of Codex is called, and the form of its records."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath
from typing import Any

from tt_debugger.core.fork.minting import stamp

MADE_BY = {"originator": "ttdbg", "cli_version": "0.0.0"}
"""What metadata must say of the program that wrote a thread."""


def record(time: float, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Give a record of a time, in its envelope."""
    return {"timestamp": stamp(time), "type": kind, "payload": payload}


def file_name(time: float, thread: str) -> str:
    """Give the name of the file of a thread, in local time as Codex has it."""
    return f"rollout-{_local(time):%Y-%m-%dT%H-%M-%S}-{thread}.jsonl"


def folder_of(time: float) -> PurePath:
    """Give the folder of a day, in the one of all threads."""
    return PurePath(f"{_local(time):%Y/%m/%d}")


def _local(time: float) -> datetime:
    return datetime.fromtimestamp(time).astimezone()
