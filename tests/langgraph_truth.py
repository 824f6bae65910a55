"""What LangGraph itself says of its threads, and how states of ours differ from it.

A truth has by thread the answers of `get_state_history()` as JSON. It was made with the classes of
the program that wrote the thread, which add fields on load that are not stored; what a class adds
is empty there and absent here. That, and what is named below, is no difference.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.store import Store

Truth = Mapping[str, Sequence[Mapping[str, Any]]]


def truth_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def differences(store: Store, truth: Truth, *, only_root: bool = False) -> Iterator[str]:
    """Say in which checkpoints of all threads a store and a truth differ, and in what.

    With `only_root` a truth may tell of graphs inside others as well, which is not looked at.
    """
    for thread, every in truth.items():
        rows = [row for row in every if not only_root or not row["config"].get("checkpoint_ns")]
        session = store.load(thread).session  # pyright: ignore[reportArgumentType]
        if list(session.ids) != sorted(row["config"]["checkpoint_id"] for row in rows):
            yield f"{thread}: not its checkpoints, the oldest first"
        states = store.bodies(session, range(len(session)))
        for theirs in rows:
            row = session.row_of(theirs["config"]["checkpoint_id"])
            if row is not None:
                for what in _differ(states[row], _parent_of(session, row), theirs):
                    yield f"{thread} at step {theirs['metadata']['step']}: {what}"


def count(truth: Truth) -> int:
    return sum(map(len, truth.values()))


def _differ(state: Any, parent: str | None, theirs: Mapping[str, Any]) -> Iterator[str]:
    if parent != (theirs.get("parent_config") or {}).get("checkpoint_id"):
        yield "parent"
    if not _are_values(state["values"], theirs):
        yield "values"
    if sorted(state["next"] or []) != sorted(theirs["next"]):
        yield "next"
    if not _fits(state["metadata"], theirs["metadata"]):
        yield "metadata"
    if not _are_tasks(state["tasks"], theirs["tasks"]):
        yield "tasks"


def _parent_of(session: Session, row: int) -> str | None:
    parent = session.parents[row]
    return None if parent == NO_ROW else session.ids[parent]


def _are_values(mine: Any, theirs: Mapping[str, Any]) -> bool:
    values = theirs["values"]
    if theirs["metadata"]["step"] == -1 and isinstance(mine, dict) and isinstance(values, dict):
        # The empty value that a reducer begins with is not stored.
        values = {name: value for name, value in values.items() if value or name in mine}
    return _fits(mine, values)


def _are_tasks(mine: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether all tasks that have left something behind are told as they were."""
    by_id = {each["id"]: each for each in mine}
    for task in theirs:
        if task["error"] is None and not task["interrupts"] and task["result"] in (None, {}):
            continue
        own = by_id.get(task["id"])
        if own is None or own["name"] not in (task["name"], None):
            return False
        interrupts = [(each["id"], each["value"]) for each in own["interrupts"]]
        if interrupts != [(each["id"], each["value"]) for each in task["interrupts"]]:
            return False
        if not _fits(own["error"], task["error"]):
            return False
        if task["result"] not in (None, {}) and not _fits(own["result"], task["result"]):
            return False
    return True


_EMPTY = (None, False, "", [], {})


def _fits(mine: Any, theirs: Any) -> bool:
    """Tell whether a value of ours is one of theirs, whose classes may add what is empty."""
    if isinstance(theirs, dict) and theirs.get("lc") in (1, 2) and "kwargs" in theirs:
        # What the saver did not make an object of again.
        theirs = theirs["kwargs"]
    if isinstance(mine, dict) and "$value" in mine:
        return _fits(mine["$value"], theirs)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        own = mine.keys() - {"$type"}
        added = theirs.keys() - own
        return (
            own <= theirs.keys()
            and ("$type" in mine or not added)
            and all(theirs[name] in _EMPTY for name in added)
            and all(_fits(mine[name], theirs[name]) for name in own)
        )
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(_fits, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs
