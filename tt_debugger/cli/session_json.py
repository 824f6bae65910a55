"""A session in the form of CONTRACT."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.findings import finding_json
from tt_debugger.core.model import Session, checkpoint_json

VERSION = 1


def session_header(session: Session, location: str) -> dict[str, Any]:
    """Give the object of `log` without its checkpoints."""
    ids = session.ids
    return {
        "ttdbg": VERSION,
        "format": session.format,
        "location": location,
        "session": {
            "id": session.id,
            "title": session.title,
            "cwd": session.cwd,
            "forked_from": session.forked_from,
        },
        "active_leaf": None if session.active is None else ids[session.active],
        "leaves": [ids[row] for row in session.tree.leaves()],
        "labels": {ids[row]: label for row, label in session.labels.items()},
        "findings": [finding_json(each) for each in session.findings],
        "bytes": extent_json(session),
    }


def session_json(session: Session, location: str) -> dict[str, Any]:
    """Give the object of `log`."""
    return session_header(session, location) | {
        "checkpoints": [checkpoint_json(each) for each in session]
    }


def extent_json(session: Session) -> dict[str, int] | None:
    """Give shown, skipped and all bytes; None where the store has none of its own."""
    extent = session.extent
    if extent is None:
        return None
    return {"shown": extent.shown, "skipped": extent.skipped, "size": extent.size}
