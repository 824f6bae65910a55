"""What a new checkpoint is in PostgreSQL: a row without its values, and a row for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewRows
    from tt_debugger.formats.shared.langgraph import NewCheckpoint


def writing(location: str, schema: str, new: NewCheckpoint) -> NewRows:
    """Give the rows of a checkpoint; the tables are in a schema, or "" stands before them.

    Values are found by thread, channel and version. In the thread of the original only those that
    were edited are new, as they have a new version; another thread needs all.
    """
    from tt_debugger.core.fork.writes import How, Insert, NewRows

    is_own_thread = new.parent is None
    place = {"thread_id": new.thread, "checkpoint_ns": new.namespace}
    values: dict[str, Any] = {
        **place,
        "checkpoint_id": new.id,
        "parent_checkpoint_id": new.parent,
        "checkpoint": new.kept.body.decode(),
        "metadata": new.kept.metadata.decode(),
    }
    fresh = ("thread_id",) if is_own_thread else (*place, "checkpoint_id")
    how = How.CHANGED if new.edited else How.KEPT
    inserts = [Insert(f"{schema}checkpoints", values, fresh, how, new.row)]
    for channel, (kind, data) in (new.kept.apart or {}).items():
        is_edited = channel in new.edited
        if not is_edited and not is_own_thread:
            continue
        key = {**place, "channel": channel, "version": new.versions[channel]}
        blob = {**key, "type": kind, "blob": None if kind == "empty" else data}
        how = How.CHANGED if is_edited else How.KEPT
        inserts.append(Insert(f"{schema}checkpoint_blobs", blob, tuple(key), how, new.row))
    return NewRows(location, tuple(inserts))
