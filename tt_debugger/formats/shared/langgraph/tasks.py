"""Tasks: what the writes under a checkpoint say of the step that ran from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.formats.shared.langgraph.facts import END, NULL_TASK
from tt_debugger.formats.shared.langgraph.threads import WriteRow
from tt_debugger.storage.tables import Value

ERROR, INTERRUPT, RETURN = "__error__", "__interrupt__", "__return__"
HIDDEN = ("__", "branch:", "start:", "join:")
"""How the names of channels begin that are not the user's."""
_PULL, _PUSH = "~__pregel_pull, ", "~__pregel_push, "
_DIGITS = 10
_TELLING = frozenset((ERROR, INTERRUPT, END, RETURN))

_NOTHING = object()

Decode = Callable[[Value, Value], Any]
Task = tuple[Value, dict[str, Any]]
"""The path of a task, and the task without the name that its path tells."""


def tasks_under(rows: Iterable[WriteRow], decode: Decode) -> dict[Value, list[Task]]:
    """Give the tasks that left something behind, by the ids of their checkpoints.

    The rows are by checkpoint, task and place.
    """
    found: dict[Value, list[Task]] = {}
    tasks: list[Task] = []
    task: dict[str, Any] = {}
    users: dict[Value, bool] = {}
    # An id may be anything, also None.
    under: object = _NOTHING
    last: object = _NOTHING
    for checkpoint, name, path, _, channel, kind, value in rows:
        if checkpoint != under:
            under, last = checkpoint, _NOTHING
            tasks = found.setdefault(checkpoint, [])
        if name != last:
            last = name
            if name != NULL_TASK:
                task = _task_of(str(name))
                tasks.append((path, task))
        if name == NULL_TASK:
            continue
        is_users = users.get(channel)
        if is_users is None:
            is_users = users[channel] = not str(channel).startswith(HIDDEN)
        if is_users:
            _add_result(task, str(channel), decode(kind, value))
        elif channel in _TELLING:
            _tell(task, channel, decode(kind, value))
    return found


def named(
    tasks: list[Task],
    nodes: Sequence[str] | None,
    sends: Sequence[Any],
    own_channels: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Give the tasks of a checkpoint in their order, with their names.

    `nodes` run next, `sends` are the packets for them, and `own_channels` has the nodes that may
    have a channel of their own name, as in the first layout.
    """
    if len(tasks) > 1:
        tasks = sorted(tasks, key=_place)
    # Where the paths of tasks are not recorded, and all run the same node, there is no doubt.
    only = nodes[0] if nodes and (len(nodes) == 1 or len(set(nodes)) == 1) else None
    for path, task in tasks:
        if own_channels:
            _take_out_own(task, own_channels)
        task["name"] = task["name"] or (name_of(path, sends) if path else only)
    return [task for _, task in tasks]


def in_order(rows: list[WriteRow]) -> list[WriteRow]:
    """Give the writes of one checkpoint in the order in which LangGraph applies them."""
    return sorted(rows, key=lambda row: (*_path_first(row[2], row[1]), _number(row[3])))


def name_of(path: Value, sends: Sequence[Any]) -> str | None:
    """Give the node of a task by its path, None where that does not tell it."""
    if not isinstance(path, str):
        return None
    if path.startswith(_PULL):
        return path[len(_PULL) :]
    digits = path[len(_PUSH) :][:_DIGITS]
    if path.startswith(_PUSH) and digits.isdecimal() and int(digits) < len(sends):
        return text_or_none(as_map(sends[int(digits)]).get("node"))
    return None


def _task_of(name: str) -> dict[str, Any]:
    return {"id": name, "name": None, "error": None, "interrupts": [], "result": None}


def _add_result(task: dict[str, Any], channel: str, value: Any) -> None:
    result = task["result"]
    if type(result) is not dict:
        task["result"] = {channel: value}
        return
    own = cast("dict[str, Any]", result)
    if channel not in own:
        own[channel] = value
    else:
        # As LangGraph itself shows several writes of one task to one channel.
        before = as_map(own[channel])
        written = as_list(before.get("$writes")) if len(before) == 1 else []
        own[channel] = {"$writes": [*(written or [own[channel]]), value]}


def _tell(task: dict[str, Any], channel: Value, value: Any) -> None:
    if channel == ERROR:
        task["error"] = value
    elif channel == INTERRUPT:
        task["interrupts"] = as_list(value) or [value]
    else:
        task["result"] = value


def _take_out_own(task: dict[str, Any], own_channels: Mapping[str, Any]) -> None:
    """Take the write of a node to its own channel as its name."""
    result = as_map(task["result"])
    own = [key for key, value in result.items() if value == key and key in own_channels]
    if own:
        task["name"] = own[0]
        task["result"] = {key: each for key, each in result.items() if key not in own} or None


def _place(task: Task) -> tuple[str, str]:
    return _path_first(task[0], task[1]["id"])


def _path_first(path: Value, name: Value) -> tuple[str, str]:
    return str(path or ""), str(name)


def _number(value: Value) -> int:
    return value if type(value) is int else 0
