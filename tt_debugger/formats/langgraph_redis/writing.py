"""What a new checkpoint is in Redis: a document like that of its base, and who is the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewKeys
    from tt_debugger.formats.shared.langgraph import NewCheckpoint

_ROOT = "__empty__"


def writing(location: str, document: bytes, ttl: int | None, new: NewCheckpoint) -> NewKeys:
    """Give the keys of a checkpoint in a thread of its own.

    They end when the document of the base does, which `ttl` tells in milliseconds.
    """
    from tt_debugger.core.fork.writes import How, Key, NewKeys

    before = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    changed: dict[str, Any] = {
        "thread_id": new.thread,
        "checkpoint_id": new.id,
        "parent_checkpoint_id": "",
        "checkpoint_ts": new.time * 1000,
        "checkpoint": _like(before.get("checkpoint"), new.kept.body),
        "metadata": _like(before.get("metadata"), new.kept.metadata),
        "has_writes": False,
        "source": "fork",
        "step": new.step,
    }
    place = f"{new.thread}:{new.namespace or _ROOT}"
    name = f"checkpoint:{place}:{new.id}"
    how = How.CHANGED if new.edited else How.KEPT
    text = msgspec.json.encode({**before, **changed}).decode()
    return NewKeys(
        location,
        (
            Key(name, "json", text, ttl, how, new.row),
            Key(f"checkpoint_latest:{place}", "string", name.encode(), ttl),
        ),
    )


def _like(before: msgspec.Raw | None, data: bytes) -> str | msgspec.Raw:
    """Give JSON as a part of a document, or as a text in it, as it was before."""
    is_text = before is not None and bytes(before)[:1] == b'"'
    return data.decode() if is_text else msgspec.Raw(data)
