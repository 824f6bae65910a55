"""CrewAI's folder of checkpoints: a folder for each branch, and in it a file for each checkpoint.

The name of a file is `<id>_p-<parent>.json`; that of a branch may have folders of its own in it.
The location is the folder of all branches, of one of them, or a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, ClassVar

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body, Rules
from tt_debugger.formats.crewai.checkpoints import (
    MAIN,
    Named,
    checkpoint,
    labelled,
    parents_first,
    time_of,
)
from tt_debugger.formats.shared.transcript import Piece, Transcript
from tt_debugger.formats.shared.transcript_files import (
    FileRead,
    TranscriptFolder,
    no_entry,
    of_file,
)
from tt_debugger.formats.shared.transcript_json import object_in
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.storage.probe import FolderProbe
from tt_debugger.store import Match, Probe

_USUAL = ".checkpoints"
"""What CrewAI calls the folder where nothing else is said."""
_FORKS = "fork"
"""How the names of branches begin that CrewAI itself names."""
_MOST_DEEP = 4
_NAME = re.compile(r"(\d{8}T\d{6}_[0-9a-f]{1,32})_p-(.+)\.json\Z", re.ASCII)
_NO_PARENT = "none"


class CrewaiFiles(TranscriptFolder):
    """The folder of all branches."""

    format: ClassVar[str] = "crewai"
    about: ClassVar[str] = "checkpoints of CrewAI (folders of JSON files)"
    most_deep: ClassVar[int] = _MOST_DEEP

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell the folder of a branch, or a file, by the names; the one above by its folders."""
        if probe.inside is None:
            is_one = _NAME.match(probe.name) is not None
            return Match(95, "a file that is called as a checkpoint of CrewAI") if is_one else None
        if any(_NAME.match(each.name) for each in probe.inside):
            return Match(95, "a folder with checkpoints of CrewAI, by their names")
        folders = set(probe.folders) if isinstance(probe, FolderProbe) else set[str]()
        if MAIN not in folders or probe.inside:
            return None
        if probe.name == _USUAL:
            return Match(80, f"a folder called {_USUAL} with one called {MAIN}")
        if folders == {MAIN, _FORKS}:
            return Match(60, f"a folder with {MAIN} and {_FORKS} alone, as branches are called")
        return None

    @classmethod
    def folder_of(cls, location: str) -> str:
        """Give the folder of all branches: the nearest above in which `main` has a checkpoint."""
        folder = Path(super().folder_of(location))
        for above in (folder, *list(folder.absolute().parents)[:_MOST_DEEP]):
            if _has_checkpoint(above / MAIN):
                return str(above)
        return str(folder)

    def is_part(self, name: str) -> bool:
        """Tell a checkpoint by its name."""
        return _NAME.match(PurePath(name).name) is not None

    def parse(self, name: str, data: bytes) -> dict[str, Any]:
        """Give the object that a file is."""
        return object_in(data)

    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the checkpoints in the order of their ids, which begin with their time."""
        found = [_named(each) for each in files.values()]
        ordered = parents_first(sorted(found, key=lambda each: each.id))
        pieces = [_piece(each, files[each.file]) for each in ordered]
        return Transcript(id=PurePath(self.location).name, pieces=labelled(pieces, ordered))

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each file has a state that is whole."""
        return WholeStates(_held)


def _has_checkpoint(folder: Path) -> bool:
    try:
        return any(_NAME.match(each.name) for each in folder.iterdir())
    except OSError:
        return False


def _named(file: FileRead) -> Named:
    """Give what the name of a file says; its folder is its branch where it does not say it."""
    path = PurePath(file.name)
    match = _NAME.match(path.name)
    name, parent = (match[1], match[2]) if match else (path.stem, _NO_PARENT)
    branch = text_or_none(as_map(file.value).get("branch")) or str(path.parent)
    above = None if parent == _NO_PARENT else parent
    return Named(name, above, branch, time_of(name), file.name)


def _piece(named: Named, file: FileRead) -> Piece:
    if file.why:
        return no_entry(file)
    state = as_map(file.value)
    return of_file(file, checkpoint(named, state, state))


def _held(body: Body) -> dict[str, Any]:
    return as_map(body)
