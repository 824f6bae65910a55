"""Snapshots: states that an agent wrote whole, one after the other.

A file holds one JSON state, a list of them, or one on each line; a folder holds one in each JSON
file. Nothing says what changed from one to the next: that is worked out from the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.formats.snapshots.file import SnapshotFile
from tt_debugger.formats.snapshots.folder import SnapshotFolder
from tt_debugger.formats.snapshots.reading import FORMAT
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard


class Snapshots:
    """The states at a location, which is a file or a folder."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "states that an agent saved (JSON, JSONL, folders of JSON files)"
    verified: ClassVar[str] = "no agent to compare with: a state is what its file says"

    def __init__(self, location: str) -> None:
        self.location = location
        self._states = (SnapshotFolder if _is_folder(location) else SnapshotFile)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell states by their keys."""
        return (SnapshotFile if probe.inside is None else SnapshotFolder).sniff(probe)

    @classmethod
    def open(cls, location: str) -> Self:
        """Open a file or folder. Raises CannotReadError."""
        return cls(location)

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, the one that was written to last at the end."""
        return self._states.sessions()

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the states of a session. Raises CannotReadError."""
        return self._states.load(session, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read what was added, or all of what was written anew."""
        return self._states.follow(since)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return self._states.rules(session, uncompacted=uncompacted)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode some states; a gap has the body None. Raises CannotReadError."""
        return self._states.bodies(session, rows)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a state as they are stored. Raises CannotReadError."""
        return self._states.raw(session, row)

    def close(self) -> None:
        """Let go of the file."""
        self._states.close()


def _is_folder(location: str) -> bool:
    try:
        return Path(location).is_dir()
    except (OSError, ValueError):
        return False


STORE = Snapshots
