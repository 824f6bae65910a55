"""States: what tells a JSON object to be the state of an agent, and what it says of itself.

Two shapes are well known: a checkpoint with the steps done and to do, and a state with the version
of its schema. People's own states are told by the names that such things have everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.model import Head, Kind
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.store import Match

SESSIONS = ("session_id", "sessionId", "thread_id", "threadId")
_OWN_IDS = ("checkpoint_id", "checkpointId", "snapshot_id", "snapshotId", "state_id", "stateId")
_PARENTS = ("parent_checkpoint_id", "parentCheckpointId", "parent_id", "parentId", "parent")
_VERSIONS = ("schema_version", "schemaVersion", "state_version", "stateVersion")
_TITLES = ("task", "goal", "title", "objective")
_STEPS = ("current_step", "currentStep", "step", "step_number", "turn", "iteration", "iterations")
_TIMES = (
    *("written_at", "writtenAt", "last_checkpoint", "lastCheckpoint", "updated_at", "updatedAt"),
    *("saved_at", "savedAt", "timestamp", "created_at", "createdAt", "time", "ts"),
)
_WORK = frozenset(("completed_steps", "pending_steps", "completedSteps", "pendingSteps"))
_PROGRESS = _WORK | {"decisions", "artifacts"}
_HANDOFF = frozenset(("next_step", "nextStep", "blockers", "checkpoint_path", "handoff"))
_TELLING = (
    _PROGRESS
    | _HANDOFF
    | frozenset((*_VERSIONS, *_OWN_IDS, "current_step", "currentStep", "written_at", "plan"))
    | frozenset(("last_checkpoint", "lastCheckpoint", "working_memory", "short_term_memory"))
    | frozenset(("long_term_memory", "long_term_refs", "memory", "tool_call_history", "state"))
)
_BESIDE = frozenset(
    (
        *(*SESSIONS, *_TITLES, *_STEPS, *_TIMES, *_PARENTS),
        *("id", "status", "phase", "messages", "agent_id", "user_id", "iterations", "todos"),
        *("tokens_used", "cost_usd", "variables", "context", "available_tools", "errors"),
    )
)
_FAILED = frozenset(("failed", "error", "crashed", "aborted"))
_COUNTED = (
    (("completed_steps", "completedSteps"), "done", "done"),
    (("pending_steps", "pendingSteps"), "to do", "to do"),
    (("messages",), "message", "messages"),
)
_LOOKED_AT = 256 << 10
"""Bytes of a document in which its keys are looked for."""
_MOST_SHOWN = 4
_LONGEST_NAME = 40

_TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*+")([ \t\r\n]*:)?|[\[\]{}]', re.DOTALL)


class Schema(msgspec.Struct, frozen=True):
    """The version that a state says its schema has, as text, and its fields."""

    version: str
    fields: frozenset[str]


class StateSaid(msgspec.Struct, frozen=True):
    """What a state says of itself: all that is kept of it until its body is asked for."""

    head: Head
    session: str | None
    own_id: object
    """Its id as a checkpoint, None where it has none."""
    has_parent_key: bool
    """Whether it says on which one it hangs, be it none."""
    parent: object
    time: float | None
    title: str | None
    schema: Schema | None


def said_of(state: Mapping[str, Any]) -> StateSaid:
    """Give what a state says of itself."""
    return StateSaid(
        head_of(state),
        session_of(state),
        own_id_of(state),
        any(key in state for key in _PARENTS),
        next((state[key] for key in _PARENTS if key in state), None),
        time_of(state),
        title_of(state),
        schema_of(state),
    )


def match_of(keys: Iterable[str]) -> Match | None:
    """Give how surely an object with these keys is a state; None where nothing says so."""
    names = frozenset(keys)
    if len(names & _PROGRESS) > len(_PROGRESS) // 3 and names & _WORK:
        return Match(90, f"a checkpoint of work: {_listed(names & _PROGRESS)}")
    telling, beside = names & _TELLING, names & _BESIDE
    is_versioned = any(key in names for key in _VERSIONS)
    if is_versioned and any(key in names for key in SESSIONS) and len(telling) > 1:
        return Match(90, f"an agent's state with a schema version: {_listed(telling)}")
    if len(telling) > 1 or (telling and len(beside) > 1):
        return Match(70, f"a state, by its keys {_listed([*sorted(telling), *sorted(beside)])}")
    if len(telling | beside) > 1:
        return Match(20, f"perhaps a state, by its keys {_listed(telling | beside)}")
    return None


def keys_of_objects(head: bytes, *, in_list: bool) -> list[list[str]]:
    """Give the keys of the one object at the start of a document, or of those in its list.

    What stands behind the end of the text is not missed: keys are found as far as it goes.
    """
    depth, wanted = 0, 2 if in_list else 1
    found: list[list[str]] = []
    for token in _TOKEN.finditer(head[:_LOOKED_AT]):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth == wanted and token[0] == b"{":
                    found.append([])
            case b"}" | b"]":
                depth -= 1
                if depth == 0:
                    break
            case _ if depth == wanted and token[2] is not None and found:
                found[-1].append(token[1][1:-1].decode(errors="replace"))
            case _:
                pass
    return found


def session_of(state: Mapping[str, Any]) -> str | None:
    """Give the id of the session that a state belongs to, None where it names none."""
    for key in SESSIONS:
        value = state.get(key)
        if (isinstance(value, str) and value) or (
            isinstance(value, int) and not isinstance(value, bool)
        ):
            return str(value)
    return None


def own_id_of(state: Mapping[str, Any]) -> object:
    """Give the id that a state has as a checkpoint, None where it has none."""
    return next((state[key] for key in (*_OWN_IDS, "id") if key in state), None)


def time_of(state: Mapping[str, Any]) -> float | None:
    """Give the seconds since 1970 at which a state says that it was written."""
    times = (time_in({"time": state[key]}) for key in _TIMES if key in state)
    return next((time for time in times if time is not None), None)


def title_of(state: Mapping[str, Any]) -> str | None:
    """Give what the agent was to do."""
    return next((state[key] for key in _TITLES if isinstance(state.get(key), str)), None)


def schema_of(state: Mapping[str, Any]) -> Schema | None:
    """Give the schema of a state, None where it gives no version."""
    for key in _VERSIONS:
        value = state.get(key)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return Schema(summary_line(str(value), _LONGEST_NAME), frozenset(state))
    return None


def drift(before: Schema, after: Schema) -> str | None:
    """Say how one schema differs from the one before, None where both have one version."""
    if before.version == after.version:
        return None
    added, gone = after.fields - before.fields, before.fields - after.fields
    parts = [
        f"{what} {_listed(fields, len(fields))}"
        for what, fields in (("added", added), ("gone", gone))
        if fields
    ]
    what = "; ".join(parts) or "the same fields"
    return f"schema_version {before.version} -> {after.version}: {what}"


def head_of(state: Mapping[str, Any]) -> Head:
    """Give the head of a state: its step, and what tells it from the others."""
    is_handoff = "handoff" in (state.get("type"), state.get("kind")) or bool(
        not _WORK & state.keys() and len(_HANDOFF & state.keys()) > 1
    )
    kind = Kind.HANDOFF if is_handoff else Kind.SNAPSHOT
    status = state.get("status")
    failed = isinstance(status, str) and status.lower() in _FAILED
    return Head(
        kind,
        None,
        "handoff" if is_handoff else "state",
        _summary(state),
        None,
        _step(state),
        failed=failed,
    )


def _step(state: Mapping[str, Any]) -> int | None:
    for key in _STEPS:
        value = state.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62:
            return value
    return None


def _summary(state: Mapping[str, Any]) -> str:
    """Say what changes from state to state: step, status, work done and left, and the task."""
    step = next((state[key] for key in _STEPS if isinstance(state.get(key), (str, int))), None)
    parts = [] if step is None else [f"step {step}"]
    status = next((state[k] for k in ("status", "phase") if isinstance(state.get(k), str)), None)
    parts += [] if status is None else [status]
    for keys, one, many in _COUNTED:
        count = next((len(state[key]) for key in keys if isinstance(state.get(key), list)), 0)
        parts += [f"{count} {one if count == 1 else many}"] * bool(count)
    told = (state.get(key) for key in ("next_step", "nextStep", "summary"))
    parts += [each for each in (*told, title_of(state)) if isinstance(each, str)]
    return summary_line(" · ".join(parts) or ", ".join(state) or "empty")


def _listed(names: Iterable[str], most: int = _MOST_SHOWN) -> str:
    ordered: Sequence[str] = names if isinstance(names, list) else sorted(names)
    shown = [summary_line(name, _LONGEST_NAME) for name in ordered[:most]]
    return ", ".join([*shown, "..."] if len(ordered) > most else shown)
