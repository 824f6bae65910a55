"""Turns: entries as rows of the tables that SQLite and Postgres have alike.

A row of `agent_turns` is an entry: its JSON in one column, and in others what people ask for by
SQL. The whole state of a snapshot stands in `checkpoints`, so that a look at turns stays cheap.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.recording.entries import (
    EffectNoted,
    Entry,
    Snapshotted,
    decoded,
    encoded,
)

SNAPSHOT = "snapshot"
"""The kind of entries that have a state in the table of states."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "agent_sessions": ("tenant", "session_id", "header", "schema_version", "created_at"),
    "agent_turns": (
        *("turn_id", "tenant", "session_id", "turn_number", "checkpoint_id", "parent_id"),
        *("kind", "tool_name", "input_hash", "output_hash", "payload", "written_at"),
    ),
    "checkpoints": (
        *("tenant", "thread_id", "checkpoint_id", "parent_id", "state_json"),
        *("schema_version", "created_at", "updated_at"),
    ),
}
"""The columns of each table."""


class Turn(msgspec.Struct, frozen=True):
    """An entry as the values of its columns; `state` is None where it is no snapshot.

    `version` is that of the schema of the state. Hashes are SHA-256 as hexadecimal text.
    """

    checkpoint_id: str
    parent_id: str | None
    kind: str
    tool_name: str | None
    input_hash: str | None
    output_hash: str | None
    payload: str
    written_at: str
    state: str | None = None
    version: int | None = None


def turn_of(entry: Entry) -> Turn:
    """Give the row of an entry. Raises what msgspec does where a value in it has no JSON."""
    effect = entry if isinstance(entry, EffectNoted) else None
    made = Turn(
        checkpoint_id=entry.id,
        parent_id=entry.parent,
        kind=str(entry.__struct_config__.tag),
        tool_name=entry.tool,
        input_hash=effect and effect.input_hash,
        output_hash=_hash_of(effect.result) if effect and effect.phase == "done" else None,
        payload="",
        written_at=entry.time,
    )
    if not isinstance(entry, Snapshotted):
        return msgspec.structs.replace(made, payload=encoded(entry).decode())
    return msgspec.structs.replace(
        made,
        payload=encoded(msgspec.structs.replace(entry, state=None)).decode(),
        state=msgspec.json.encode(entry.state).decode(),
        version=entry.version,
    )


def entry_of(payload: str | bytes, state: str | bytes | None) -> Entry:
    """Give the entry of a row, with the state that belongs to it if it is a snapshot.

    Raises msgspec.DecodeError, also for a snapshot that is given no state.
    """
    entry = decoded(payload)
    if not isinstance(entry, Snapshotted):
        return entry
    if state is None:
        raise msgspec.DecodeError("its state is not there")
    return msgspec.structs.replace(entry, state=msgspec.json.decode(state))


def other_columns(there: Mapping[str, Collection[str]]) -> str | None:
    """Say in words which of our tables has other columns than ours; None where none has.

    `there` has the columns of the tables that are there by these names.
    """
    for table, columns in there.items():
        extra = sorted(set(columns) - set(COLUMNS[table]))
        missing = sorted(set(COLUMNS[table]) - set(columns))
        parts = _listed("has", extra) + _listed("lacks", missing)
        if parts:
            return f"its table {table} is another program's: it {' and '.join(parts)}"
    return None


def _listed(what: str, columns: Iterable[str]) -> list[str]:
    names = ", ".join(columns)
    return [f"{what} the columns {names}"] if names else []


def _hash_of(result: Any) -> str:
    """Give the hash of a result: of its JSON with sorted keys and no blanks."""
    value = msgspec.to_builtins(result)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
