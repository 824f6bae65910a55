"""Snapshots: states that an agent wrote whole, one after the other.

A file holds one JSON state, a list of them, or one on each line; a folder holds one in each JSON
file. Nothing says what changed from one to the next: that is worked out from the states.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.replay import Replay
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.formats.snapshots.file import SnapshotFile
from tt_debugger.formats.snapshots.folder import SnapshotFolder
from tt_debugger.formats.snapshots.reading import FORMAT
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan


class Snapshots(Delegating):
    """The states at a location, which is a file or a folder."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "states that an agent saved (JSON, JSONL, folders of JSON files)"
    verified: ClassVar[str] = "no agent to compare with: a state is what its file says"
    keeps_calls_whole: ClassVar[bool] = False
    store: SnapshotFolder | SnapshotFile

    @classmethod
    def chosen(cls, location: str) -> SnapshotFolder | SnapshotFile:
        """Open the folder, or the file."""
        return (SnapshotFolder if _is_folder(location) else SnapshotFile)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell states by their keys."""
        return (SnapshotFile if probe.inside is None else SnapshotFolder).sniff(probe)

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says. Raises UnsupportedError."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: the states up to its point. Raises UnsupportedError."""
        from tt_debugger.formats.snapshots.fork import Form, draft

        form, lead = "one", None
        if isinstance(self.store, SnapshotFile):
            form, lead = self.store.form()
        return draft(self.store, Form(form), lead, replay, plan)


def _is_folder(location: str) -> bool:
    try:
        return Path(location).is_dir()
    except (OSError, ValueError):
        return False


STORE = Snapshots
