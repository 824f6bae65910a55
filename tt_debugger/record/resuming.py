"""Resuming: from the handoff that one session left to the recorder with which the next goes on.

The handoff is in the log, whole, before it is a file: a file that is older than the log's last
handoff is written anew from it, and one that says more than the log does not exist.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import unquote

import msgspec

from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import Entry, HandedOff, Labelled, Recovered
from tt_debugger.core.recording.naming import tenant_and_session
from tt_debugger.core.text import counted
from tt_debugger.errors import CannotReadError
from tt_debugger.record.handing_off import HandoffRead, read
from tt_debugger.storage.publishing import (
    content,
    fill,
    opened,
    opened_folder,
    part_beside,
    sync_folder,
    writing,
)

if TYPE_CHECKING:
    from tt_debugger.record.recorder import Recorder


class SessionNamed(TypedDict, total=False):
    """What says which session of a database is meant."""

    tenant: str
    session: str


class Resumed(msgspec.Struct, frozen=True):
    """What a session goes on with.

    `stale` says, in a sentence each, what has changed since the handoff was written; `state` is
    the state now. `open_effects` were not done, or nobody knows whether they were.
    """

    recorder: Any
    state: Any
    next_step: str | None
    blockers: tuple[str, ...]
    decisions: tuple[str, ...]
    open_effects: tuple[Effect, ...]
    stale: tuple[str, ...]


def handoff_at(path: Path) -> tuple[str, HandoffRead]:
    """Give the text of a handoff, and what it says. Raises CannotReadError, UsageError."""
    try:
        data = content(str(path))
    except OSError as error:
        raise CannotReadError(f"cannot read {path}: {error.strerror or error}") from error
    if data is None:
        raise CannotReadError(f"there is no handoff at {path}")
    text = data.decode(errors="replace")
    return text, read(text)


def log_of(handoff: HandoffRead, path: Path) -> tuple[str, SessionNamed]:
    """Give where the log of a handoff is, as a recorder takes it, and which session it is there.

    It is where the handoff says, or beside the handoff where both were moved. Databases are named
    with the session behind them, as the debugger opens them: `run.db#acme/main:`.
    """
    place, mark, name = handoff.location.rpartition("#")
    is_row = bool(mark) and name.endswith(":") and not place.startswith("git:")
    if not is_row:
        place = handoff.location
    is_file = "://" not in place and not place.startswith("git:")
    beside = path.parent / Path(place).name
    if is_file and not Path(place).exists() and beside.exists():
        place = str(beside)
    if not is_row:
        return place, {"session": handoff.session}
    tenant, session = tenant_and_session(unquote(name[:-1]))
    return f"sqlite:///{place}" if is_file else place, {"tenant": tenant, "session": session}


def write_handoff(path: Path, text: str) -> None:
    """Put a handoff in its place, whole or not at all, to stay. Raises CannotWriteError."""
    with writing(str(path)), opened_folder(str(path)) as folder, part_beside(str(path)) as part:
        with opened(part, 1) as file:
            fill(file, (text.encode(),))
        Path(part).replace(path)
        sync_folder(folder)


def resumed(recorder: Recorder, path: Path, text: str, handoff: HandoffRead) -> Resumed:
    """Give what to go on with: what the handoff says, and what is stale in it."""
    since: list[Entry] = []
    entry: HandedOff | None = None
    newer: HandedOff | None = None
    for each in recorder.entries_from_end():
        if isinstance(each, HandedOff):
            if each.id == handoff.checkpoint:
                entry = each
                break
            newer = newer or (each if Path(each.path).name == path.name else None)
        since.append(each)
    if entry is None:
        stale = [f"the log has no checkpoint {handoff.checkpoint}"]
        told: HandoffRead = handoff
    elif newer is not None:
        # Whoever wrote it was cut off before it was a file.
        write_handoff(path, newer.text)
        told, stale = read(newer.text), []
        since = since[: since.index(newer)]
    else:
        is_edited = sha256(text.encode()).hexdigest() != entry.digest
        stale = ["its text was edited after it was written"] if is_edited else []
        told = handoff
    steps = sum(not isinstance(each, Labelled | Recovered) for each in since)
    if entry is not None and steps:
        stale.append(f"{counted(steps, 'entry', 'entries')} recorded since it was written")
    return Resumed(
        recorder,
        recorder.state,
        told.next_step,
        tuple(told.blockers),
        tuple(told.decisions),
        tuple(each for each in recorder.effects.values() if each.status is not Status.DONE),
        tuple(stale),
    )
